package report

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// fewSteps is from where a course over time is worth a chart.
const fewSteps = 3

// timeFigures draws every metric that was kept over the time of the trials.
func (r Report) timeFigures() (out []figure) {
	for _, metric := range r.timed() {
		conditions := r.withSeries(metric)
		for at := 0; at < len(conditions); at += manySeries {
			out = append(out, r.timeFigure(metric, conditions[at:min(at+manySeries, len(conditions))], at/manySeries))
		}
	}
	return out
}

// timed are the metrics with a course over time.
func (r Report) timed() []string {
	names := map[string]bool{}
	for _, t := range r.Run.Trials {
		for name, s := range t.Series {
			if len(s.Values) >= fewSteps && s.StepS > 0 {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (r Report) withSeries(metric string) (conditions []int) {
	for i := range r.Conditions {
		if slices.ContainsFunc(r.Run.Trials, func(t trial.Trial) bool { return t.Condition == i && len(t.Series[metric].Values) > 0 }) {
			conditions = append(conditions, i)
		}
	}
	return conditions
}

// timeFigure has one curve for each trial; those of one condition look alike.
func (r Report) timeFigure(metric string, conditions []int, nth int) figure {
	u := unitFor(metric, r.largestOverTime(metric))
	l := plot.Lines{ID: fmt.Sprintf("time-%s-%d", metric, nth), Title: words.Metric(metric) + " over the time of a trial", Description: r.describe(metric, conditions),
		X: plot.Axis{Label: "time in the trial in s", Zero: true}, Y: plot.Axis{Label: axisLabel(metric, u), Zero: true}}
	name := labels(r.Conditions)
	for n, i := range conditions {
		style := plot.Ours(n)
		style.Marker = plot.NoMarker
		title := name.of(r.Conditions[i].Condition)
		for _, t := range r.Run.Trials {
			if points := course(t.Series[metric], u); t.Condition == i && len(points) > 0 {
				l.Series = append(l.Series, plot.Series{Name: title, Points: points, Style: style})
				title = "" // the legend names a condition once
			}
		}
	}
	return figure{Title: continued(upperFirst(l.Title), nth), SVG: template.HTML(l.SVG()),
		Caption: "One curve for each trial; the trials of one condition look alike. Each value is of the step that ends there; a curve is broken where nothing was measured."}
}

// course is a series as points, none where nothing was measured at all. A step in which
// nothing was has a point without a value, so that its neighbours are not joined.
func course(s trial.Series, u unit) (points []plot.Point) {
	if !slices.ContainsFunc(s.Values, measuredStep) {
		return nil
	}
	for i, v := range s.Values {
		p := plot.Point{X: float64(i+1) * s.StepS, Y: math.NaN()}
		if measuredStep(v) {
			p.Y = *v / u.Factor
		}
		points = append(points, p)
	}
	return points
}

func measuredStep(v *float64) bool { return v != nil && finite(*v) }

func (r Report) largestOverTime(metric string) (most float64) {
	for _, t := range r.Run.Trials {
		for _, v := range t.Series[metric].Values {
			if v != nil && finite(*v) {
				most = max(most, *v)
			}
		}
	}
	return most
}
