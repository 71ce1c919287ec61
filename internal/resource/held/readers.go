package held

import (
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// vacated is an area of a memory that counts no longer, and the how many'th it was that did.
type vacated struct {
	memory  ebpf.MapID
	area    int
	counted uint32
}

// ending of all programs that ran when an area was left, which is told when they have.
type ending struct {
	turn uint64
	told chan struct{}
}

// mostEndings are known at once, as many as a thousand chains have that are edited by turns. Of areas that were left earlier,
// which may be of memories that are no more, nobody knows when that was.
const mostEndings = 4096

// endings of those that read areas which this process left. They are waited for while nobody needs it yet: the kernel takes
// several milliseconds to tell.
type endings struct {
	sync.Mutex
	of    map[vacated]ending
	turns uint64
	// left are the latest areas, each at the place of its turn.
	left [mostEndings]vacated
	// wait until every program that runs now has ended.
	wait func()
}

var readers = endings{of: map[vacated]ending{}, wait: ReadersEnded}

// end begins to wait for programs that read an area, which is left now.
func (e *endings) end(v vacated) {
	told := make(chan struct{})
	e.Lock()
	e.turns++
	earliest := &e.left[e.turns%mostEndings]
	if e.of[*earliest].turn+mostEndings == e.turns {
		delete(e.of, *earliest)
	}
	*earliest, e.of[v] = v, ending{e.turns, told}
	e.Unlock()
	go func() {
		e.wait()
		close(told)
	}()
}

// await gives one of several areas when every program has ended that read it: that which was left first, of those that
// this process left. Of what others left nobody knows when that was.
func (e *endings) await(among []vacated) vacated {
	e.Lock()
	var first vacated
	var found ending
	for _, v := range among {
		if is, known := e.of[v]; known && (found.told == nil || is.turn < found.turn) {
			first, found = v, is
		}
	}
	delete(e.of, first)
	e.Unlock()
	if found.told == nil {
		e.wait()
		return among[0]
	}
	<-found.told
	return first
}

// ReadersEnded returns when every program that runs now has ended. A kernel that cannot tell is given no time:
// programs run for microseconds, and what they read is replaced more seldom by far.
func ReadersEnded() {
	const everyCore = 1 // MEMBARRIER_CMD_GLOBAL
	_, _, _ = unix.Syscall(unix.SYS_MEMBARRIER, everyCore, 0, 0)
}
