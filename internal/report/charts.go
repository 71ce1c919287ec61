package report

import (
	"cmp"
	"html/template"
	"slices"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// figure is one chart with what is said below it.
type figure struct {
	Title   string
	Caption string
	SVG     template.HTML
	// Panels are the charts of a figure that has several, side by side where there is room.
	Panels []panel
}

// panel is one chart of several.
type panel struct {
	Head string
	SVG  template.HTML
}

// howToRead is said below every chart with intervals.
func (r Report) howToRead(conditions []int, metrics ...string) string {
	return "Error bars are " + r.covered(conditions, metrics...) + " intervals" + smallDots(r.covered(conditions, metrics...))
}

// smallDots ends what is said of error bars that cover so much.
func smallDots(covered string) string {
	if covered != "95%" {
		return " (fewer than six trials cannot bound a median with 95%); small dots are the single trials."
	}
	return "; small dots are the single trials."
}

// covered is what the intervals of some conditions cover, each share once.
func (r Report) covered(conditions []int, metrics ...string) string {
	var shares []float64
	for _, i := range conditions {
		for _, m := range metrics {
			if s, has := r.Conditions[i].Metrics[m]; has && s.CI95 != nil {
				shares = append(shares, covers(s))
			}
		}
	}
	if len(shares) == 0 {
		return "95%"
	}
	slices.Sort(shares)
	var texts []string
	for _, share := range slices.Compact(shares) {
		texts = append(texts, shareText(share))
	}
	return enumeration(texts)
}

// covers is with what confidence a summary's interval holds.
func covers(s stats.Summary) float64 { return cmp.Or(s.Confidence, .95) }

// figures are a report's, in reading order.
func (r Report) figures() []figure {
	var out []figure
	out = append(out, r.mainFigures()...)
	out = append(out, r.modelFigures()...)
	out = append(out, r.searchFigures()...)
	for _, stem := range distributionStems {
		out = append(out, r.latencyFigures(stem)...)
		out = append(out, r.distributionFigures(stem)...)
	}
	out = append(out, r.timeFigures()...)
	return append(out, r.cpuFigures()...)
}

// mainFigures are curves where a factor has enough levels, marks where the source has
// values of one that has not, and else bars. Conditions without the factor of the curves
// have figures of their own behind these.
func (r Report) mainFigures() []figure {
	if a, has := r.axis(); has {
		return append(r.sweepFigures(a), r.without(a)...)
	}
	if a, has := r.namedAxis(); has && len(r.References) > 0 {
		return append(r.sweepFigures(a), r.goodputFigures()...)
	}
	return r.goodputFigures()
}

// without are the main figures of the conditions that have no place along an axis.
func (r Report) without(a axis) []figure {
	rest := r.only(func(c trial.Condition) bool { _, has := a.of(c); return !has })
	rest.prefix += "without-" + a.field + "-"
	out := rest.mainFigures()
	for i := range out {
		out[i].Title += ", where " + a.title() + " was not varied"
	}
	return out
}

// only is the report of some conditions, without what is said of the run as a whole.
func (r Report) only(keep func(trial.Condition) bool) Report {
	run, at := r.Run, map[int]int{}
	run.Conditions, run.Trials = nil, nil
	out := Report{prefix: r.prefix}
	for i, c := range r.Conditions {
		if keep(c.Condition) {
			at[i] = len(out.Conditions)
			out.Conditions, run.Conditions = append(out.Conditions, c), append(run.Conditions, c.Condition)
		}
	}
	for _, t := range r.Run.Trials {
		if now, kept := at[t.Condition]; kept {
			t.Condition = now
			run.Trials = append(run.Trials, t)
		}
	}
	out.Run = run
	return out
}

// continued names the figures of one subject that do not fit into one chart.
func continued(title string, nth int) string {
	if nth == 0 {
		return title
	}
	return title + ", continued"
}

// largest is the greatest centre of a metric among conditions.
func largest(conditions []trial.Summary, metric string) (most float64) {
	for _, c := range conditions {
		if s, has := c.Metrics[metric]; has {
			most = max(most, centre(s))
		}
	}
	return most
}

// scaled divides an interval by a unit.
func scaled(ci *[2]float64, u unit) *[2]float64 {
	if ci == nil {
		return nil
	}
	return &[2]float64{ci[0] / u.Factor, ci[1] / u.Factor}
}

func (r Report) dots(condition int, metric string, u unit) []float64 {
	dots := r.Run.Samples(condition, metric)
	for i := range dots {
		dots[i] /= u.Factor
	}
	return dots
}

// point is one summary on a chart.
func (r Report) point(x float64, condition int, metric string, u unit) plot.Point {
	s := r.Conditions[condition].Metrics[metric]
	return plot.Point{X: x, Y: centre(s) / u.Factor, CI: scaled(s.CI95, u), Dots: r.dots(condition, metric, u)}
}

// axisLabel is a metric with its unit and which way is good.
func axisLabel(metric string, u unit) string {
	text := words.Metric(metric)
	if u.Name != "" {
		text += " in " + u.Name
	}
	if good := goodDirection(metric).inWords(); good != "" {
		text += " (" + good + ")"
	}
	return text
}

// measured lists the conditions that have a metric.
func (r Report) measured(metric string) (out []int) {
	for i, c := range r.Conditions {
		if _, has := c.Metrics[metric]; has {
			out = append(out, i)
		}
	}
	return out
}
