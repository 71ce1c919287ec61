package report

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// fitSeries draws each model over length that has a curve, of what the source measured: those
// of the calibrated load have charts of their own.
func (r Report) fitSeries(metric string, u unit) (series []plot.Series) {
	for _, f := range r.Fits {
		if _, twin := experiment.IsTwin(f.Name); !twin && f.Metric == metric && f.Over == "length" && len(f.Curve) > 1 {
			series = append(series, curveOf(f, u, len(series)))
		}
	}
	return series
}

// curveOf a model as a line without markers, over the values of its factor.
func curveOf(f experiment.Fit, u unit, nth int) plot.Series {
	s := plot.Series{Name: fitName(f), Style: plot.Style{Colour: (4 + nth) % 6, Dash: modelDashes[nth%len(modelDashes)]}}
	for _, p := range f.Curve {
		s.Points = append(s.Points, plot.Point{X: p[0], Y: p[1] / u.Factor})
	}
	return s
}

// fitAxis has the values that a model goes over, as the run's other charts have them.
func (r Report) fitAxis(f experiment.Fit) axis {
	a := axis{field: f.Over, numbers: true}
	var more []level
	for _, p := range f.Points {
		more = append(more, level{p.X, raw(p.X)})
	}
	for _, l := range r.axisOf(f.Over).levels {
		if finite(l.value) {
			a.levels = append(a.levels, l)
		}
	}
	return a.with(more)
}

// along puts points whose X is a value of the factor where the axis has it. A
// logarithmic one has no place between zero and its least value.
func (a axis) along(s plot.Series) plot.Series {
	least, _, _ := a.reach()
	s.Points = slices.DeleteFunc(s.Points, func(p plot.Point) bool { return a.logarithmic() && p.X > 0 && p.X < least })
	for i := range s.Points {
		s.Points[i].X = a.place(level{value: s.Points[i].X})
	}
	return s
}

// modelDashes tell models' curves apart without colour.
var modelDashes = []plot.Dash{plot.Dashed, plot.Dotted, plot.DashDot, plot.LongDash, plot.DashDotDot, plot.ShortDash}

// fitName is "model loss: l = 0.099 [0.081, 0.118]".
func fitName(f experiment.Fit) string {
	name := "model " + f.Name
	shown := 0
	for _, p := range f.Params {
		if p.Unit == "" && shown < 2 {
			name += fmt.Sprintf("%s %s = %s", []string{":", ","}[shown], p.Name, centredText(paramUnit(p), p))
			shown++
		}
	}
	return name
}

// centredText is a parameter with its interval.
func centredText(u unit, p experiment.Param) string {
	value, interval := u.centred(p.Value, p.CI95)
	return strings.TrimSpace(value + " " + interval)
}

// modelFigures are a chart of what was measured with the models of it, and one of what
// they miss, for each of the sets of trials that models were fitted to.
func (r Report) modelFigures() (out []figure) {
	var order []string
	groups := map[string][]experiment.Fit{}
	for _, f := range r.Fits {
		if len(f.Points) < 2 {
			continue
		}
		k := f.Metric + " " + f.Over + " " + experiment.Describe(f.Where)
		if f.Curve == nil { // it goes over more than one factor
			k += " " + f.Name
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], f)
	}
	for i, k := range order {
		out = append(out, r.fitFigure(groups[k], i), r.residualFigure(groups[k], i))
	}
	return out
}

// fitFigure draws the models of some trials over what these measured.
func (r Report) fitFigure(fits []experiment.Fit, nth int) figure {
	first := fits[0]
	most := 0.0
	for _, p := range first.Points {
		most = max(most, p.Measured, p.Predicted)
	}
	u := unitFor(first.Metric, most)
	a := r.fitAxis(first)
	l := plot.Lines{ID: fmt.Sprintf("%sfit-%d", r.prefix, nth), Title: "models of " + fitSubject(first), Description: fitWords(fits),
		X: a.drawn(), Y: plot.Axis{Label: axisLabel(first.Metric, u), Zero: true}}
	for i, flows := range flowsOf(first) {
		name := "measured"
		if flows > 0 {
			name = fmt.Sprintf("measured, %d flows", flows)
		}
		s := plot.Series{Name: name, Style: plot.Ours(i)}
		s.Style.Dash = plot.NoLine
		for _, p := range first.Points {
			if p.Flows == flows {
				s.Points = append(s.Points, r.measuredAt(first, p, u))
			}
		}
		l.Series = append(l.Series, a.along(s))
	}
	for i, f := range fits {
		for _, s := range curves(f, u, i) {
			l.Series = append(l.Series, a.along(s))
		}
	}
	return figure{Title: upperFirst(l.Title), SVG: template.HTML(l.SVG()),
		Caption: r.howToRead(r.measured(first.Metric), first.Metric) + " Lines are the models, beyond the values that they were fitted to as well."}
}

// curves of a model: one, or one for each number of flows, from point to point.
func curves(f experiment.Fit, u unit, nth int) (out []plot.Series) {
	if f.Curve != nil {
		return []plot.Series{curveOf(f, u, nth)}
	}
	for i, flows := range flowsOf(f) {
		s := plot.Series{Style: plot.Style{Colour: plot.Ours(i).Colour, Dash: plot.Dashed}}
		if i == 0 {
			s.Name = fitName(f)
		}
		for _, p := range f.Points {
			if p.Flows == flows {
				s.Points = append(s.Points, plot.Point{X: p.X, Y: p.Predicted / u.Factor})
			}
		}
		out = append(out, s)
	}
	return out
}

// flowsOf a model's points, ascending; 0 alone where it does not look at them.
func flowsOf(f experiment.Fit) []int {
	seen := map[int]bool{}
	for _, p := range f.Points {
		seen[p.Flows] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// measuredAt is what was measured at a point, with its interval and trials where the
// condition is found.
func (r Report) measuredAt(f experiment.Fit, p experiment.FitPoint, u unit) plot.Point {
	where := map[string]any{f.Over: p.X}
	maps.Copy(where, f.Where)
	if p.Flows > 0 {
		where["flows"] = p.Flows
	}
	for i, c := range r.Conditions {
		if _, has := c.Metrics[f.Metric]; has && c.Path == trial.PathChain && experiment.Selects(c.Condition, where) {
			return r.point(p.X, i, f.Metric, u)
		}
	}
	return plot.Point{X: p.X, Y: p.Measured / u.Factor}
}

// residualFigure draws by how much each model is off, open where it was not fitted.
func (r Report) residualFigure(fits []experiment.Fit, nth int) figure {
	first := fits[0]
	a := r.fitAxis(first)
	l := plot.Lines{ID: fmt.Sprintf("%sresiduals-%d", r.prefix, nth), Title: "what the models of " + fitSubject(first) + " miss", Description: fitWords(fits),
		X: a.drawn(), Y: plot.Axis{Label: "model less measured, in % of measured"}}
	zero := plot.Series{Style: plot.Style{Colour: 5, Dash: plot.Solid}}
	for _, x := range l.X.At {
		zero.Points = append(zero.Points, plot.Point{X: x})
	}
	l.Series = append(l.Series, zero)
	for i, f := range fits {
		style := plot.Ours(i)
		style.Dash = plot.NoLine
		inside, outside := misses(f, style)
		l.Series = append(l.Series, a.along(inside))
		if len(outside.Points) > 0 {
			l.Series = append(l.Series, a.along(outside))
		}
	}
	return figure{Title: upperFirst(l.Title), SVG: template.HTML(l.SVG()), Caption: "Open markers are values that were left out of the fit. A model that misses by turns above and below bends where what was measured does not."}
}

// fitSubject is "goodput over length (flows=8)".
func fitSubject(f experiment.Fit) string {
	text := words.Metric(f.Metric) + " over " + f.Over
	if f.Curve == nil {
		text += " and flows"
	}
	if len(f.Where) > 0 {
		text += " (" + experiment.Describe(f.Where) + ")"
	}
	return text
}

// misses of a model in per cent, those at values that were left out by themselves, open.
func misses(f experiment.Fit, style plot.Style) (inside, outside plot.Series) {
	inside, outside = plot.Series{Name: "model " + f.Name, Style: style}, plot.Series{Style: style}
	outside.Style.Open = true
	for _, p := range f.Points {
		at := plot.Point{X: p.X, Y: 100 * p.RelativeError}
		if p.Fitted {
			inside.Points = append(inside.Points, at)
		} else {
			outside.Points = append(outside.Points, at)
		}
	}
	return inside, outside
}

// fitWords tell a chart of models to those who do not see it.
func fitWords(fits []experiment.Fit) string {
	var words []string
	for _, f := range fits {
		worst := 0.0
		for _, p := range f.Points {
			worst = max(worst, math.Abs(p.RelativeError))
		}
		words = append(words, fmt.Sprintf("model %s is off by up to %s", f.Name, shareText(worst)))
	}
	return upperFirst(strings.Join(words, "; ")) + "."
}
