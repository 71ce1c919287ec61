package builtin

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// first among threads: what waits for the source's core waits until it has sent.
const first = -20

// turn is what a source had of its core.
type turn struct {
	// busy is the CPU time that sending took, with all that the kernel did with the
	// packets meanwhile on the same thread.
	busy time.Duration
	// moved tells that the core was taken away meanwhile.
	moved bool
}

// onCore sends on this thread, bound to a core, before all others there where that is
// allowed.
func onCore(core int, send func() error) (t turn, err error) {
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return t, fmt.Errorf("read the cores of the packet source: %w", err)
	}
	only.Set(core)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return t, fmt.Errorf("bind the packet source to core %d: %w; name others with the affinity", core, err)
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	hurried := err == nil && unix.Setpriority(unix.PRIO_PROCESS, 0, first) == nil
	began := cpuTime()
	err = send()
	t = turn{busy: cpuTime() - began, moved: !boundTo(only)}
	_ = unix.SchedSetaffinity(0, &before)
	if hurried {
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-nice) // the call itself gives 20 - nice
	}
	return t, err
}

// boundTo tells whether this thread is still bound to these cores. The kernel binds it to
// others when they go offline or out of its control group.
func boundTo(cores unix.CPUSet) bool {
	var now unix.CPUSet
	return unix.SchedGetaffinity(0, &now) == nil && now == cores
}

// cpuTime that this thread has taken.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
