package report

import (
	"math"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// ratioOf estimates how a metric under one condition stands to the same under
// another, as b divided by a.
func ratioOf(ra Report, a int, rb Report, b int, metric string) stats.Estimate {
	return ratioAt(.95, ra, a, rb, b, metric)
}

// ratioAt is ratioOf at another confidence. That of a quotient of medians does not
// follow it (see medianRatio).
func ratioAt(level float64, ra Report, a int, rb Report, b int, metric string) stats.Estimate {
	if trial.NeverAveraged(metric) {
		return medianRatio(ra.Conditions[a].Metrics[metric], rb.Conditions[b].Metrics[metric])
	}
	e := stats.RatioIntervalAt(level, ra.Run.Independent(a, metric), rb.Run.Independent(b, metric))
	return divided(e, ra.Conditions[a].Metrics[metric])
}

// besides is how a metric under condition b stands to the same under a of one run,
// whose trials were interleaved: pair by pair where there are enough pairs.
func (r Report) besides(a, b int, metric string) stats.Estimate {
	xs, ys := r.Run.Pairs(a, b, metric)
	if trial.NeverAveraged(metric) || len(xs) < stats.FewestPairs {
		return ratioOf(r, a, r, b, metric)
	}
	return divided(stats.PairedRatioInterval(xs, ys), r.Conditions[a].Metrics[metric])
}

// divided takes the interval of a quotient away where the divisor may be zero,
// however little the dividend varies.
func divided(e stats.Estimate, divisor stats.Summary) stats.Estimate {
	if !awayFromZero(divisor) {
		e.CI95 = nil
	}
	return e
}

// medianRatio divides two medians. Its interval runs between the quotients of
// the far ends of theirs and assumes nothing of the distributions. What is sure
// is 90% (both intervals cover); what is reached is above 95%, since the two
// must err in opposite directions at once (a test simulates it). There is none
// where either median is not bounded with 95%, or a's not away from zero.
func medianRatio(a, b stats.Summary) stats.Estimate {
	if a.N == 0 || b.N == 0 || a.Median == 0 {
		return stats.Estimate{Value: math.NaN()}
	}
	e := stats.Estimate{Value: b.Median / a.Median}
	if bounded(a) && bounded(b) && awayFromZero(a) {
		e.CI95 = &[2]float64{b.CI95[0] / a.CI95[1], b.CI95[1] / a.CI95[0]}
	}
	return e
}

// awayFromZero tells a summary that may be divided by.
func awayFromZero(s stats.Summary) bool { return s.CI95 != nil && s.CI95[0] > 0 }

func bounded(s stats.Summary) bool { return s.CI95 != nil && s.Confidence == 0 }
