package trial

import (
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The buckets in which programs count durations themselves, as bpf/include/bucket.h has
// them: 64 to each power of two, so that none is wider than 1.6% of the values in it,
// and values below 64 have buckets of their own.
const (
	bucketBits = 6
	bucketTop  = 42
	// Buckets are how many there are.
	Buckets = (bucketTop - bucketBits + 1) << bucketBits
)

// Bucket that a value falls into; those from 2^42 (73 minutes, in nanoseconds) fall
// into the last.
func Bucket(v uint64) int {
	if v < 1<<bucketBits {
		return int(v)
	}
	if v>>bucketTop > 0 {
		return Buckets - 1
	}
	top := bits.Len64(v) - 1
	return (top-bucketBits+1)<<bucketBits + int(v>>(top-bucketBits))&(1<<bucketBits-1)
}

// BucketBounds are a bucket's smallest value, and the smallest above it.
func BucketBounds(b int) (low, above uint64) {
	if b < 1<<bucketBits {
		return uint64(b), uint64(b) + 1
	}
	shift := b>>bucketBits - 1
	low = uint64(1<<bucketBits+b&(1<<bucketBits-1)) << shift
	return low, low + 1<<shift
}

// BucketMiddle stands for the values in a bucket, none of which it is off by more than 0.8%.
func BucketMiddle(b int) uint64 {
	low, above := BucketBounds(b)
	return (low + above - 1) / 2
}

// BucketHistogram has the values counted by buckets, each taken to lie in its bucket's
// middle, but none outside what was seen.
func BucketHistogram(counts []uint64, lowest, highest uint64) *hdrhistogram.Histogram {
	h := NewHistogram()
	for b, n := range counts {
		if n == 0 {
			continue
		}
		middle := min(max(BucketMiddle(b), lowest), highest)
		v := min(max(int64(middle), 1), h.HighestTrackableValue())
		_ = h.RecordValues(v, int64(n)) // within what it tracks
	}
	return h
}
