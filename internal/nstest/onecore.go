package nstest

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// senders are how many there were on one core each.
var senders atomic.Int64

// OnOneCore is where this goroutine, which sends, runs from now on, alone on its thread: that ends with it. Packets of one that moves may come in another
// order, and what a table of the kernel's forgets is not always what was not seen for longest: each core has up to 128 entries that it
// added aside until it adds more (kernel/bpf/bpf_lru_list.c, LOCAL_FREE_TARGET). It comes before others there, as the built-in generator does
// that another test may send with on the same core for seconds: a flow that is to last would be over meanwhile.
func OnOneCore() {
	runtime.LockOSThread()
	stay := unix.CPUSet{}
	if unix.SchedGetaffinity(0, &stay) == nil {
		stay = oneOf(stay, int(senders.Add(1)))
		_ = unix.SchedSetaffinity(0, &stay)
	}
	const first = -20
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, first)
}

// oneOf the cores by turns.
func oneOf(all unix.CPUSet, turn int) (one unix.CPUSet) {
	for core, nth := 0, turn%all.Count(); one.Count() == 0; core++ {
		if !all.IsSet(core) {
			continue
		}
		if nth == 0 {
			one.Set(core)
		}
		nth--
	}
	return one
}
