package builtin

import (
	"math/bits"
	"math/rand/v2"
)

// schedule is when the packets of a load are due, as bpf/source/source.c has it: for
// sources outside the kernel.
type schedule struct {
	pace
	due, part uint64 // ns, and 2^-32 ns
	left      uint64 // of the burst
	gapNS     uint64
	gapPart   uint32
	random    *rand.Rand
	begin     uint64
	turned    bool
}

// newSchedule begins at a time, ns.
func newSchedule(p pace, begin uint64, seed uint64) *schedule {
	s := &schedule{pace: p, begin: begin, due: begin, left: p.burst, random: rand.New(rand.NewPCG(seed, 0))}
	if p.pps > 0 {
		s.gapNS, s.gapPart = p.gap()
	}
	return s
}

// turn to the second rate when it is time; what was due before, and is not sent by then,
// is given up. It tells whether it did now.
func (s *schedule) turn(now uint64) bool {
	at := s.begin + uint64(s.second.after)
	if s.second.after == 0 || s.turned || s.due < at && now < at+uint64(s.overdue()) {
		return false
	}
	s.turned, s.due, s.part, s.left = true, at, 0, s.burst
	s.gapNS, s.gapPart = s.then().gap()
	return true
}

// advance to the next packet.
func (s *schedule) advance() {
	if s.left > 1 {
		s.left--
		return
	}
	s.left = s.burst
	ns, part := s.gapNS, uint64(s.gapPart)
	if s.pattern == poisson {
		wait := s.random.ExpFloat64() * (float64(s.gapNS) + float64(s.gapPart)/(1<<32))
		ns = uint64(wait)
		part = uint64((wait - float64(ns)) * (1 << 32))
	}
	sum, carry := bits.Add64(s.part<<32, part<<32, 0)
	s.part = sum >> 32
	s.due += ns + carry
}
