package steer

import "math"

// buckets that headers of flows fall into, as bpf/spread/spread.c has it.
const buckets = 1 << 14

// sharesOf new flows: the number of a replica for each bucket. It is the one whose draw for
// the bucket is the least (rendezvous hashing: Thaler and Ravishankar 1998; with weights:
// Schindelhauer and Schomaker 2005), which depends on no other replica. So one that comes
// takes from each of the others as much as it should, one that goes leaves them what was its
// own, and no other bucket changes hands.
func sharesOf(replicas []Replica) (shares [buckets]byte) {
	for bucket := range shares {
		least := math.Inf(1)
		for _, r := range replicas {
			if d := draw(uint64(bucket), uint64(r.Number)) / float64(r.Weight); d < least {
				least, shares[bucket] = d, byte(r.Number)
			}
		}
	}
	return shares
}

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
