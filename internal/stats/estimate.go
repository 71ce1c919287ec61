package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Estimate is a quantity computed from several samples, with its interval.
type Estimate struct {
	// Value is NaN where the samples do not define it.
	Value float64
	// CI95 is the interval, of 95% where no other confidence was asked for. It is
	// absent where a sample has fewer than two values, or where the samples do not
	// bound the quantity.
	CI95 *[2]float64
}

// RatioInterval estimates mean(b)/mean(a), without unit, with a 95% interval by the
// delta method on the ratio's logarithm: its variance is the sum of the squared
// relative errors of both means, each from its own sample, and t has Satterthwaite's
// degrees of freedom. The interval is therefore as many times above the estimate as
// below, never below zero, and that of mean(a)/mean(b) is its reciprocal.
//
// It is of arithmetic means, which claims are about, and not of geometric ones. Beside
// Fieller's interval (1954) it covers as often in simulations, from three repeats on, of
// samples that scatter by up to 30%, and stays bounded where few of them leave Fieller's
// open. Fieller's is taken where a logarithm is no scale for the samples: where one holds
// zeros (a trial that lost everything), or has so much of its mean from one value that it
// would be sure of a difference which that value alone makes. Fieller's says so when
// mean(a) cannot be told from zero: then none is returned.
//
// The samples are taken as independent although trials are run in blocks: what
// the blocks have in common then widens the interval, and never narrows it.
func RatioInterval(a, b []float64) Estimate { return RatioIntervalAt(confidence, a, b) }

// RatioIntervalAt is [RatioInterval] with another confidence than 95%, 0 to 1, for
// one of several estimates that are to hold at once.
func RatioIntervalAt(level float64, a, b []float64) Estimate {
	a, b = finite(a), finite(b)
	if len(a) == 0 || len(b) == 0 || stat.Mean(a, nil) == 0 {
		return Estimate{Value: math.NaN()}
	}
	meanA, meanB := stat.Mean(a, nil), stat.Mean(b, nil)
	e := Estimate{Value: meanB / meanA}
	if len(a) < 2 || len(b) < 2 {
		return e
	}
	if onLogarithm(a, b) {
		e.CI95 = around(e.Value, halfWidth(level, []component{{relative(a), len(a)}, {relative(b), len(b)}}))
		return e
	}
	varA, varB := varianceOfMean(a), varianceOfMean(b)
	parts := []component{{e.Value * e.Value * varA, len(a)}, {varB, len(b)}}
	df := satterthwaite(parts)
	if df <= 0 {
		// At an estimate of 0 from a b that never varies, what is left to doubt is a.
		df = float64(len(a) - 1)
	}
	t := quantileT(level, df)
	e.CI95 = fieller(meanA, meanB, t*t*varA, t*t*varB)
	return e
}

// furthest is the squared relative error of a mean, two standard errors above zero, up to
// which its logarithm is taken. That of one value beside which the others are nothing is 1,
// however many they are.
const furthest = 0.25

// onLogarithm tells whether the logarithms of the samples' means are known well enough for
// the delta method.
func onLogarithm(samples ...[]float64) bool {
	for _, xs := range samples {
		if slices.Min(xs) <= 0 || relative(xs) > furthest {
			return false
		}
	}
	return true
}

// relative is the squared standard error of the mean as a share of it.
func relative(xs []float64) float64 {
	mean := stat.Mean(xs, nil)
	return varianceOfMean(xs) / mean / mean
}

// around is the interval about a ratio whose logarithm is known within half; nil where
// that bounds nothing that can be written down.
func around(ratio, half float64) *[2]float64 {
	if above := ratio * math.Exp(half); !math.IsInf(above, 0) && !math.IsNaN(above) {
		return &[2]float64{ratio * math.Exp(-half), above}
	}
	return nil
}

// fieller solves (b − θa)² ≤ ub + θ²·ua for θ, ua and ub being the squared half
// widths of the intervals of a and b; nil where that does not bound θ.
func fieller(a, b, ua, ub float64) *[2]float64 {
	lead := a*a - ua
	if lead <= 0 {
		return nil
	}
	root := math.Sqrt(max(0, a*a*ub+b*b*ua-ua*ub))
	return &[2]float64{(a*b - root) / lead, (a*b + root) / lead}
}
