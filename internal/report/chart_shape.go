package report

import (
	"html/template"

	"nfchain.dev/nfchain/internal/report/plot"
)

// farRatio is from where values on one linear scale hide each other.
const farRatio = 3

func (r Report) hasReference(metric string) bool { return r.largestReference(metric) != 0 }

// largestReference is the source's greatest value of a metric, 0 for none.
func (r Report) largestReference(metric string) (most float64) {
	for _, ref := range r.References {
		if ref.Metric == metric {
			most = max(most, ref.Value)
		}
	}
	return most
}

// farFromSource tells whether our values and the source's need a logarithmic
// scale to be read together.
func (r Report) farFromSource(metric string) bool {
	theirs, ours := r.largestReference(metric), largest(r.Conditions, metric)
	return theirs > 0 && ours > 0 && (theirs > farRatio*ours || ours > farRatio*theirs)
}

// shapeFigure sets shapes side by side: every series as a share of its own value
// at the shortest chain, which machines have in common when rates are not.
func (r Report) shapeFigure(metric string) figure {
	one := unit{"", 1}
	l := plot.Lines{ID: "shape-" + metric, Title: metricName(metric) + " as a share of the shortest chain's", Description: r.describe(metric, r.measured(metric)),
		X: plot.Axis{Label: "length of the chain (namespaces, both ends included)", Zero: true},
		Y: plot.Axis{Label: "share of the value at the shortest length", Zero: true}}
	ours, at := r.ourSeries(metric, one)
	l.X.At = at
	for i := range ours {
		l.Series = append(l.Series, r.sharesOf(ours[i], metric))
	}
	for _, s := range append(r.sourceSeries(metric, one), r.fitSeries(metric, one)...) {
		l.Series = append(l.Series, shares(s))
	}
	return figure{Title: upperFirst(l.Title), SVG: template.HTML(l.SVG()),
		Caption: "What the source and this machine have in common, if anything: each series divided by its own value at its shortest length. Error bars are 95% intervals of the quotient; open markers are the source's."}
}

// shares divides a series by its first value; one that begins at zero has none.
func shares(s plot.Series) plot.Series {
	if len(s.Points) == 0 || s.Points[0].Y <= 0 {
		s.Points = nil
		return s
	}
	points := make([]plot.Point, len(s.Points))
	for i, p := range s.Points {
		points[i] = plot.Point{X: p.X, Y: p.Y / s.Points[0].Y}
	}
	s.Points = points
	return s
}

// sharesOf divides one of our series by its first value, with intervals.
func (r Report) sharesOf(s plot.Series, metric string) plot.Series {
	byLength, name := map[float64]int{}, labels(r.Conditions, "length")
	for _, i := range r.measured(metric) {
		if name.of(r.Conditions[i].Condition) == s.Name {
			byLength[float64(r.Conditions[i].Length)] = i
		}
	}
	divided := shares(s)
	if len(divided.Points) == 0 {
		return divided
	}
	first := byLength[s.Points[0].X]
	for i := range divided.Points {
		if i > 0 { // the first is 1 by definition
			divided.Points[i].CI = ratioOf(r, first, r, byLength[divided.Points[i].X], metric).CI95
		}
	}
	return divided
}
