package impair

import "time"

// steady tells which of the kernel's times of arrival can be believed: they are of the
// wall clock, which may be set between a packet's coming and its being read.
type steady struct {
	// wall and mono are both clocks as they were last read, ns.
	wall, mono int64
	// since which wall time the clock was not set; 0 is ever.
	since int64
}

// How far the wall clock may go apart from the monotonic one and still not have been
// set: a little, and what it is slewed by.
const (
	apart     = int64(time.Millisecond)
	slewShare = 1000
)

// believes tells whether a stamp was taken by the clock as it goes now.
func (s *steady) believes(stamp, wall, mono int64) bool {
	if s.mono > 0 {
		passed := mono - s.mono
		if by := wall - s.wall - passed; max(by, -by) > apart+passed/slewShare {
			s.since = wall
		}
	}
	s.wall, s.mono = wall, mono
	return stamp >= s.since && stamp <= wall
}
