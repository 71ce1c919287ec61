package report

import (
	"fmt"
	"html/template"
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
	// Every chart of a long run shows a few conditions, all on the same scale.
	for at := 0; at < len(series); at += manySeries {
		out = append(out, r.latencyFigure(stem, percentiles, series[at:min(at+manySeries, len(series))], len(out)))
	}
	return out
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

func (r Report) latencyFigure(stem string, percentiles []string, conditions []int, nth int) figure {
	least, most := r.latencyRange(percentiles)
	u := unitFor(stem, most)
	if least > 0 && most/least > 100 {
		u = unitFor(stem, least)
	}
	l := plot.Lines{ID: fmt.Sprintf("%s-%d", stem, nth), Title: words.Metric(stem) + " percentiles", Description: r.describe(percentiles[0], conditions),
		X: plot.Axis{Label: "percentile", Names: percentileNames(stem, percentiles)},
		Y: plot.Axis{Label: axisLabel(stem, u), Zero: true, Log: least > 0 && most/least > 12}}
	l.Y.Zero = !l.Y.Log
	name := labels(r.Conditions)
	for n, i := range conditions {
		s := plot.Series{Name: name.of(r.Conditions[i].Condition), Style: plot.Ours(n)}
		for x, m := range percentiles {
			if _, has := r.Conditions[i].Metrics[m]; has {
				s.Points = append(s.Points, r.point(float64(x), i, m, u))
			}
		}
		l.Series = append(l.Series, s)
	}
	caption := "Median over the trials at each percentile. Error bars bound that median; small dots are the single trials."
	if l.Y.Log {
		caption += " The scale is logarithmic."
	}
	return figure{Title: continued(upperFirst(words.Metric(stem)), nth), Caption: caption, SVG: template.HTML(l.SVG())}
}

// latencyRange is the least and the greatest value of any trial.
func (r Report) latencyRange(percentiles []string) (least, most float64) {
	for _, t := range r.Run.Trials {
		for _, m := range percentiles {
			if v, has := t.Metrics[m]; has && finite(v) {
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
