package steer

import (
	"math"
	"slices"
	"sync"
)

// buckets that headers of flows fall into, as bpf/spread/spread.c has it.
const buckets = 1 << 14

// shared is how flows were last shared out: ports that face the same replicas are given the same, several times a change.
var shared struct {
	sync.Mutex
	replicas []Replica
	shares   [buckets]byte
}

// sharesOf new flows over replicas, whatever ports these are behind.
func sharesOf(replicas []Replica) [buckets]byte {
	same := func(a, b Replica) bool { return a.Number == b.Number && a.Weight == b.Weight }
	shared.Lock()
	defer shared.Unlock()
	if len(replicas) == 0 || !slices.EqualFunc(shared.replicas, replicas, same) {
		shared.replicas, shared.shares = slices.Clone(replicas), shareOut(replicas)
	}
	return shared.shares
}

// shareOut new flows: the number of a replica for each bucket. It is the one whose draw for
// the bucket is the least (rendezvous hashing: Thaler and Ravishankar 1998; with weights:
// Schindelhauer and Schomaker 2005), which depends on no other replica. So one that comes
// takes from each of the others as much as it should, one that goes leaves them what was its
// own, and no other bucket changes hands.
func shareOut(replicas []Replica) (shares [buckets]byte) {
	var least [buckets]float64
	some := slices.ContainsFunc(replicas, func(r Replica) bool { return r.Weight > 0 })
	for i, r := range replicas {
		weight := float64(r.Weight) // of 0, nothing that is drawn is ever the least
		if !some {
			weight = 1
		}
		for bucket, drawn := range draws[r.Number]() {
			if d := drawn / weight; i == 0 || d < least[bucket] {
				least[bucket], shares[bucket] = d, byte(r.Number)
			}
		}
	}
	return shares
}

// draws of each replica for all buckets, which are always the same and take longer than all else.
var draws = func() (all [Most + 1]func() *[buckets]float64) {
	for number := range all {
		all[number] = sync.OnceValue(func() *[buckets]float64 {
			drawn := new([buckets]float64)
			for bucket := range drawn {
				drawn[bucket] = draw(uint64(bucket), uint64(number))
			}
			return drawn
		})
	}
	return all
}()

// draw of a replica for a bucket, from an exponential distribution: the least of several,
// each divided by its weight, is one's as often as its weight says. What is drawn is
// SplitMix64's output (Steele, Lea and Flood 2014).
func draw(bucket, number uint64) float64 {
	x := (bucket<<8 | number) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	return -math.Log((float64(x>>11) + 0.5) / (1 << 53))
}
