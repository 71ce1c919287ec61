package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/report/plot"
)

// fitSeries draws each model over every whole length between its points.
func (r Report) fitSeries(metric string, u unit) (series []plot.Series) {
	for _, f := range r.Fits {
		if f.Metric != metric || len(f.Points) < 2 {
			continue
		}
		s := plot.Series{Name: fitName(f), Style: plot.Style{Colour: 4, Dash: plot.Dashed}}
		for _, p := range f.Points {
			s.Points = append(s.Points, plot.Point{X: float64(p.Length), Y: p.Predicted / u.factor})
		}
		s.Points = geometric(s.Points)
		series = append(series, s)
	}
	return series
}

// fitName is "model loss: l = 0.099 [0.081, 0.118]".
func fitName(f experiment.Fit) string {
	name := "model " + f.Name
	for i, p := range f.Params {
		if u := paramUnit(f, p); u.name == "" {
			name += fmt.Sprintf("%s %s = %s", []string{":", ","}[min(i, 1)], p.Name, centredText(u, p))
		}
	}
	return name
}

// centredText is a parameter with its interval.
func centredText(u unit, p experiment.Param) string {
	value, interval := u.centred(p.Value, p.CI95)
	return strings.TrimSpace(value + " " + interval)
}

// geometric fills in the whole numbers between points, so that a law that loses
// a fixed share per step is drawn as the curve it is. Where a value is not
// positive the points stay as they are.
func geometric(points []plot.Point) (out []plot.Point) {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b plot.Point) int { return int(a.X - b.X) })
	for i, p := range points {
		if i > 0 {
			out = append(out, between(points[i-1], p)...)
		}
		out = append(out, p)
	}
	return out
}

func between(a, b plot.Point) (out []plot.Point) {
	if a.Y <= 0 || b.Y <= 0 {
		return nil
	}
	for x := a.X + 1; x < b.X; x++ {
		share := (x - a.X) / (b.X - a.X)
		out = append(out, plot.Point{X: x, Y: a.Y * math.Pow(b.Y/a.Y, share)})
	}
	return out
}
