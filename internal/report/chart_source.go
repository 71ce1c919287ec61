package report

import (
	"fmt"

	"nfchain.dev/nfchain/internal/report/plot"
)

// source draws the source's values: the colours and markers of the lines of ours that
// they stand beside, open and dashed.
func (s *sweep) source(theirs []sourceLine, nth int) plot.Lines {
	u := unitFor(s.metric, s.largestReference(s.metric))
	l := plot.Lines{ID: s.id("source", nth), Title: s.title() + " in the source", Description: s.describeSource(theirs), Width: besideWidth,
		X: s.axis.drawn(), Y: plot.Axis{Label: axisLabel(s.metric, u), Zero: true}}
	for n, t := range theirs {
		l.Series = append(l.Series, s.sourceSeries(t, s.styleOf(t, n), u))
	}
	return l
}

// styleOf a line of the source.
func (s *sweep) styleOf(t sourceLine, n int) plot.Style {
	for _, some := range s.charts() {
		for at, i := range some {
			if i == t.ours {
				n = at
			}
		}
	}
	style := s.style(n)
	style.Open = true
	if s.axis.numbers {
		style.Dash = plot.Dashed
	}
	return style
}

func (s *sweep) sourceSeries(t sourceLine, style plot.Style, u unit) plot.Series {
	out := plot.Series{Name: s.nameOf(t, s.ours), Style: style}
	for _, v := range t.values {
		out.Points = append(out.Points, plot.Point{X: s.axis.place(v.level), Y: v.Value / u.Factor})
	}
	return out
}

// describeSource is the source's values in words, for those who do not see the chart.
func (s *sweep) describeSource(theirs []sourceLine) (text string) {
	for _, t := range theirs {
		for _, v := range t.values {
			text += fmt.Sprintf("%s, %s %s: %s. ", s.nameOf(t, s.ours), s.axis.name(), v.text, printed(s.metric, v.Value))
		}
	}
	return text
}

// hasReference tells a metric that the source has a value of.
func (r Report) hasReference(metric string) bool {
	for _, ref := range r.References {
		if ref.Metric == metric {
			return true
		}
	}
	return false
}

// largestReference is the source's greatest value of a metric, 0 for none.
func (r Report) largestReference(metric string) (most float64) {
	for _, ref := range r.References {
		if ref.Metric == metric {
			most = max(most, ref.Value)
		}
	}
	return most
}
