package impair

import "math/bits"

// Durations are counted in buckets, 64 for each doubling, so that none is off by
// more than 1 in 64, and exactly below 64 ns.
const (
	perDoubling = 64
	// Buckets reach to 2^40 ns, which is 18 minutes; the last holds all beyond.
	Buckets = (40 - 6 + 1) * perDoubling
)

// Bucket of a duration in nanoseconds.
func Bucket(ns int64) int {
	if ns < perDoubling {
		return int(max(ns, 0))
	}
	shift := bits.Len64(uint64(ns)) - 7
	return min((shift+1)*perDoubling+int(ns>>shift)-perDoubling, Buckets-1)
}

// Middle of a bucket, in nanoseconds.
func Middle(bucket int) int64 {
	shift := bucket/perDoubling - 1
	if shift <= 0 {
		return int64(bucket)
	}
	return int64(bucket%perDoubling+perDoubling)<<shift + 1<<(shift-1)
}
