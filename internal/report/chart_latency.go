package report

import (
	"fmt"
	"strings"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// manySeries is where one chart stops being readable.
const manySeries = 6

// distributionStems are the metrics whose distribution is drawn, by the part of
// their names that their percentiles share.
var distributionStems = []string{"latency_ns", "one_way_latency_ns"}

// latencyFigures has the latency percentiles of the conditions that have any.
func (r Report) latencyFigures(stem string) (out []figure) {
	percentiles := r.latencyPercentiles(stem)
	if len(percentiles) < 2 {
		return nil
	}
	var series []int
	for i, c := range r.Conditions {
		if _, has := c.Metrics[percentiles[0]]; has {
			series = append(series, i)
		}
	}
	if len(series) == 0 {
		return nil
	}
	covered := r.covered(series, percentiles...)
	caption := "Median over the trials at each percentile. Error bars bound that median with " + covered + smallDots(covered) +
		scaleText(r.latencyLines(stem, percentiles, series, labels(r.Conditions), 0))
	return []figure{r.panelled(figure{Title: upperFirst(words.Metric(stem)), Caption: caption}, series, func(some []int, name labeller, nth int) plot.Lines {
		return r.latencyLines(stem, percentiles, some, name, nth)
	})}
}

// latencyPercentiles are the metrics of one distribution.
func (r Report) latencyPercentiles(stem string) (out []string) {
	for _, m := range metricsOf(r.Conditions...) {
		if strings.HasPrefix(m, strings.TrimSuffix(stem, "ns")) && strings.HasSuffix(m, "_ns") && trial.NeverAveraged(m) {
			out = append(out, m)
		}
	}
	return out
}

// scaleText says that a chart has a logarithmic scale, and what that leaves out.
func scaleText(l plot.Lines) string {
	switch {
	case !l.Logarithmic():
		return ""
	case l.OffScale() > 0:
		return " The scale is logarithmic; trials at zero have no place on it."
	}
	return " The scale is logarithmic."
}

// latencyAxis has every trial on it, but for those at zero where it is logarithmic.
func (r Report) latencyAxis(stem string, percentiles []string) plot.Axis {
	least, most := r.latencyRange(percentiles)
	far := least > 0 && most/least > 12 && r.aboveZero(percentiles)
	return plot.Axis{Label: axisLabel(stem, r.latencyUnit(stem, percentiles)), Zero: !far, Log: far}
}

func (r Report) latencyUnit(stem string, percentiles []string) unit {
	least, most := r.latencyRange(percentiles)
	if least > 0 && most/least > 100 {
		return unitFor(stem, least)
	}
	return unitFor(stem, most)
}

func (r Report) latencyLines(stem string, percentiles []string, conditions []int, name labeller, nth int) plot.Lines {
	u := r.latencyUnit(stem, percentiles)
	l := plot.Lines{ID: fmt.Sprintf("%s-%d", stem, nth), Title: words.Metric(stem) + " percentiles", Description: r.describe(percentiles[0], conditions),
		X: plot.Axis{Label: "percentile", Names: percentileNames(stem, percentiles)}, Y: r.latencyAxis(stem, percentiles)}
	for n, i := range conditions {
		s := plot.Series{Name: name.of(r.Conditions[i].Condition), Style: plot.Ours(n)}
		for x, m := range percentiles {
			if _, has := r.Conditions[i].Metrics[m]; has {
				s.Points = append(s.Points, r.point(float64(x), i, m, u))
			}
		}
		l.Series = append(l.Series, s)
	}
	return l
}

// aboveZero tells metrics whose centres all have a place on a logarithmic axis.
func (r Report) aboveZero(metrics []string) bool {
	for _, c := range r.Conditions {
		for _, m := range metrics {
			if s, has := c.Metrics[m]; has && centre(s) <= 0 {
				return false
			}
		}
	}
	return true
}

// latencyRange is the least value above zero and the greatest of any trial.
func (r Report) latencyRange(percentiles []string) (least, most float64) {
	for _, t := range r.Run.Trials {
		for _, m := range percentiles {
			if v, has := t.Metrics[m]; has && finite(v) && v > 0 {
				if least == 0 || v < least {
					least = v
				}
				most = max(most, v)
			}
		}
	}
	return least, most
}

func percentileNames(stem string, metrics []string) (names []string) {
	for _, m := range metrics {
		names = append(names, strings.TrimPrefix(words.Metric(m), words.Metric(stem)+" "))
	}
	return names
}
