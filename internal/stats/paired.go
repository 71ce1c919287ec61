package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// FewestPairs is from how many pairs on [PairedRatioInterval] is worth its price:
// fewer pairs have so few degrees of freedom that the interval is wider than that
// of samples taken as independent, whatever they have in common.
const FewestPairs = 6

// PairedRatioInterval estimates mean(b)/mean(a) like [RatioInterval], where a[i]
// and b[i] were measured one next to the other and share what the machine did
// then. The variance of the ratio's logarithm is that of the differences of what each
// is of its sample's mean, and t has n−1 degrees of freedom. What pairs have in common
// drops out of the differences. Where RatioInterval takes Fieller's interval (1954), this
// takes it with the covariance.
// Pairs of which one is not finite are left out.
func PairedRatioInterval(a, b []float64) Estimate { return PairedRatioIntervalAt(confidence, a, b) }

// PairedRatioIntervalAt is [PairedRatioInterval] with another confidence than 95%, 0
// to 1, for one of several estimates that are to hold at once.
func PairedRatioIntervalAt(level float64, a, b []float64) Estimate {
	a, b = finitePairs(a, b)
	if len(a) == 0 || stat.Mean(a, nil) == 0 {
		return Estimate{Value: math.NaN()}
	}
	meanA, meanB := stat.Mean(a, nil), stat.Mean(b, nil)
	e := Estimate{Value: meanB / meanA}
	if len(a) < 2 {
		return e
	}
	n := float64(len(a))
	t := quantileT(level, n-1)
	if onLogarithm(a, b) {
		differences := make([]float64, len(a))
		for i := range a {
			differences[i] = b[i]/meanB - a[i]/meanA
		}
		e.CI95 = around(e.Value, t*math.Sqrt(varianceOfMean(differences)))
		return e
	}
	u := t * t / n
	e.CI95 = fiellerPaired(meanA, meanB, u*stat.Variance(a, nil), u*stat.Variance(b, nil), u*stat.Covariance(a, b, nil))
	return e
}

// fiellerPaired solves (b − θa)² ≤ ub − 2θ·uab + θ²·ua for θ; nil where that does
// not bound θ.
func fiellerPaired(a, b, ua, ub, uab float64) *[2]float64 {
	lead := a*a - ua
	if lead <= 0 {
		return nil
	}
	middle := a*b - uab
	root := math.Sqrt(max(0, middle*middle-lead*(b*b-ub)))
	return &[2]float64{(middle - root) / lead, (middle + root) / lead}
}

func finitePairs(a, b []float64) (x, y []float64) {
	for i := range min(len(a), len(b)) {
		if sum := a[i] + b[i]; !math.IsNaN(sum) && !math.IsInf(sum, 0) {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}
