package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// LogDeviation is the standard deviation of the logarithms of values: about the share by
// which one differs from another. Its interval is that of χ², exact for values whose
// logarithms are normal (Hahn and Meeker, Statistical Intervals, 1991, §4.4). NaN, without
// an interval, for fewer than two values and for one that has no logarithm.
func LogDeviation(values []float64) Estimate {
	logs := make([]float64, len(values))
	for i, x := range values {
		if !(x > 0) || math.IsInf(x, 1) {
			return Estimate{Value: math.NaN()}
		}
		logs[i] = math.Log(x)
	}
	if len(logs) < 2 {
		return Estimate{Value: math.NaN()}
	}
	deviation, free := stat.StdDev(logs, nil), float64(len(logs)-1)
	chi := distuv.ChiSquared{K: free}
	end := func(p float64) float64 { return deviation * math.Sqrt(free/chi.Quantile(p)) }
	return Estimate{Value: deviation, CI95: &[2]float64{end((1 + confidence) / 2), end((1 - confidence) / 2)}}
}
