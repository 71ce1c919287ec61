package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// DeltaInterval estimates f of the samples' means with an interval of the given
// confidence (0 to 1), by the delta method: f is taken as linear within the
// means' errors, the samples as independent, each with its own variance, and t
// has Satterthwaite's degrees of freedom. It is exact in the way of Welch's
// interval where f is linear. f must be smooth about the means.
func DeltaInterval(level float64, samples [][]float64, f func(means []float64) float64) Estimate {
	means, bounded := make([]float64, len(samples)), true
	for i, xs := range samples {
		if len(xs) == 0 {
			return Estimate{Value: math.NaN()}
		}
		means[i] = stat.Mean(xs, nil)
		bounded = bounded && len(xs) >= 2
	}
	e := Estimate{Value: f(means)}
	if !bounded || math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return e
	}
	if half := halfWidth(level, deltaParts(samples, means, f)); !math.IsNaN(half) {
		e.CI95 = &[2]float64{e.Value - half, e.Value + half}
	}
	return e
}

// component is one sample's share of the variance of an estimate.
type component struct {
	variance float64
	n        int
}

// deltaParts is what each sample adds to the variance of f.
func deltaParts(samples [][]float64, means []float64, f func([]float64) float64) []component {
	parts := make([]component, len(samples))
	for i, xs := range samples {
		slope := derivative(means, i, f)
		parts[i] = component{slope * slope * varianceOfMean(xs), len(xs)}
	}
	return parts
}

// derivative of f by its i-th argument, by central difference.
func derivative(at []float64, i int, f func([]float64) float64) float64 {
	step := 1e-6 * max(math.Abs(at[i]), 1e-300)
	if at[i] == 0 {
		step = 1e-6
	}
	up, down := append([]float64(nil), at...), append([]float64(nil), at...)
	up[i] += step
	down[i] -= step
	return (f(up) - f(down)) / (up[i] - down[i])
}

// halfWidth of an interval from the parts of its variance; NaN where a part is.
func halfWidth(level float64, parts []component) float64 {
	df := satterthwaite(parts)
	if df == 0 || math.IsNaN(df) {
		return df
	}
	sum := 0.0
	for _, p := range parts {
		sum += p.variance
	}
	return quantileT(level, df) * math.Sqrt(sum)
}

// satterthwaite is the degrees of freedom of a sum of variances (Satterthwaite
// 1946), 0 where nothing varies.
func satterthwaite(parts []component) float64 {
	largest := 0.0
	for _, p := range parts {
		largest = max(largest, p.variance)
	}
	if largest == 0 {
		return 0
	}
	// Scaled by the largest, so that squares of squares of bit rates stay finite.
	sum, below := 0.0, 0.0
	for _, p := range parts {
		v := p.variance / largest
		sum += v
		below += v * v / float64(p.n-1)
	}
	return sum * sum / below
}
