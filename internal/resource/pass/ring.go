package pass

import (
	"encoding/binary"
	"math"
	"net/netip"
)

// ringSize is how finely connections are shared out by their hash: of a thousand targets, each has about
// sixteen places.
const ringSize = 1 << 14

// ring is the order in which a rule's targets are taken, by their number.
func (r Translation) ring() []uint32 {
	switch {
	case len(r.Targets) == 1:
		return []uint32{0}
	case r.ByHash:
		return r.places()
	}
	return r.turns()
}

// turns take each target as often as it weighs, and what weighs more not all at once: the next is the one
// that is furthest behind its share.
func (r Translation) turns() []uint32 {
	divisor, total := uint64(0), uint64(0)
	for _, t := range r.Targets {
		divisor = common(divisor, t.weight())
	}
	for _, t := range r.Targets {
		total += t.weight() / divisor
	}
	if total > ringSize {
		return make([]uint32, ringSize+1) // too many, whichever they are
	}
	behind, order := make([]int64, len(r.Targets)), make([]uint32, total)
	for i := range order {
		next := 0
		for k, t := range r.Targets {
			behind[k] += int64(t.weight() / divisor)
			if behind[k] > behind[next] {
				next = k
			}
		}
		behind[next] -= int64(total)
		order[i] = uint32(next)
	}
	return order
}

// places go to the target that draws the highest number there, each by itself: rendezvous hashing, weighted
// (Schindelhauer and Schomaker, Weighted Distributed Hash Tables, 2005, section 4).
func (r Translation) places() []uint32 {
	order, seeds := make([]uint32, ringSize), make([]uint64, len(r.Targets))
	for k, t := range r.Targets {
		seeds[k] = seed(t.Address)
	}
	for i := range order {
		best := math.Inf(-1)
		for k, t := range r.Targets {
			drawn := (float64(scatter(seeds[k]+uint64(i))>>11) + 0.5) / (1 << 53)
			if score := -float64(t.weight()) / math.Log(drawn); score > best {
				best, order[i] = score, uint32(k)
			}
		}
	}
	return order
}

// seed of a target's draws: its address alone, so that others may come and go.
func seed(a netip.Addr) uint64 {
	b := a.As16()
	return scatter(scatter(binary.BigEndian.Uint64(b[:8])) ^ binary.BigEndian.Uint64(b[8:]))
}

// scatter is SplitMix64's output function on one step of its state, as the program has it.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (t Target) weight() uint64 { return uint64(max(1, t.Weight)) }

// common is the greatest common divisor.
func common(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
