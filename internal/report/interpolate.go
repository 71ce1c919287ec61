package report

import (
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/report/plot"
)

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
