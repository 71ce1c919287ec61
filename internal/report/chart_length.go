package report

import (
	"html/template"
	"maps"
	"slices"
	"strconv"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
)

// lengthFigures has a chart over the length of the chain for each metric that
// experiments are about.
func (r Report) lengthFigures() (out []figure) {
	for _, metric := range slices.Concat(carried, []string{"latency_p50_ns", "latency_p99_ns", "one_way_latency_p50_ns", "one_way_latency_p99_ns"}) {
		if largest(r.Conditions, metric) > 0 {
			out = append(out, r.lengthFigure(metric))
			if r.hasReference(metric) {
				out = append(out, r.shapeFigure(metric))
			}
		}
	}
	return out
}

func (r Report) lengthFigure(metric string) figure {
	u := unitFor(metric, max(largest(r.Conditions, metric), r.largestReference(metric)))
	ours, at := r.ourSeries(metric, u)
	l := plot.Lines{ID: "length-" + metric, Title: metricName(metric) + " over the length of the chain", Description: r.describe(metric, r.measured(metric)),
		X:      plot.Axis{Label: "length of the chain (namespaces, both ends included)", At: at, Zero: true},
		Y:      plot.Axis{Label: axisLabel(metric, u), Zero: true, Log: r.farFromSource(metric)},
		Series: ours}
	l.Series = append(l.Series, r.sourceSeries(metric, u)...)
	fits := r.fitSeries(metric, u)
	l.Series = append(l.Series, fits...)
	l.Y.Zero = !l.Y.Log
	caption := howToRead
	if len(l.Series)-len(fits) > len(ours) {
		caption += " Open markers are the source's values, from its own machine."
	}
	if len(fits) > 0 {
		caption += " Dashed lines are fitted models, drawn beyond the lengths that they were fitted to as well."
	}
	if l.Y.Log {
		caption += " The scale is logarithmic, since the source's values are far from ours."
	}
	return figure{Title: upperFirst(l.Title), Caption: caption, SVG: template.HTML(l.SVG())}
}

// ourSeries has one line for each combination of the other factors.
func (r Report) ourSeries(metric string, u unit) (series []plot.Series, lengths []float64) {
	name, at := labels(r.Conditions, "length"), map[string]int{}
	for _, i := range r.measured(metric) {
		c := r.Conditions[i].Condition
		k := name.of(c)
		if _, known := at[k]; !known {
			at[k] = len(series)
			series = append(series, plot.Series{Name: k, Style: plot.Ours(len(series))})
		}
		x := float64(c.Length)
		series[at[k]].Points = append(series[at[k]].Points, r.point(x, i, metric, u))
		if !slices.Contains(lengths, x) {
			lengths = append(lengths, x)
		}
	}
	for _, s := range series {
		slices.SortStableFunc(s.Points, func(a, b plot.Point) int { return int(a.X - b.X) })
	}
	slices.Sort(lengths)
	return series, lengths
}

// sourceSeries has the source's values, one series for each combination of the
// other factors, in open markers.
func (r Report) sourceSeries(metric string, u unit) (series []plot.Series) {
	markers, at := []plot.Marker{plot.Diamond, plot.Square, plot.Circle, plot.Triangle}, map[string]int{}
	for _, ref := range r.References {
		length, has := lengthOf(ref)
		if ref.Metric != metric || !has {
			continue
		}
		others := maps.Clone(ref.At)
		delete(others, "length")
		k := r.sourceName(others)
		if _, known := at[k]; !known {
			n := len(series)
			at[k] = n
			series = append(series, plot.Series{Name: k, Style: plot.Style{Colour: 5 - n%2, Marker: markers[n%len(markers)], Open: true}})
		}
		series[at[k]].Points = append(series[at[k]].Points, plot.Point{X: length, Y: ref.Value / u.factor})
	}
	return series
}

func (r Report) sourceName(others map[string]any) string {
	name := "source"
	if r.Source != nil {
		name = r.Source.ID
	}
	if len(others) == 0 {
		return name
	}
	return name + ", " + experiment.Describe(others)
}

// lengthOf is the length that a value of the source belongs to.
func lengthOf(ref api.Reference) (float64, bool) {
	length, err := strconv.ParseFloat(factorText(ref.At["length"]), 64)
	return length, err == nil
}
