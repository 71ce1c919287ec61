package report

import (
	"fmt"
	"html/template"
	"slices"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/words"
)

// searchFigures are the graphs that RFC 2544 asks for: rates by frame size with the
// medium's line (§26.1), latency by frame size (§26.2), loss by load (§26.3).
func (r Report) searchFigures() (out []figure) {
	for _, metric := range []string{"throughput_pps", "ndr_conditional_throughput_pps", "pdr_conditional_throughput_pps", "forwarding_rate_pps",
		"goodput_bps", "loss_ratio", "one_way_latency_p50_ns", "one_way_latency_p99_ns", "tag_latency_ns"} {
		if r.sweepsFrameSize(metric) {
			out = append(out, r.frameSizeFigure(metric))
		}
	}
	return append(out, r.lossFigures()...)
}

// sweepsFrameSize tells a run that measured something with frames of several sizes.
func (r Report) sweepsFrameSize(metric string) bool {
	sizes := map[int]bool{}
	for _, i := range r.measured(metric) {
		if c := r.Conditions[i]; c.FrameSize > 0 && centre(c.Metrics[metric]) > 0 {
			sizes[c.FrameSize] = true
		}
	}
	return len(sizes) > 1
}

func (r Report) frameSizeFigure(metric string) figure {
	u := unitFor(metric, largest(r.Conditions, metric))
	l := plot.Lines{ID: "frames-" + metric, Title: words.Metric(metric) + " by frame size", Description: r.describe(metric, r.measured(metric)),
		X: plot.Axis{Label: "frame size in bytes, with check sequence", Zero: true}, Y: plot.Axis{Label: axisLabel(metric, u), Zero: true}}
	name, at := labels(r.Conditions, "frame_size"), map[string]int{}
	for _, i := range r.measured(metric) {
		c := r.Conditions[i].Condition
		if c.FrameSize == 0 {
			continue
		}
		k := name.of(c)
		if _, known := at[k]; !known {
			at[k] = len(l.Series)
			l.Series = append(l.Series, plot.Series{Name: k, Style: plot.Ours(len(l.Series))})
		}
		s := &l.Series[at[k]]
		s.Points = append(s.Points, r.point(float64(c.FrameSize), i, metric, u))
		if !slices.Contains(l.X.At, float64(c.FrameSize)) {
			l.X.At = append(l.X.At, float64(c.FrameSize))
		}
	}
	slices.Sort(l.X.At)
	for _, s := range l.Series {
		slices.SortStableFunc(s.Points, func(a, b plot.Point) int { return int(a.X - b.X) })
	}
	caption := r.howToRead(r.measured(metric), metric)
	if medium := r.mediumSeries(u); metric == "throughput_pps" && len(medium.Points) > 0 {
		l.Series = append(l.Series, medium)
		caption += " The dashed line is the most that the medium carries (RFC 2544 §20)."
	}
	return figure{Title: upperFirst(l.Title), Caption: caption, SVG: template.HTML(l.SVG())}
}

// mediumSeries is the theoretical rate by frame size, where conditions have one.
func (r Report) mediumSeries(u unit) plot.Series {
	s := plot.Series{Name: "medium", Style: plot.Style{Colour: 4, Dash: plot.Dashed}}
	for _, c := range r.Conditions {
		if c.Search != nil && c.Search.MediumPps > 0 {
			s.Points = append(s.Points, plot.Point{X: float64(c.FrameSize), Y: c.Search.MediumPps / u.Factor})
		}
	}
	slices.SortStableFunc(s.Points, func(a, b plot.Point) int { return int(a.X - b.X) })
	return s
}

// lossFigures draw the loss at every load that a search tried, the first repeat of
// each condition.
func (r Report) lossFigures() (out []figure) {
	var some []Search
	for _, s := range r.Searches {
		if s.Repeat == 1 && len(s.Loads) > 1 {
			some = append(some, s)
		}
	}
	for at := 0; at < len(some); at += manySeries {
		out = append(out, r.lossFigure(some[at:min(at+manySeries, len(some))], at/manySeries))
	}
	return out
}

func (r Report) lossFigure(searches []Search, nth int) figure {
	most, text := 0.0, ""
	for _, s := range searches {
		most = max(most, s.Loads[len(s.Loads)-1].LoadPps)
	}
	u := unitFor("load_pps", most)
	l := plot.Lines{ID: fmt.Sprintf("loss-by-load-%d", nth), Title: "loss by load",
		X: plot.Axis{Label: "load in " + u.Name, Zero: true}, Y: plot.Axis{Label: axisLabel("loss_ratio", unitFor("loss_ratio", 1)), Zero: true}}
	name := labels(r.Conditions)
	for n, s := range searches {
		series := plot.Series{Name: name.of(r.Conditions[s.Condition].Condition), Style: plot.Ours(n)}
		for _, p := range s.Loads {
			series.Points = append(series.Points, plot.Point{X: p.LoadPps / u.Factor, Y: 100 * p.LossRatio})
		}
		l.Series = append(l.Series, series)
		text += series.Name + ": " + lossWords(s) + ". "
	}
	l.Description = text
	return figure{Title: continued("Loss by load", nth), SVG: template.HTML(l.SVG()),
		Caption: "Every load that was tried in the first repeat, all trials of a load together; frames that the generator failed to send count as lost."}
}

func lossWords(s Search) string {
	first, last := s.Loads[0], s.Loads[len(s.Loads)-1]
	return fmt.Sprintf("%s lost at %s, %s at %s", shareText(first.LossRatio), printed("load_pps", first.LoadPps), shareText(last.LossRatio), printed("load_pps", last.LoadPps))
}
