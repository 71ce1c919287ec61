package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// NoiseFloor is the smallest difference, as a share of the mean, that so many repeats of two
// conditions can show here: half the width that a 95% interval of their ratio would have if
// both were the same, on average over experiments. xs are repeats of one condition in the
// order in which they were measured; each two neighbours stand for two conditions that were
// measured next to each other.
//
// From [FewestPairs] repeats on, where comparisons are by pairs, it is Student's t with
// repeats−1 degrees of freedom times the standard error of so many differences of
// neighbours; with fewer, of two means that are taken as independent. NaN where fewer than
// two pairs say nothing of the scatter, or where fewer than two repeats have no interval.
func NoiseFloor(xs []float64, repeats int) float64 {
	mean, n := stat.Mean(xs, nil), float64(repeats)
	if len(xs) < 4 || repeats < 2 || mean <= 0 {
		return math.NaN()
	}
	if repeats < FewestPairs {
		return quantileT(confidence, 2*(n-1)) * math.Sqrt(2*stat.Variance(xs, nil)/n) / mean
	}
	var differences []float64
	for i := 0; i+1 < len(xs); i += 2 {
		differences = append(differences, xs[i+1]-xs[i])
	}
	return quantileT(confidence, n-1) * stat.StdDev(differences, nil) / math.Sqrt(n) / mean
}
