package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// fewForShape is how many values it takes to tell a shape from chance: the
// critical value of [looksNormal] is known from eight on.
const fewForShape = 8

// looksNormal tells whether values may come from a normal distribution, whatever
// its mean and variance: Anderson and Darling's A² with the correction for a
// sample of n, against its critical value of 5% (Stephens, in D'Agostino and
// Stephens, Goodness-of-Fit Techniques, 1986, table 4.7, case 3).
func looksNormal(xs []float64) bool {
	const critical = 0.752
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	mean, deviation := stat.MeanStdDev(sorted, nil)
	n, sum := float64(len(sorted)), 0.0
	for i := range sorted {
		below := distuv.UnitNormal.CDF((sorted[i] - mean) / deviation)
		above := distuv.UnitNormal.Survival((sorted[len(sorted)-1-i] - mean) / deviation)
		sum += float64(2*i+1) * (logOf(below) + logOf(above))
	}
	a := -n - sum/n
	return a*(1+0.75/n+2.25/(n*n)) <= critical
}

// logOf a probability that may have become zero.
func logOf(p float64) float64 { return math.Log(max(p, math.SmallestNonzeroFloat64)) }
