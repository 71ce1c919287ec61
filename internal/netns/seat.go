package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/words"
)

// Seat is where a process does its work; the zero Seat is anywhere.
type Seat struct {
	// Cores it may run on; none is all.
	Cores []int
	// Memory has the nodes that its memory is of; none is any.
	Memory []int
}

// StartAt starts the command inside the namespace, in its seat from its first instruction
// on: it inherits that of the thread that starts it.
func StartAt(ref string, cmd *exec.Cmd, seat Seat) error {
	return Do(ref, func() error { return seat.on(cmd.Start) })
}

// on a thread that has the seat meanwhile.
func (s Seat) on(start func() error) error {
	if len(s.Cores)+len(s.Memory) == 0 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("read the cores of this thread: %w", err)
	}
	err := s.take()
	if err == nil {
		err = start()
	}
	return errors.Join(err, setMemory(nil), unix.SchedSetaffinity(0, &before))
}

func (s Seat) take() error {
	if len(s.Cores) > 0 {
		var only unix.CPUSet
		for _, core := range s.Cores {
			only.Set(core)
		}
		if err := unix.SchedSetaffinity(0, &only); err != nil {
			return fmt.Errorf("bind to cores %v: %w", s.Cores, err)
		}
	}
	if err := setMemory(s.Memory); err != nil {
		return fmt.Errorf("take memory of nodes %v alone: %w", s.Memory, err)
	}
	return nil
}

// Check reads back that a process that was just started has the seat. One that has ended
// already is not asked.
func (s Seat) Check(pid int) error {
	if len(s.Memory) == 0 {
		return nil
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/numa_maps", pid))
	first, _, _ := strings.Cut(string(maps), "\n")
	told := strings.Fields(first)
	if err != nil || len(told) < 2 {
		return nil
	}
	if want := "bind:" + words.Ranges(s.Memory); told[1] != want {
		return fmt.Errorf("process %d has memory policy %s, and %s was asked for", pid, told[1], want)
	}
	return nil
}

// The policies of linux/mempolicy.h, and how many nodes a mask of them has.
const (
	policyDefault = 0 // MPOL_DEFAULT
	policyBind    = 2 // MPOL_BIND
	mostNodes     = 1024
)

// setMemory of this thread, and of what it starts, to these nodes alone; none is any
// (set_mempolicy(2)). A kernel without memory nodes has no such call, and nothing to undo.
func setMemory(nodes []int) error {
	var mask [mostNodes / 64]uint64
	policy, address, bits := uintptr(policyDefault), unsafe.Pointer(nil), uintptr(0)
	for _, n := range nodes {
		if n < 0 || n >= mostNodes-1 {
			return fmt.Errorf("there is no memory node %d", n)
		}
		mask[n/64] |= 1 << (n % 64)
		policy, address, bits = policyBind, unsafe.Pointer(&mask), mostNodes
	}
	_, _, errno := unix.Syscall(unix.SYS_SET_MEMPOLICY, policy, uintptr(address), bits)
	if errno == 0 || errno == unix.ENOSYS && len(nodes) == 0 {
		return nil
	}
	return errno
}
