package advise

import (
	"fmt"
	"math"
	"strings"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// price sets the clauses' metrics of every other choice against those of the best. All
// the ratios there could be between two of the choices hold at once with 95%, since
// which one is the best was found in the same trials.
func (j judge) price(choices []Choice, best int) {
	n := len(choices)
	level := 1 - .05/float64(max(1, n*(n-1)/2*len(j.goal)))
	for i := range choices {
		if i == best {
			continue
		}
		for k := range j.goal {
			for _, e := range choices[best].Clauses[k].Evidence {
				if p, has := priceOf(level, choices[best], choices[i], e); has {
					choices[i].Prices = append(choices[i].Prices, p)
				}
			}
		}
	}
}

// priceOf a choice in one metric: over the advised choice's, where both were measured
// under the same load.
func priceOf(level float64, best, other Choice, e Evidence) (Price, bool) {
	of := func(c Choice) (cell, bool) {
		for _, at := range c.cells {
			if loadOf(at.at()) == loadOf(e.Condition) && len(at.run.Samples(at.condition, e.Metric)) > 0 {
				return at, true
			}
		}
		return cell{}, false
	}
	a, hasA := of(best)
	b, hasB := of(other)
	if !hasA || !hasB {
		return Price{}, false
	}
	ratio := ratioOf(level, a, b, e.Metric)
	if math.IsNaN(ratio.Value) || math.IsInf(ratio.Value, 0) {
		return Price{}, false
	}
	if ratio.CI95 != nil { // no metric is below zero
		ratio.CI95[0] = max(0, ratio.CI95[0])
	}
	return Price{e.Condition.Protocol, e.Metric, ratio.Value, ratio.CI95}, true
}

// ratioOf two conditions, b over a: pair by pair where they were interleaved in one
// run often enough.
func ratioOf(level float64, a, b cell, metric string) stats.Estimate {
	xs, ys := a.run.Independent(a.condition, metric), b.run.Independent(b.condition, metric)
	if trial.NeverAveraged(metric) {
		return stats.MedianRatioAt(level, xs, ys)
	}
	if a.run == b.run {
		if x, y := a.run.Pairs(a.condition, b.condition, metric); len(x) >= stats.FewestPairs {
			return stats.PairedRatioIntervalAt(level, x, y)
		}
	}
	return stats.RatioIntervalAt(level, xs, ys)
}

// pricesText says them in a sentence.
func pricesText(prices []Price) string {
	parts := make([]string, len(prices))
	for i, p := range prices {
		of := ""
		for k, other := range prices {
			if k != i && other.Metric == p.Metric {
				of = " of " + p.Protocol
			}
		}
		parts[i] = fmt.Sprintf("%s times the %s%s (%s)", words.Significant(p.Ratio, 3), words.Metric(p.Metric), of, p.bounds())
	}
	return strings.Join(parts, " and ")
}

// bounds of a price in words.
func (p Price) bounds() string {
	if p.Interval == nil {
		return "no interval"
	}
	text := words.Significant(p.Interval[0], 3) + " to " + words.Significant(p.Interval[1], 3)
	if p.Interval[0] <= 1 && p.Interval[1] >= 1 {
		text += ": cannot be told apart"
	}
	return text
}

// priceText is that of one metric of a choice for a table; "-" where there is none.
func (c Choice) priceText(e Evidence) string {
	for _, p := range c.Prices {
		if p.Metric == e.Metric && p.Protocol == e.Condition.Protocol {
			return words.Significant(p.Ratio, 3) + " (" + p.bounds() + ")"
		}
	}
	return "-"
}
