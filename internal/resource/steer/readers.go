package steer

import (
	"sync"

	"golang.org/x/sys/unix"
)

// endings are, by the namespace of ports, since which rules count there every program that read earlier ones has ended,
// or soon will have. They are waited for while nobody needs it yet: the kernel takes several milliseconds to tell.
var endings = struct {
	sync.Mutex
	of map[string]ending
}{of: map[string]ending{}}

// ending of all programs that ran when rules of a generation began to count.
type ending struct {
	generation uint32
	told       chan struct{}
}

// readersEnd begins to wait for programs that read rules before those of a generation, which count from now on.
func readersEnd(namespace string, generation uint32) {
	e := ending{generation, make(chan struct{})}
	endings.Lock()
	endings.of[namespace] = e
	endings.Unlock()
	go func() {
		readersEnded()
		close(e.told)
	}()
}

// awaitReaders returns when every program has ended that read rules before those of a generation, which count now.
func awaitReaders(namespace string, generation uint32) {
	endings.Lock()
	e, begun := endings.of[namespace]
	endings.Unlock()
	if !begun || e.generation != generation {
		readersEnded()
		return
	}
	<-e.told
}

// readersEnded returns when every program that runs now has ended. A kernel that cannot tell is given no time:
// programs run for microseconds, and rules are replaced more seldom by far.
func readersEnded() {
	const everyCore = 1 // MEMBARRIER_CMD_GLOBAL
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, everyCore, 0, 0)
}
