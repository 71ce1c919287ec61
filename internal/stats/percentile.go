package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// OrderStatistics is the [Summary.Method] of an interval that bounds the median.
const OrderStatistics = "order-statistics"

// SummarizePercentile summarizes one percentile as each trial gave it (xs) and
// as all trials' samples together gave it (pooled; NaN where there is none), in
// the unit of xs. Values that are not finite are left out and not counted.
//
// There is no mean, since the mean of percentiles is a percentile of nothing.
// The interval bounds the median over trials by two of the trials themselves,
// x(r) and x(n+1−r), and assumes nothing of their distribution: it covers the
// median with probability 1 − 2·P(B < r), B binomial (n, ½) (David and Nagaraja,
// Order Statistics, §7.1). r is the largest that reaches 95%. Fewer than six
// trials cannot: their whole range is given, and Confidence says what it covers.
// Such an interval is marked unsettled however narrow, because no 95% interval
// is known.
func SummarizePercentile(xs []float64, pooled float64) Summary {
	xs = finite(xs)
	s := Summary{N: len(xs), Unsettled: true}
	if !math.IsNaN(pooled) && !math.IsInf(pooled, 0) {
		s.Pooled = &pooled
	}
	if len(xs) > 0 {
		s.Median = median(xs)
	}
	if len(xs) < 2 {
		return s
	}
	rank, covered := medianRank(confidence, len(xs))
	s.CI95, s.Method, s.Reason = &[2]float64{xs[rank-1], xs[len(xs)-rank]}, OrderStatistics, ReasonOrdinals
	if covered < confidence {
		s.Confidence = covered
		return s
	}
	s.Unsettled = wide(*s.CI95, s.Median)
	return s
}

// MedianIntervalAt is the median of values with the interval between two of them that
// [SummarizePercentile] has, but of at least another confidence than 95%, 0 to 1. There
// is none where the values are too few for it.
func MedianIntervalAt(level float64, xs []float64) Estimate {
	xs = finite(xs)
	if len(xs) == 0 {
		return Estimate{Value: math.NaN()}
	}
	e := Estimate{Value: median(xs)}
	if rank, covered := medianRank(level, len(xs)); covered >= level {
		e.CI95 = &[2]float64{xs[rank-1], xs[len(xs)-rank]}
	}
	return e
}

// MedianNeeds is how many values [MedianIntervalAt] needs for an interval.
func MedianNeeds(level float64) int {
	n := 2
	for ; n < 64 && 1-math.Exp2(float64(1-n)) < level; n++ {
	}
	return n
}

// medianRank is the largest rank r, counted from 1, whose interval from x(r) to
// x(n+1−r) covers the median with the confidence, and what it covers; r = 1 if none does.
func medianRank(level float64, n int) (rank int, covered float64) {
	heads := distuv.Binomial{N: float64(n), P: 0.5}
	rank, covered = 1, 1-2*heads.CDF(0)
	for r := 2; 2*r <= n; r++ {
		c := 1 - 2*heads.CDF(float64(r-1))
		if c < level {
			break
		}
		rank, covered = r, c
	}
	return rank, covered
}
