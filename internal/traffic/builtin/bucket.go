package builtin

import "nfchain.dev/nfchain/internal/trial"

// nth is the counted value that so many others come before, as the middle of its
// bucket; 0 where there are not as many.
func nth(counts []uint64, n uint64) uint64 {
	var seen uint64
	for b, count := range counts {
		if seen += count; seen > n {
			return trial.BucketMiddle(b)
		}
	}
	return 0
}
