package report

import (
	"math"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// fewSamples is how many samples must lie beyond a percentile for it to be drawn:
// with fewer, the curve would be of single samples.
const fewSamples = 5

// distributionFigures draws what was measured of each sample, all trials of a
// condition together: by percentile, where the tail shows, and as the share of
// the samples, where the bulk does.
func (r Report) distributionFigures(stem string) (out []figure) {
	conditions, merged := r.distributions(stem)
	if len(conditions) == 0 {
		return nil
	}
	return []figure{
		r.panelled(figure{Title: upperFirst(words.Metric(stem)) + " by percentile", Caption: percentileCaption}, conditions, func(some []int, name labeller, nth int) plot.Lines {
			return r.percentileCurve(stem, some, merged, name, nth)
		}),
		r.panelled(figure{Title: upperFirst(cumulativeTitle(stem)), Caption: cumulativeCaption}, conditions, func(some []int, name labeller, nth int) plot.Lines {
			return r.cumulativeCurve(stem, some, merged, name, nth)
		}),
	}
}

const (
	percentileCaption = "All samples of a condition's trials together. The axis stretches the tail: each step of the same width has a tenth of the samples of the one before. A curve ends where fewer than 5 samples lie beyond."
	cumulativeCaption = "The share of the samples, of all trials together, that were no more than the value below. The further left a curve, the better."
)

func cumulativeTitle(stem string) string { return "cumulative distribution of " + words.Metric(stem) }

// distributions are the conditions that kept histograms, with those of all their
// trials merged. One trial without leaves its condition out: the rest would be a
// distribution of something else.
func (r Report) distributions(stem string) (conditions []int, merged map[int]*hdrhistogram.Histogram) {
	merged = map[int]*hdrhistogram.Histogram{}
	for i := range r.Conditions {
		if h := trial.Merged(r.Run, i, stem); h != nil {
			conditions, merged[i] = append(conditions, i), h
		}
	}
	return conditions, merged
}

func (r Report) percentileCurve(stem string, conditions []int, merged map[int]*hdrhistogram.Histogram, name labeller, nth int) plot.Lines {
	u := distributionUnit(stem, conditions, merged)
	deepest := 1.0
	l := plot.Lines{ID: "percentiles-" + stem + strconv.Itoa(nth), Title: words.Metric(stem) + " by percentile", Description: r.describeDistributions(stem, conditions, merged)}
	for n, i := range conditions {
		h := merged[i]
		style := plot.Ours(n)
		style.Marker = plot.NoMarker
		s := plot.Series{Name: name.of(r.Conditions[i].Condition), Style: style}
		for nines := 0.0; nines <= deepestNines(h)+1e-9; nines += .05 {
			p := 100 * (1 - math.Pow(10, -nines))
			s.Points = append(s.Points, plot.Point{X: nines, Y: trial.Percentile(h, p) / u.Factor})
			deepest = max(deepest, nines)
		}
		l.Series = append(l.Series, s)
	}
	l.X = plot.Axis{Label: "percentile of the samples", Zero: true}
	l.X.At, l.X.AtNames = nineTicks(deepest)
	l.Y = plot.Axis{Label: axisLabel(stem, u), Log: spread(conditions, merged) > 12}
	l.Y.Zero = !l.Y.Log
	return l
}

func (r Report) cumulativeCurve(stem string, conditions []int, merged map[int]*hdrhistogram.Histogram, name labeller, nth int) plot.Lines {
	u := distributionUnit(stem, conditions, merged)
	l := plot.Lines{ID: "cdf-" + stem + strconv.Itoa(nth), Title: cumulativeTitle(stem),
		Description: r.describeDistributions(stem, conditions, merged),
		X:           plot.Axis{Label: axisLabel(stem, u), Log: spread(conditions, merged) > 12},
		Y:           plot.Axis{Label: "share of the samples in %", Zero: true}}
	for n, i := range conditions {
		style := plot.Ours(n)
		style.Marker = plot.NoMarker
		s := plot.Series{Name: name.of(r.Conditions[i].Condition), Style: style}
		for p := 0.0; p <= 99.9; p += .5 {
			s.Points = append(s.Points, plot.Point{X: trial.Percentile(merged[i], p) / u.Factor, Y: p})
		}
		l.Series = append(l.Series, s)
	}
	return l
}

// deepestNines is the percentile a histogram can tell, as the nines of its share.
func deepestNines(h *hdrhistogram.Histogram) float64 {
	return max(0, math.Log10(float64(h.TotalCount())/fewSamples))
}

// nineTicks are percentiles as far as the deepest.
func nineTicks(deepest float64) (at []float64, names []string) {
	for nines, name := range []string{"0", "90", "99", "99.9", "99.99", "99.999", "99.9999"} {
		if float64(nines) <= deepest+.05 {
			at, names = append(at, float64(nines)), append(names, name)
		}
		if nines == 0 {
			at, names = append(at, -math.Log10(.5)), append(names, "50")
		}
	}
	return at, names
}

func distributionUnit(stem string, conditions []int, merged map[int]*hdrhistogram.Histogram) unit {
	least := math.Inf(1)
	for _, i := range conditions {
		least = min(least, trial.Percentile(merged[i], 50))
	}
	return unitFor(stem, least)
}

// spread is the largest value to draw over the smallest.
func spread(conditions []int, merged map[int]*hdrhistogram.Histogram) float64 {
	least, most := math.Inf(1), 0.0
	for _, i := range conditions {
		least = min(least, float64(merged[i].Min()))
		most = max(most, trial.Percentile(merged[i], 100*(1-math.Pow(10, -deepestNines(merged[i])))))
	}
	if least <= 0 {
		return 0
	}
	return most / least
}

// describeDistributions is the chart in words.
func (r Report) describeDistributions(stem string, conditions []int, merged map[int]*hdrhistogram.Histogram) (text string) {
	name := labels(r.Conditions)
	for _, i := range conditions {
		text += name.of(r.Conditions[i].Condition) + ": median " + printed(stem, trial.Percentile(merged[i], 50)) +
			", 99% up to " + printed(stem, trial.Percentile(merged[i], 99)) + ". "
	}
	return text
}
