package trial

import (
	"math"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/stats"
)

// Summary is one condition of a run with what its repeats come to, by metric.
type Summary struct {
	Condition
	Metrics map[string]stats.Summary `json:"metrics"`
}

// Summarize summarizes every metric of every condition, in the order of the
// run's conditions. A condition without trials has an empty map of metrics.
// Metrics that are never averaged (see [NeverAveraged]) come with the value over
// all trials' samples together: from the merged histograms, or, for minimum and
// maximum, from the trials' own. Where one of the trials lacks its histogram,
// there is no such value, since it would leave that trial out.
func Summarize(run Run) []Summary {
	out := make([]Summary, len(run.Conditions))
	for i, c := range run.Conditions {
		out[i] = Summary{Condition: c, Metrics: summarizeTrials(trialsOf(run, i))}
	}
	return out
}

// trialsOf lists a condition's trials in the order of their repeats.
func trialsOf(run Run, condition int) []Trial {
	var out []Trial
	for _, t := range run.Trials {
		if t.Condition == condition {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b Trial) int { return a.Repeat - b.Repeat })
	return out
}

func summarizeTrials(trials []Trial) map[string]stats.Summary {
	out := map[string]stats.Summary{}
	for _, t := range trials {
		for name := range t.Metrics {
			if _, done := out[name]; !done {
				out[name] = summarizeMetric(trials, name)
			}
		}
	}
	return out
}

func summarizeMetric(trials []Trial, name string) stats.Summary {
	var with []Trial
	for _, t := range trials {
		if _, measured := t.Metrics[name]; measured {
			with = append(with, t)
		}
	}
	xs := values(with, name)
	if place, is := parseOrderStatistic(name); is {
		return stats.SummarizePercentile(xs, pooled(with, xs, place))
	}
	return within(name, stats.Summarize(xs))
}

// within cuts an interval at what its metric can be: Student's t knows nothing of
// bounds, while no metric of a trial is below zero and no share above one. What is
// cut off held nothing, so the rest covers as much.
func within(name string, s stats.Summary) stats.Summary {
	if s.CI95 == nil {
		return s
	}
	s.CI95[0] = max(s.CI95[0], 0)
	if strings.HasSuffix(name, "_ratio") {
		s.CI95[1] = min(s.CI95[1], 1)
	}
	return s
}

func values(trials []Trial, name string) []float64 {
	xs := make([]float64, len(trials))
	for i, t := range trials {
		xs[i] = t.Metrics[name]
	}
	return xs
}

// pooled is an order statistic over all trials' samples; NaN if not known.
func pooled(trials []Trial, xs []float64, place orderStatistic) float64 {
	switch place.Percent {
	case 0:
		return slices.Min(xs)
	case 100:
		return slices.Max(xs)
	}
	hs := make([]*hdrhistogram.Histogram, len(trials))
	for i, t := range trials {
		h, err := DecodeHistogram(t.Histograms[place.Stem])
		if err != nil {
			return math.NaN()
		}
		hs[i] = h
	}
	return Percentile(MergeHistograms(hs), place.Percent)
}

// Samples is what each trial of a condition measured of one metric, in the
// order of the repeats and in the metric's unit. The condition is an index into
// the run's conditions. Trials that did not measure it are left out.
func (r Run) Samples(condition int, metric string) []float64 {
	var xs []float64
	for _, t := range trialsOf(r, condition) {
		if x, measured := t.Metrics[metric]; measured && !math.IsNaN(x) && !math.IsInf(x, 0) {
			xs = append(xs, x)
		}
	}
	return xs
}
