package observe

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// process writes a process as the kernel shows it.
func process(t *testing.T, root procfs.Root, pid int, user, started uint64) {
	t.Helper()
	write(t, root, fmt.Sprintf("proc/%d/stat", pid), fmt.Sprintf(
		"%d (tool) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 1 0 %d 0 0", pid, user, started))
	write(t, root, fmt.Sprintf("proc/%d/status", pid), "VmHWM: 8 kB\nVmRSS: 8 kB\n")
}

func gone(t *testing.T, root procfs.Root, pid int) {
	t.Helper()
	if err := os.RemoveAll(root.Path(fmt.Sprintf("proc/%d", pid))); err != nil {
		t.Fatal(err)
	}
}

func TestLedger(t *testing.T) {
	root := tree(t, map[string]string{"proc/uptime": "100.00 190.00\n"}) // 10000 ticks
	nodes := map[string][]int{"fw": {10, 11, 12, 13}, "client": {14, 15, 16}}
	process(t, root, 10, 500, 50) // stays
	process(t, root, 11, 500, 50) // goes after a look
	process(t, root, 12, 500, 50) // goes before any
	process(t, root, 16, 500, 50) // its id is given to another
	l := newLedger(root)
	l.begin(nodes)

	gone(t, root, 12)
	process(t, root, 11, 600, 50)
	process(t, root, 13, 700, 50)    // older, but new here
	process(t, root, 14, 100, 10100) // began during the trial
	process(t, root, 16, 30, 10100)
	l.see(nodes)
	gone(t, root, 11)
	gone(t, root, 14)
	process(t, root, 10, 800, 50)
	process(t, root, 13, 800, 50)
	process(t, root, 15, 7, 10200)
	l.see(nodes)

	want := map[string]float64{"client/14": 1, "client/15": 0.07, "client/16": 0.3, "fw/10": 3, "fw/11": 1, "fw/13": 1}
	use := l.use()
	for i, u := range use {
		key := fmt.Sprintf("%s/%d", u.Node, u.PID)
		if seconds, ok := want[key]; !ok || u.UserS != seconds || u.Command != "tool" || u.MemoryPeak == nil || *u.MemoryPeak != 8192 {
			t.Errorf("%s: %+v, want %v s", key, u, seconds)
		}
		if i > 0 && (use[i-1].Node > u.Node) {
			t.Errorf("%+v is out of order", u)
		}
	}
	if len(use) != len(want) {
		t.Errorf("got %d processes, want %d: %+v", len(use), len(want), use)
	}
}

// Without an uptime no process is taken for young: only differences are told.
func TestLedgerWithoutUptime(t *testing.T) {
	root := tree(t, nil)
	l := newLedger(root)
	process(t, root, 10, 500, 50)
	l.see(map[string][]int{"fw": {10}})
	if use := l.use(); len(use) != 0 {
		t.Errorf("got %+v", use)
	}
	process(t, root, 10, 600, 50)
	l.see(map[string][]int{"fw": {10}})
	if use := l.use(); len(use) != 1 || use[0].UserS != 1 {
		t.Errorf("got %+v", use)
	}
}

// TestLedgerMemory: of a process that is older than the trial the most counts that it was seen to have, and of one that began during it
// the most that it ever had.
func TestLedgerMemory(t *testing.T) {
	root := tree(t, map[string]string{"proc/uptime": "100.00 190.00\n"})
	nodes := map[string][]int{"fw": {10, 11}}
	process(t, root, 10, 500, 50)
	l := newLedger(root)
	l.begin(nodes)
	process(t, root, 11, 0, 10100)
	for _, kib := range []int{20, 12} {
		for pid := 10; pid <= 11; pid++ {
			write(t, root, fmt.Sprintf("proc/%d/status", pid), fmt.Sprintf("VmHWM: 900 kB\nVmRSS: %d kB\n", kib))
		}
		l.see(nodes)
	}
	write(t, root, "proc/10/status", "Name: tool\n") // it is ending
	l.see(nodes)
	use := l.use()
	if len(use) != 2 || use[0].MemoryPeak == nil || *use[0].MemoryPeak != 20<<10 || use[1].MemoryPeak == nil || *use[1].MemoryPeak != 900<<10 {
		t.Errorf("got %+v", use)
	}
}

// TestLedgerIsExact: what a process of this machine took is told as exactly as the kernel counts it, and not in hundredths of a second.
func TestLedgerIsExact(t *testing.T) {
	used := func() float64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	nodes := map[string][]int{"fw": {os.Getpid()}}
	l := newLedger("")
	outer := used()
	l.begin(nodes)
	inner := used()
	for used() < inner+0.003 {
		continue
	}
	least := used() - inner
	l.see(nodes)
	most := used() - outer
	const rounding = 3e-6 // microseconds are told of either kind of time
	use := l.use()
	if len(use) != 1 || use[0].CPUS == nil || *use[0].CPUS < least-rounding || *use[0].CPUS > most+rounding || use[0].Took() != *use[0].CPUS {
		t.Errorf("%+v, want between %v and %v s", use, least, most)
	}
}
