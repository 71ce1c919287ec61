package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trend is how a metric went over the order of its trials.
type Trend struct {
	// P is the probability of an order at least as one-sided by chance (Mann and
	// Kendall's test, two-sided).
	P float64 `json:"p_value"`
	// ChangeRatio is the change from the first trial to the last as a share of
	// the median, by Theil and Sen's slope.
	ChangeRatio float64 `json:"change_ratio"`
	// CI95 bounds ChangeRatio; absent where the trials are too few to.
	CI95 *[2]float64 `json:"ci95,omitempty"`
	// Drifting tells that P is below what was asked for.
	Drifting bool `json:"drifting"`
}

// fewForTrend is the least number of trials whose order can be too one-sided for
// chance: of five, 2 of the 120 orders are wholly one-sided.
const fewForTrend = 5

// FindTrend tests values in the order of their trials for a trend, and estimates
// it; nil for fewer than five. It is drifting if P is below alpha; of several
// conditions tested at once each gets its share of the 5% (Bonferroni).
//
// The test is Mann's (1945) and Kendall's (Rank Correlation Methods, 1975, ch. 4):
// exact without ties up to ten values, else normal with the correction for ties
// and for continuity. It assumes independence and no distribution. The slope is
// the median of the slopes between all pairs (Theil 1950), its interval by the
// same S (Sen 1968); trials count as equally far apart.
func FindTrend(xs []float64, alpha float64) *Trend {
	n := len(xs)
	if n < fewForTrend {
		return nil
	}
	slopes, s := pairSlopes(xs)
	t := &Trend{P: kendallP(xs, s)}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	span := float64(n-1) / math.Abs(median(sorted))
	if math.IsInf(span, 0) || math.IsNaN(span) {
		return nil // a share of nothing
	}
	t.ChangeRatio, t.CI95 = median(slopes)*span, senInterval(slopes, xs, span)
	t.Drifting = t.P < alpha
	return t
}

// pairSlopes are the slopes between all pairs, ascending, and S: the number of
// pairs that rise less those that fall.
func pairSlopes(xs []float64) (slopes []float64, s int) {
	for j := range xs {
		for i := range j {
			d := xs[j] - xs[i]
			slopes = append(slopes, d/float64(j-i))
			switch {
			case d > 0:
				s++
			case d < 0:
				s--
			}
		}
	}
	slices.Sort(slopes)
	return slopes, s
}

// kendallP is the two-sided probability of an |S| at least so large.
func kendallP(xs []float64, s int) float64 {
	s = max(s, -s)
	variance, tied := kendallVariance(xs)
	switch {
	case s == 0 || variance == 0:
		return 1
	case !tied && len(xs) <= 10:
		return min(1, 2*kendallTail(len(xs), s))
	}
	return 2 * distuv.UnitNormal.Survival(float64(s-1)/math.Sqrt(variance))
}

// kendallVariance is that of S under no trend (Kendall 1975, §4.9).
func kendallVariance(xs []float64) (variance float64, tied bool) {
	n := float64(len(xs))
	sum := n * (n - 1) * (2*n + 5)
	counts := map[float64]float64{}
	for _, x := range xs {
		counts[x]++
	}
	for _, t := range counts {
		sum -= t * (t - 1) * (2*t + 5)
		tied = tied || t > 1
	}
	return sum / 18, tied
}

// kendallTail is the share of the orders of n values whose S is at least s. The
// orders with k inversions are counted by putting in one value after the other
// (Kendall 1975, §5.2); S = n(n−1)/2 − 2k.
func kendallTail(n, s int) float64 {
	orders := []float64{1}
	for m := 2; m <= n; m++ {
		next := make([]float64, len(orders)+m-1)
		for k, count := range orders {
			for more := range m {
				next[k+more] += count / float64(m)
			}
		}
		orders = next
	}
	tail := 0.0
	for k, share := range orders {
		if n*(n-1)/2-2*k >= s {
			tail += share
		}
	}
	return tail
}

// senInterval bounds the slope, times span, by two of the slopes (Sen 1968, §6);
// nil where the pairs are too few for 95%.
func senInterval(slopes, xs []float64, span float64) *[2]float64 {
	variance, _ := kendallVariance(xs)
	c := distuv.UnitNormal.Quantile((1+confidence)/2) * math.Sqrt(variance)
	low := int(math.Floor((float64(len(slopes)) - c) / 2))
	if low < 1 {
		return nil
	}
	return &[2]float64{slopes[low-1] * span, slopes[len(slopes)-low] * span}
}
