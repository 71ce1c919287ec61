package stats

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// power that [Detectable] asks for.
const power = 0.80

// Detectable is the smallest difference of means, as a share of the mean of xs,
// that two samples of len(xs) would show in 80% of cases at 95% confidence, if
// both scatter as xs do: the δ at which the two-sided t test with 2(n−1) degrees
// of freedom has that power (Cohen, Statistical Power Analysis, 1988, §2.4, with
// the non-central t distribution and no approximation). NaN where fewer than two
// values say nothing of the scatter, or where the mean is zero.
func Detectable(xs []float64) float64 {
	if len(xs) < 2 {
		return math.NaN()
	}
	mean, n := stat.Mean(xs, nil), float64(len(xs))
	if mean == 0 {
		return math.NaN()
	}
	se := math.Sqrt(2 * stat.Variance(xs, nil) / n)
	return noncentrality(2*(n-1)) * se / math.Abs(mean)
}

// noncentrality is how many standard errors a difference must be for the power,
// by bisection: power rises with the difference.
func noncentrality(degrees float64) float64 {
	test := newTTest(degrees)
	low, high := 0.0, 2*quantileT(confidence, degrees)+5
	for high-low > 1e-6 {
		middle := (low + high) / 2
		if test.power(middle) < power {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// tTest is a two-sided t test: how many true standard errors a difference must
// be to be found, at places that are spread evenly over how well the standard
// error was estimated, each with its weight.
type tTest struct{ needed, weight [40]float64 }

// newTTest of that many degrees of freedom. The estimated standard error, in units
// of the true one, is the root of χ²/degrees.
func newTTest(degrees float64) (t tTest) {
	quad.Legendre{}.FixedLocations(t.needed[:], t.weight[:], 0, 1)
	critical, chi := quantileT(confidence, degrees), distuv.ChiSquared{K: degrees}
	for i, p := range t.needed {
		t.needed[i] = critical * math.Sqrt(chi.Quantile(p)/degrees)
	}
	return t
}

// power is the probability of finding a difference of delta standard errors,
// P(|Z + delta| > needed): one less the non-central t distribution's (Johnson, Kotz
// and Balakrishnan, Continuous Univariate Distributions 2, 1995, §31.2).
func (t tTest) power(delta float64) (sum float64) {
	for i, s := range t.needed {
		sum += t.weight[i] * (distuv.UnitNormal.Survival(s-delta) + distuv.UnitNormal.CDF(-s-delta))
	}
	return sum
}
