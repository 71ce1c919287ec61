package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// BlockDeltaInterval is [DeltaInterval] where the samples were measured in blocks:
// samples[i][k] is of sample i in block k, and what a block did to all of them drops
// out as far as f lets it. Each block gives one value of f's linear part, and t has
// one degree of freedom less than there are blocks. All samples are equally long.
func BlockDeltaInterval(level float64, samples [][]float64, f func(means []float64) float64) Estimate {
	e := DeltaInterval(level, samples, f)
	if e.CI95 == nil {
		return e
	}
	means := make([]float64, len(samples))
	for i, xs := range samples {
		means[i] = stat.Mean(xs, nil)
	}
	parts := make([]float64, len(samples[0]))
	for i, xs := range samples {
		slope := derivative(means, i, f)
		for k := range parts {
			parts[k] += slope * (xs[k] - means[i])
		}
	}
	half := quantileT(level, float64(len(parts)-1)) * math.Sqrt(varianceOfMean(parts))
	e.CI95 = &[2]float64{e.Value - half, e.Value + half}
	return e
}

// AboveZero tells whether the mean of a sample is surely above zero: its whole 95%
// interval is.
func AboveZero(xs []float64) bool {
	s := Summarize(xs)
	return s.CI95 != nil && s.CI95[0] > 0
}

// Slope is the least squares slope of ys over xs, in the unit of ys by that of xs;
// NaN where the xs are all alike. The lists are equally long.
func Slope(xs, ys []float64) float64 {
	_, slope := stat.LinearRegression(xs, ys, nil, false)
	return slope
}
