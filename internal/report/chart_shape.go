package report

import (
	"html/template"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/words"
)

// shape sets shapes side by side: each line of the source and ours of the same
// conditions as shares of their own values at the first level that both have. That is
// what machines have in common when rates are not. Without such lines there is none.
func (s *sweep) shape(ours []int, nth int) []figure {
	theirs, drawn := s.of(ours, nth), map[int]bool{}
	title := words.Metric(s.metric) + " as a share of the first value, here and in the source"
	l := plot.Lines{ID: s.id("shape", nth), Title: title, Description: s.describe(s.metric, s.conditions(ours)) + s.describeSource(theirs), X: s.axis.drawn(),
		Y: plot.Axis{Label: "share of the first value that both have", Zero: true}}
	for n, t := range theirs {
		if first, value := s.base(t); first >= 0 {
			if !drawn[t.ours] {
				l.Series = append(l.Series, s.ourShares(t, n, first))
			}
			drawn[t.ours] = true
			l.Series = append(l.Series, s.theirShares(t, n, value))
		}
	}
	if len(l.Series) == 0 {
		return nil
	}
	return []figure{{Title: continued(upperFirst(title), nth), SVG: template.HTML(l.SVG()),
		Caption: "What the source and this machine have in common, if anything: each line divided by its own value at the first level at which both were measured. Error bars are 95% intervals of the quotient; open markers are the source’s."}}
}

// base is where both a line of the source and ours beside it are 1.
func (s *sweep) base(t sourceLine) (condition int, value float64) {
	if t.ours < 0 {
		return -1, 0
	}
	return s.Report.base(s.axis, s.metric, s.ours[t.ours], t)
}

func (s *sweep) theirShares(t sourceLine, n int, value float64) plot.Series {
	series := s.sourceSeries(t, s.styleOf(t, n), unit{"", value})
	series.Name = s.sourceID() + ": " + series.Name
	return series
}

// ourShares have the intervals of the quotients.
func (s *sweep) ourShares(t sourceLine, n, first int) plot.Series {
	style := s.styleOf(t, n)
	style.Open, style.Dash = false, s.style(n).Dash
	out := plot.Series{Name: "here: " + s.ours[t.ours].name, Style: style}
	whole := centre(s.Conditions[first].Metrics[s.metric])
	for _, i := range s.ours[t.ours].conditions {
		at, _ := s.axis.of(s.Conditions[i].Condition)
		p := plot.Point{X: s.axis.place(at), Y: centre(s.Conditions[i].Metrics[s.metric]) / whole}
		if i != first { // which is 1 by definition
			p.CI = ratioOf(s.Report, first, s.Report, i, s.metric).CI95
		}
		out.Points = append(out.Points, p)
	}
	return out
}
