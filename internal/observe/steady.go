package observe

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature/procfs"
)

// steady watches what nobody should change while something is measured: which cores
// there are, and the wall clock.
type steady struct {
	// ahead reads how far the wall clock is ahead of the one that nothing sets. What steers
	// a clock steers both, so that only setting changes it.
	ahead func() time.Duration

	cores      []int // at the start; nil where the machine does not tell
	lost, came []int
	begin      time.Duration
	// set is the furthest that the wall clock was found from where it would be.
	set time.Duration
}

// noticed is the least by which the wall clock must be set to be told: below it a reading
// that was interrupted looks the same.
const noticed = time.Millisecond

func newSteady(root procfs.Root, ahead func() time.Duration) *steady {
	s := &steady{ahead: ahead, begin: ahead()}
	s.cores, _ = online(root)
	return s
}

// online lists the cores that run programs.
func online(root procfs.Root) ([]int, bool) { return root.List("sys/devices/system/cpu/online") }

// look at both once more.
func (s *steady) look(root procfs.Root) {
	if by := s.ahead() - s.begin; by.Abs() >= noticed && by.Abs() > s.set.Abs() {
		s.set = by
	}
	cores, ok := online(root)
	if !ok || s.cores == nil {
		return
	}
	s.lost, s.came = added(s.lost, s.cores, cores), added(s.came, cores, s.cores)
}

// added to a list are those of some that are not among others.
func added(list, some, others []int) []int {
	for _, n := range some {
		if !slices.Contains(others, n) && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// clockSet is by how much the wall clock was set, s; nil if it was not.
func (s *steady) clockSet() *float64 {
	if s.set == 0 {
		return nil
	}
	by := s.set.Seconds()
	return &by
}

// ahead is how far the wall clock is ahead of the monotonic one: the best of a few readings,
// because this program may be interrupted in the middle of one.
func ahead() (by time.Duration) {
	shortest := time.Duration(-1)
	for range 5 {
		before, wall, after := read(unix.CLOCK_MONOTONIC), read(unix.CLOCK_REALTIME), read(unix.CLOCK_MONOTONIC)
		if took := after - before; shortest < 0 || took < shortest {
			shortest, by = took, wall-before-took/2
		}
	}
	return by
}

func read(clock int32) time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(clock, &t) // cannot fail for these clocks
	return time.Duration(t.Nano())
}
