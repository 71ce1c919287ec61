package stats

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Bootstrap is the [Summary.Method] of a studentized bootstrap interval of the mean.
const Bootstrap = "bootstrap-t"

// bootstrapDraws are enough that the 2.5th percentile of the draws is known to
// about half a percent of coverage, and cost a millisecond.
const bootstrapDraws = 4000

// bootstrapSeed is the same for every sample, so that the same trials always have
// the same interval.
const bootstrapSeed = 0x6e66636861696e

// bootstrapT is the studentized bootstrap interval of the mean (Efron and
// Tibshirani, An Introduction to the Bootstrap, 1993, §12.5; Hall 1988): the
// sample is drawn from with replacement, each draw gives t* = (mean* − mean)/se*,
// and the percentiles of t* take the place of Student's. xs are finite and not
// all alike.
//
// It, and not BCa, which is better known: of ten repeats from a normal
// distribution BCa's 95% interval held the mean in 90% of simulated cases, this
// one in 95%; of ten from an exponential one 87% against 94% (4,000 draws of each;
// TestBootstrapCovers keeps to it).
func bootstrapT(level float64, xs []float64) [2]float64 {
	mean, se := stat.Mean(xs, nil), math.Sqrt(varianceOfMean(xs))
	ts := studentized(xs, mean)
	tail := (1 - level) / 2
	return [2]float64{mean - stat.Quantile(1-tail, stat.Empirical, ts, nil)*se, mean - stat.Quantile(tail, stat.Empirical, ts, nil)*se}
}

// studentized are the t* of the draws, ascending. A draw of one value alone has
// no spread to divide by, and is drawn again: it would say nothing of t.
func studentized(xs []float64, mean float64) []float64 {
	source := rand.NewPCG(bootstrapSeed, uint64(len(xs)))
	ts, draw := make([]float64, bootstrapDraws), make([]float64, len(xs))
	for i := range ts {
		se := 0.0
		for se == 0 {
			for j := range draw {
				draw[j] = xs[below(len(xs), source)]
			}
			se = math.Sqrt(varianceOfMean(draw))
		}
		ts[i] = (stat.Mean(draw, nil) - mean) / se
	}
	slices.Sort(ts)
	return ts
}

// below draws from 0 to n−1. It is written out because the library promises its
// generator's numbers for ever, but not what it makes of them.
func below(n int, source *rand.PCG) int {
	high, _ := bits.Mul64(source.Uint64(), uint64(n))
	return int(high)
}
