package report

import (
	"fmt"
	"html/template"
	"slices"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
)

// part is conditions that have a value of one factor in common.
type part struct {
	name       string
	conditions []int
}

// divider is a factor by which conditions may be parted.
type divider struct {
	name string
	text func(trial.Condition) string
}

// parts are some conditions by the factor that makes the fewest parts of them, and names for
// them within their parts. Where each value would be of one condition, there is one part.
func (r Report) parts(conditions []int) ([]part, labeller) {
	var best []part
	var by string
	for _, d := range r.dividers() {
		if parts := r.divided(conditions, d); len(parts) > 1 && len(parts) <= len(conditions)/2 && (best == nil || len(parts) < len(best)) {
			best, by = parts, d.name
		}
	}
	if best == nil {
		best = []part{{"conditions", conditions}}
	}
	return best, labels(r.Conditions, by)
}

// dividers are the factors by which conditions are named. That a load is the calibrated one
// is said with each.
func (r Report) dividers() (out []divider) {
	l := labels(r.Conditions)
	for _, f := range l.fields {
		if f.name != "protocol" {
			out = append(out, divider{f.name, f.words})
		}
	}
	for _, name := range l.extra {
		if name != experiment.CalibratedFactor {
			out = append(out, divider{name, func(c trial.Condition) string { return l.factor(name) + " " + factorText(c.Factors[name]) }})
		}
	}
	return out
}

// divided are the parts that a factor makes, in the order in which their values come.
func (r Report) divided(conditions []int, d divider) (parts []part) {
	for _, i := range conditions {
		value := d.text(r.Conditions[i].Condition)
		at := slices.IndexFunc(parts, func(p part) bool { return p.name == value })
		if at < 0 {
			at, parts = len(parts), append(parts, part{name: value})
		}
		parts[at].conditions = append(parts[at].conditions, i)
	}
	return parts
}

// perChart is how many conditions each chart of a part has, so that all have about as many.
func (p part) perChart() int {
	charts := (len(p.conditions) + manySeries - 1) / manySeries
	return (len(p.conditions) + charts - 1) / charts
}

// panelled draws a few conditions in one chart, and more in panels side by side, of which
// each has some of one part.
func (r Report) panelled(f figure, conditions []int, draw func(some []int, name labeller, nth int) plot.Lines) figure {
	if len(conditions) <= manySeries {
		f.SVG = template.HTML(draw(conditions, labels(r.Conditions), 0).SVG())
		return f
	}
	parts, name := r.parts(conditions)
	left := len(conditions)
	for _, p := range parts {
		head := p.name
		for some := range slices.Chunk(p.conditions, p.perChart()) {
			if len(f.Panels) < manyCharts {
				l := draw(some, name, len(f.Panels))
				l.Width = besideWidth
				f.Panels = append(f.Panels, panel{head, template.HTML(l.SVG())})
				head, left = p.name+", continued", left-len(some)
			}
		}
	}
	if left > 0 {
		f.Caption += fmt.Sprintf(" %d more are in the table of measurements.", left)
	}
	return f
}
