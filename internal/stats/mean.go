package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// StudentT is the [Summary.Method] of Student's interval of the mean.
const StudentT = "student-t"

// settledWidth is the widest interval, as a share of its centre, that still
// counts as settled.
const settledWidth = 0.10

// The [Summary.Reason] of an interval of the mean.
const (
	ReasonAlike    = "the repeats are all alike"
	ReasonFew      = "too few repeats to tell their distribution from a normal one"
	ReasonNormal   = "the repeats may well be normally distributed"
	ReasonSkewed   = "the repeats are not normally distributed, which Student's t assumes"
	ReasonOrdinals = "the mean of such values is no such value of anything; assumes nothing of their distribution"
)

// Summarize gives mean, median and the 95% interval of the mean of repeats, in
// the unit of xs. Values that are not finite are left out and not counted.
//
// The interval is Student's t with n−1 degrees of freedom. Repeats are few and
// their variance is not known, so the normal quantile would be too narrow (1.96
// where three repeats need 4.30); and each trial is itself an average over very
// many packets, so its distribution is close to the normal one that t assumes.
// Where eight repeats or more say that it is not (see [looksNormal]), the interval
// is the studentized bootstrap's (see [bootstrapT]). What choosing by the sample
// does to the coverage is simulated in TestChosenIntervalCovers.
//
// With fewer than two values there is no interval. Such a summary is marked
// unsettled: nothing is known of its spread, and not known is not settled.
func Summarize(xs []float64) Summary {
	xs = finite(xs)
	s := Summary{N: len(xs), Unsettled: true}
	if len(xs) == 0 {
		return s
	}
	mean := stat.Mean(xs, nil)
	s.Mean, s.Median = &mean, median(xs)
	if len(xs) < 2 {
		return s
	}
	s.CI95, s.Method, s.Reason = meanInterval(confidence, xs)
	s.Unsettled = wide(*s.CI95, mean)
	return s
}

// MeanIntervalAt is the mean of repeats with the interval of [Summarize], but of another
// confidence than 95%, 0 to 1, for one of several that are to hold at once.
func MeanIntervalAt(level float64, xs []float64) Estimate {
	xs = finite(xs)
	if len(xs) == 0 {
		return Estimate{Value: math.NaN()}
	}
	e := Estimate{Value: stat.Mean(xs, nil)}
	if len(xs) >= 2 {
		e.CI95, _, _ = meanInterval(level, xs)
	}
	return e
}

// meanInterval is the interval of the mean of two ascending values or more, how it was
// made, and why so.
func meanInterval(level float64, xs []float64) (ci *[2]float64, method, reason string) {
	switch {
	case xs[0] == xs[len(xs)-1]:
		reason = ReasonAlike
	case len(xs) < fewForShape:
		reason = ReasonFew
	case !looksNormal(xs):
		boot := bootstrapT(level, xs)
		return &boot, Bootstrap, ReasonSkewed
	default:
		reason = ReasonNormal
	}
	mean := stat.Mean(xs, nil)
	half := quantileT(level, float64(len(xs)-1)) * math.Sqrt(varianceOfMean(xs))
	return &[2]float64{mean - half, mean + half}, StudentT, reason
}

// confidence of every interval that does not say otherwise.
const confidence = 0.95

// wide tells whether an interval is too wide for its centre. Around a centre of
// zero only an interval of no width is settled: all trials said exactly zero.
func wide(ci [2]float64, centre float64) bool {
	return ci[1]-ci[0] > settledWidth*math.Abs(centre)
}

// quantileT is the half width, in standard errors, of a two-sided t interval.
func quantileT(level, degrees float64) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: degrees}.Quantile((1 + level) / 2)
}

// varianceOfMean is the squared standard error of the mean; it needs two values.
func varianceOfMean(xs []float64) float64 {
	return stat.Variance(xs, nil) / float64(len(xs))
}

// finite copies xs in ascending order without NaN and infinities.
func finite(xs []float64) []float64 {
	out := make([]float64, 0, len(xs))
	for _, x := range xs {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			out = append(out, x)
		}
	}
	slices.Sort(out)
	return out
}

// median of ascending values, of which there is at least one.
func median(sorted []float64) float64 {
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return sorted[mid-1]/2 + sorted[mid]/2
}
