package report

import (
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// ratioOf estimates how a metric under one condition stands to the same under
// another, as b divided by a.
func ratioOf(ra Report, a int, rb Report, b int, metric string) stats.Estimate {
	return ratioAt(.95, ra, a, rb, b, metric)
}

// ratioAt is ratioOf at another confidence: of means by the delta method, of what
// is never averaged by the ranks of all quotients.
func ratioAt(level float64, ra Report, a int, rb Report, b int, metric string) stats.Estimate {
	xs, ys := ra.Run.Independent(a, metric), rb.Run.Independent(b, metric)
	if trial.NeverAveraged(metric) {
		return stats.MedianRatioAt(level, xs, ys)
	}
	return divided(stats.RatioIntervalAt(level, xs, ys), ra.Conditions[a].Metrics[metric])
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

// awayFromZero tells a summary that may be divided by.
func awayFromZero(s stats.Summary) bool { return s.CI95 != nil && s.CI95[0] > 0 }
