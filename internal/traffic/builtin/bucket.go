package builtin

import (
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/trial"
)

// The buckets of the histograms in the kernel, as bpf/include/bucket.h has them: 64 to
// each power of two, so that none is wider than 1.6% of the values in it.
const (
	bucketBits = 6
	bucketTop  = 42
	buckets    = (bucketTop - bucketBits + 1) << bucketBits
)

// bucket that a value falls into; those from 2^42 (73 minutes, in nanoseconds) fall
// into the last.
func bucket(v uint64) int {
	if v < 1<<bucketBits {
		return int(v)
	}
	if v>>bucketTop > 0 {
		return buckets - 1
	}
	top := bits.Len64(v) - 1
	return (top-bucketBits+1)<<bucketBits + int(v>>(top-bucketBits))&(1<<bucketBits-1)
}

// bounds of a bucket: its smallest value, and the smallest above it.
func bounds(b int) (low, above uint64) {
	if b < 1<<bucketBits {
		return uint64(b), uint64(b) + 1
	}
	shift := b>>bucketBits - 1
	low = uint64(1<<bucketBits+b&(1<<bucketBits-1)) << shift
	return low, low + 1<<shift
}

// histogram of the values in kernel buckets, each taken to lie in its bucket's middle,
// so that none is off by more than 0.8%; but none outside what was seen.
func histogram(counts []uint64, lowest, highest uint64) *hdrhistogram.Histogram {
	h := trial.NewHistogram()
	for b, n := range counts {
		if n == 0 {
			continue
		}
		low, above := bounds(b)
		middle := min(max((low+above-1)/2, lowest), highest)
		v := min(max(int64(middle), 1), h.HighestTrackableValue())
		_ = h.RecordValues(v, int64(n)) // within what it tracks
	}
	return h
}

// nth is the counted value that so many others come before, as the middle of its
// bucket; 0 where there are not as many.
func nth(counts []uint64, n uint64) uint64 {
	var seen uint64
	for b, count := range counts {
		if seen += count; seen > n {
			low, above := bounds(b)
			return (low + above - 1) / 2
		}
	}
	return 0
}
