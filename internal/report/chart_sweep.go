package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

const (
	// manyCharts is how many charts of one metric a page has at most.
	manyCharts = 8
	// besideWidth is the width of a chart that stands beside another.
	besideWidth = 470
)

// sweepFigures has charts along an axis for each metric that the experiment is about,
// and the source's beside them.
func (r Report) sweepFigures(a axis) (out []figure) {
	for _, metric := range r.sweptMetrics() {
		ours := r.lines(a, metric)
		if len(ours) == 0 {
			continue
		}
		s := &sweep{Report: r, axis: a, metric: metric, ours: ours, theirs: r.sourceLines(a, metric, ours)}
		s.axis = a.with(sourceLevels(s.theirs))
		out = append(out, s.figures()...)
	}
	return out
}

// sweep is one metric along an axis: ours, and the source's.
type sweep struct {
	Report
	axis   axis
	metric string
	ours   []line
	theirs []sourceLine
}

// figures has a few lines in each chart, first those that the source has too.
func (s *sweep) figures() (out []figure) {
	charts := s.charts()
	for nth, some := range charts {
		if nth == manyCharts {
			out[len(out)-1].Caption += fmt.Sprintf(" %d more are in the table of measurements.", len(slices.Concat(charts[nth:]...)))
			break
		}
		out = append(out, s.figure(some, nth))
		out = append(out, s.shape(some, nth)...)
	}
	return out
}

// charts are the lines by the chart that they are in; those at the calibrated load have
// charts of their own, behind the others.
func (s *sweep) charts() [][]int {
	var source, calibrated []int
	for i := range s.ours {
		if s.calibrated(i) {
			calibrated = append(calibrated, i)
		} else {
			source = append(source, i)
		}
	}
	slices.SortStableFunc(source, func(x, y int) int { return b2i(s.inSource(y)) - b2i(s.inSource(x)) })
	return slices.AppendSeq(slices.Collect(slices.Chunk(source, s.perChart())), slices.Chunk(calibrated, s.perChart()))
}

// calibrated tells a line at the calibrated load.
func (s *sweep) calibrated(ours int) bool {
	return experiment.AnyCalibrated([]trial.Condition{s.Conditions[s.ours[ours].conditions[0]].Condition})
}

// heading of a chart.
func (s *sweep) heading(ours []int, nth int) string {
	title := upperFirst(s.title())
	if !s.calibrated(ours[0]) {
		return continued(title, nth)
	}
	before := 0
	for _, some := range s.charts()[:nth] {
		before += b2i(s.calibrated(some[0]))
	}
	return continued(title+", at the calibrated load", before)
}

// manyLevels is from how many levels on fewer lines can be told apart.
const manyLevels = 16

// perChart is how many lines one chart has.
func (s *sweep) perChart() int {
	if len(s.axis.levels) > manyLevels {
		return manySeries / 2
	}
	return manySeries
}

func (s *sweep) inSource(ours int) bool {
	return slices.ContainsFunc(s.theirs, func(t sourceLine) bool { return t.ours == ours })
}

// of are the source's lines that go with some of ours; the first chart has those that
// go with none.
func (s *sweep) of(ours []int, nth int) (out []sourceLine) {
	for _, t := range s.theirs {
		if slices.Contains(ours, t.ours) || t.ours < 0 && nth == 0 {
			out = append(out, t)
		}
	}
	return out
}

func (s *sweep) title() string { return words.Metric(s.metric) + " over " + s.axis.title() }

func (s *sweep) id(kind string, nth int) string {
	return fmt.Sprintf("%s%s-%s-%d", s.prefix, kind, s.metric, nth)
}

// figure draws ours and, where the source has values, the source's on a panel and a
// scale of their own.
func (s *sweep) figure(ours []int, nth int) figure {
	f := figure{Title: s.heading(ours, nth), Caption: s.howToRead(s.conditions(ours), s.metric)}
	theirs := s.of(ours, nth)
	l, fitted := s.measured(ours, nth)
	if fitted {
		f.Caption += " Lines without markers are fitted models, drawn beyond the points that they were fitted to as well."
	}
	f.Caption += scaleText(l)
	if len(sourceLevels(theirs)) < 2 { // one value is a sentence rather than a chart
		f.SVG = template.HTML(l.SVG())
		if len(theirs) > 0 {
			f.Caption += fmt.Sprintf(" The one value in %s: %s", s.sourceID(), strings.TrimSpace(s.describeSource(theirs)))
		}
		return f
	}
	l.Width = besideWidth
	f.Panels = []panel{{"Here", template.HTML(l.SVG())}, {"In " + s.sourceID() + ", on its own machine", template.HTML(s.source(theirs, nth).SVG())}}
	f.Caption += " The source’s values are from its own machine and have a scale of their own: order and shape can be compared, rates cannot."
	return f
}

// measured draws ours.
func (s *sweep) measured(ours []int, nth int) (l plot.Lines, fitted bool) {
	u := unitFor(s.metric, largest(s.Conditions, s.metric))
	l = plot.Lines{ID: s.id("sweep", nth), Title: s.title(), Description: s.describe(s.metric, s.conditions(ours)), X: s.axis.drawn(),
		Y: plot.Axis{Label: axisLabel(s.metric, u), Log: s.farApart(ours)}}
	l.Y.Zero = !l.Y.Log
	for n, i := range ours {
		l.Series = append(l.Series, s.series(s.ours[i], n, u))
	}
	if s.axis.field == "length" && nth == 0 {
		fits := s.fitSeries(s.metric, u)
		for _, f := range fits {
			l.Series = append(l.Series, s.placed(f))
		}
		fitted = len(fits) > 0
	}
	return l, fitted
}

// placed puts points whose X is a level where the axis has it.
func (s *sweep) placed(series plot.Series) plot.Series {
	for i := range series.Points {
		series.Points[i].X = s.axis.place(level{value: series.Points[i].X})
	}
	return series
}

func (s *sweep) conditions(ours []int) (out []int) {
	for _, i := range ours {
		out = append(out, s.ours[i].conditions...)
	}
	return out
}

// style of a line; levels that are no numbers have nothing between them.
func (s *sweep) style(n int) plot.Style {
	style := plot.Ours(n)
	if !s.axis.numbers {
		style.Dash = plot.NoLine
	}
	return style
}

// series is one of our lines.
func (s *sweep) series(l line, n int, u unit) plot.Series {
	out := plot.Series{Name: l.name, Style: s.style(n)}
	for _, i := range l.conditions {
		at, _ := s.axis.of(s.Conditions[i].Condition)
		out.Points = append(out.Points, s.point(s.axis.place(at), i, s.metric, u))
	}
	return out
}

// farApart tells lines that a scale from zero would flatten.
func (s *sweep) farApart(ours []int) bool {
	least, most := 0., 0.
	for _, i := range s.conditions(ours) {
		v := centre(s.Conditions[i].Metrics[s.metric])
		if v <= 0 {
			return false
		}
		if least == 0 || v < least {
			least = v
		}
		most = max(most, v)
	}
	return least > 0 && most/least > 100
}
