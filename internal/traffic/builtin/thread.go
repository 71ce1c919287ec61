package builtin

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// first among threads: what waits for the source's core waits until it has sent.
const first = -20

// pin this thread to a core, before all others there where that is allowed, and give
// what takes both back.
func pin(core int) (unpin func(), err error) {
	var before, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("read the cores of the packet source: %w", err)
	}
	only.Set(core)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return nil, fmt.Errorf("bind the packet source to core %d: %w", core, err)
	}
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	hurried := err == nil && unix.Setpriority(unix.PRIO_PROCESS, 0, first) == nil
	return func() {
		_ = unix.SchedSetaffinity(0, &before)
		if hurried {
			_ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-nice) // the call itself gives 20 - nice
		}
	}, nil
}

// cpuTime that this thread has taken.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
