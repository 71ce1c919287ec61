package stats

import "gonum.org/v1/gonum/stat/distuv"

// ProportionInterval is the 95% interval of a probability that came true hits
// times of n, after Clopper and Pearson (1934): it covers with 95% or more for
// every n. n is at least one.
func ProportionInterval(hits, n int) [2]float64 {
	tail := (1 - confidence) / 2
	ci := [2]float64{0, 1}
	if hits > 0 {
		ci[0] = distuv.Beta{Alpha: float64(hits), Beta: float64(n - hits + 1)}.Quantile(tail)
	}
	if hits < n {
		ci[1] = distuv.Beta{Alpha: float64(hits + 1), Beta: float64(n - hits)}.Quantile(1 - tail)
	}
	return ci
}
