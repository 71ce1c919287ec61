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
		out[i] = Summary{Condition: c, Metrics: summarizeTrials(run, trialsOf(run, i))}
	}
	return out
}

// trialsOf lists a condition's trials in the order of their repeats. The steps of
// a search are no repeats: each had a load of its own.
func trialsOf(run Run, condition int) []Trial {
	var out []Trial
	for _, t := range run.Trials {
		if t.Condition == condition && t.Step == 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b Trial) int { return a.Repeat - b.Repeat })
	return out
}

func summarizeTrials(run Run, trials []Trial) map[string]stats.Summary {
	out := map[string]stats.Summary{}
	for _, t := range trials {
		for name := range t.Metrics {
			if _, done := out[name]; !done {
				out[name] = summarizeMetric(run, trials, name)
			}
		}
	}
	if m := mainOf(trials); m != "" && run.Until > 0 {
		out[m] = within(m, stats.AtLeastWide(out[m], run.Until))
	}
	return out
}

// mainOf is the main metric of a condition's trials; empty for none.
func mainOf(trials []Trial) string {
	return MainMetric(func(name string) bool {
		return slices.ContainsFunc(trials, func(t Trial) bool { _, has := t.Metrics[name]; return has })
	})
}

// Narrow tells whether the first repeats of every condition, as many as said, have
// an interval of their main metric that is at most [Run.Until] wide. A condition
// without a main metric has nothing to become narrow.
func (r Run) Narrow(repeats int) bool {
	for i := range r.Conditions {
		first := slices.DeleteFunc(trialsOf(r, i), func(t Trial) bool { return t.Repeat > repeats })
		m := mainOf(first)
		if m != "" && !stats.Narrow(r.bounds(first, m), r.Until) {
			return false
		}
	}
	return true
}

// bounds summarizes a metric of some trials as far as its interval goes.
func (r Run) bounds(trials []Trial, metric string) stats.Summary {
	groups := instancesOf(r, measuring(trials, metric), metric)
	if NeverAveraged(metric) {
		return stats.SummarizePercentile(centres(groups, metric), math.NaN())
	}
	return stats.Summarize(centres(groups, metric))
}

func summarizeMetric(run Run, trials []Trial, name string) stats.Summary {
	with := measuring(trials, name)
	var s stats.Summary
	groups := instancesOf(run, with, name)
	xs, independent := values(with, name), centres(groups, name)
	if place, is := parseOrderStatistic(name); is {
		s = stats.SummarizePercentile(independent, pooled(with, xs, place))
	} else {
		s = within(name, stats.Summarize(independent))
		s.DetectableRatio = known(stats.Detectable(independent))
	}
	if len(groups) < len(xs) {
		s.N, s.Components = len(xs), stats.PartVariance(groups)
	}
	if run.Redeploy > 1 {
		s.Instances = len(groups)
	}
	s.Drift = stats.FindTrend(independent, driftLevel/float64(len(run.Conditions)))
	for _, i := range stats.Outliers(xs) {
		s.Outliers = append(s.Outliers, with[i].Repeat)
	}
	return s
}

// driftLevel is how often a run without any drift is said to have some.
const driftLevel = 0.05

// measuring are the trials that gave a metric a finite value.
func measuring(trials []Trial, name string) (with []Trial) {
	for _, t := range trials {
		if t.has(name) {
			with = append(with, t)
		}
	}
	return with
}

// known is a pointer to a number, nil for what is none.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// noShares are ratios that may be above one (RFC 6349 §4.1, §4.3).
var noShares = []string{"transfer_time_ratio", "buffer_delay_ratio"}

// within cuts an interval at what its metric can be: Student's t knows nothing of
// bounds, while few metrics of a trial are below zero, and few shares above one. What is
// cut off held nothing, so the rest covers as much. A mean beyond shows which are.
func within(name string, s stats.Summary) stats.Summary {
	if s.CI95 == nil {
		return s
	}
	centre := s.Median
	if s.Mean != nil {
		centre = *s.Mean
	}
	s.CI95[0] = max(s.CI95[0], min(0, centre))
	if strings.HasSuffix(name, "_ratio") && !slices.Contains(noShares, name) {
		s.CI95[1] = min(s.CI95[1], max(1, centre))
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
	if len(xs) == 0 {
		return math.NaN()
	}
	switch place.Percent {
	case 0:
		return slices.Min(xs)
	case 100:
		return slices.Max(xs)
	}
	h := merged(trials, place.Stem)
	if h == nil {
		return math.NaN()
	}
	return Percentile(h, place.Percent)
}

// Merged is all samples of a condition's trials, by the histograms' name; nil
// where there are none, or where one of the trials lacks its own.
func Merged(r Run, condition int, stem string) *hdrhistogram.Histogram {
	return merged(trialsOf(r, condition), stem)
}

func merged(trials []Trial, stem string) *hdrhistogram.Histogram {
	hs := make([]*hdrhistogram.Histogram, len(trials))
	for i, t := range trials {
		h, err := DecodeHistogram(t.Histograms[stem])
		if err != nil || h.TotalCount() == 0 {
			return nil
		}
		hs[i] = h
	}
	return MergeHistograms(hs)
}

// Samples is what each trial of a condition measured of one metric, in the
// order of the repeats and in the metric's unit. The condition is an index into
// the run's conditions. Trials that did not measure it are left out.
func (r Run) Samples(condition int, metric string) []float64 {
	return values(measuring(trialsOf(r, condition), metric), metric)
}
