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

// believes tells whether a stamp was taken by the clock as it goes now. The two clocks are read one after
// the other, and who reads them may be put aside between: what looks like a step is read again.
func (s *steady) believes(stamp, wall, mono int64, read func() (wall, mono int64)) bool {
	for range 3 {
		if !s.steps(wall, mono) {
			break
		}
		wall, mono = read()
	}
	if s.steps(wall, mono) {
		s.since = wall
	}
	s.wall, s.mono = wall, mono
	return stamp >= s.since && stamp <= wall
}

// steps tells whether the wall clock went otherwise than the monotonic one since they were last read.
func (s *steady) steps(wall, mono int64) bool {
	passed := mono - s.mono
	by := wall - s.wall - passed
	return s.mono > 0 && max(by, -by) > apart+passed/slewShare
}
