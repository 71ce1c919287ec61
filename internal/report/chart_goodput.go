package report

import (
	"fmt"
	"html/template"
	"math"

	"nfchain.dev/nfchain/internal/report/plot"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// The kinds of bar, by path.
var pathKinds = []plot.Kind{
	{Name: "through the chain", Colour: 0, Hatch: plot.Rising},
	{Name: "direct path", Colour: 1, Hatch: plot.Empty},
}

// carried are the metrics of what a chain carries, and what it loses.
var carried = []string{
	"goodput_bps", "throughput_bps", "throughput_pps", "ndr_conditional_throughput_pps", "pdr_conditional_throughput_pps",
	"forwarding_rate_pps", "transactions_per_second", "requests_per_second", "loss_ratio", "error_ratio",
}

// goodputFigures has a chart of bars for goodput and its like, and one for loss where any was.
func (r Report) goodputFigures() (out []figure) {
	for _, metric := range carried {
		if largest(r.Conditions, metric) > 0 {
			out = append(out, r.barFigure(metric))
		}
	}
	return out
}

func (r Report) barFigure(metric string) figure {
	u := unitFor(metric, largest(r.Conditions, metric))
	name := words.Metric(metric)
	bars := plot.Bars{ID: r.prefix + "bars-" + metric, Title: name + " of every condition", Kinds: pathKinds,
		X: plot.Axis{Label: axisLabel(metric, u)}, Groups: r.barGroups(metric, u)}
	bars.Description = r.describe(metric, r.measured(metric))
	caption := r.howToRead(r.measured(metric), metric)
	if len(r.pairs()) > 0 {
		caption = "Chain against direct path. " + caption
	}
	return figure{Title: upperFirst(name), Caption: caption, SVG: template.HTML(bars.SVG())}
}

// barGroups puts the paths of one condition side by side.
func (r Report) barGroups(metric string, u unit) (groups []plot.Group) {
	name, at := labels(r.Conditions, "path", "length"), map[string]int{}
	for _, i := range r.measured(metric) {
		c := r.Conditions[i]
		k := key(c.Condition, false)
		if _, known := at[k]; !known {
			at[k] = len(groups)
			groups = append(groups, plot.Group{Name: name.of(c.Condition)})
		}
		p := r.point(0, i, metric, u)
		bar := plot.Bar{CI: p.CI, Dots: p.Dots, Text: summaryValue(metric, c.Metrics[metric]),
			Parts: []plot.Part{{Kind: pathKind(c.Path), Value: p.Y}}}
		groups[at[k]].Bars = append(groups[at[k]].Bars, bar)
	}
	return groups
}

func pathKind(path string) int {
	if path == trial.PathDirect {
		return 1
	}
	return 0
}

// describe is a chart of some conditions in words, for those who do not see it.
func (r Report) describe(metric string, conditions []int) (text string) {
	name := labels(r.Conditions)
	for _, i := range conditions {
		c, what := r.Conditions[i], "drawn"
		if s, has := c.Metrics[metric]; has {
			what = summaryText(metric, s)
		}
		text += fmt.Sprintf("%s: %s. ", name.of(c.Condition), what)
	}
	return text
}

func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// finite tells a value that can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
