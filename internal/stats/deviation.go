package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// LogDeviation is the standard deviation of the logarithms of values: about the share by
// which one differs from another. Its interval is that of χ², exact for values whose
// logarithms are normal (Hahn and Meeker, Statistical Intervals, 1991, §4.4). NaN, without
// an interval, for fewer than two values and for one that has no logarithm.
func LogDeviation(values []float64) Estimate {
	deviation, free := logDeviation(values)
	if math.IsNaN(deviation) {
		return Estimate{Value: deviation}
	}
	chi := distuv.ChiSquared{K: free}
	end := func(p float64) float64 { return deviation * math.Sqrt(free/chi.Quantile(p)) }
	return Estimate{Value: deviation, CI95: &[2]float64{end((1 + confidence) / 2), end((1 - confidence) / 2)}}
}

// LogDeviationRatio is the [LogDeviation] of b over that of a, of samples that share nothing.
// Its interval is that of F, exact for values whose logarithms are normal (Hahn and Meeker
// 1991, §4.8). NaN, without an interval, where either has none or those of a do not differ.
func LogDeviationRatio(a, b []float64) Estimate {
	deviationA, freeA := logDeviation(a)
	deviationB, freeB := logDeviation(b)
	ratio := deviationB / deviationA
	if math.IsNaN(ratio) || math.IsInf(ratio, 1) {
		return Estimate{Value: math.NaN()}
	}
	f := distuv.F{D1: freeB, D2: freeA}
	end := func(p float64) float64 { return ratio / math.Sqrt(f.Quantile(p)) }
	return Estimate{Value: ratio, CI95: &[2]float64{end((1 + confidence) / 2), end((1 - confidence) / 2)}}
}

// logDeviation of values with its degrees of freedom; NaN where there is none.
func logDeviation(values []float64) (deviation, free float64) {
	logs := make([]float64, len(values))
	for i, x := range values {
		if !(x > 0) || math.IsInf(x, 1) {
			return math.NaN(), 0
		}
		logs[i] = math.Log(x)
	}
	if len(logs) < 2 {
		return math.NaN(), 0
	}
	free = float64(len(logs) - 1)
	if slices.Min(values) == slices.Max(values) {
		return 0, free // and not what the mean of logarithms is rounded by
	}
	return stat.StdDev(logs, nil), free
}
