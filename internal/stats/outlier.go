package stats

import (
	"math"
	"slices"
)

// farOut is from where a modified z-score is an outlier's.
const farOut = 3.5

// Outliers are the places in xs of values far from the rest: 0.6745·|x − median|
// over the median absolute deviation above 3.5 (Iglewicz and Hoaglin, How to
// Detect and Handle Outliers, 1993, §3.3). They are found to be shown, never to be
// dropped: a chain that stalls now and then does stall. Nothing stands out of
// fewer than five values, nor where more than half are alike.
func Outliers(xs []float64) (places []int) {
	if len(xs) < 5 {
		return nil
	}
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	centre := median(sorted)
	deviations := make([]float64, len(xs))
	for i, x := range sorted {
		deviations[i] = math.Abs(x - centre)
	}
	slices.Sort(deviations)
	spread := median(deviations)
	if spread == 0 {
		return nil
	}
	for i, x := range xs {
		if 0.6745*math.Abs(x-centre)/spread > farOut {
			places = append(places, i)
		}
	}
	return places
}
