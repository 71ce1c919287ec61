package plot

import (
	"fmt"
	"math"
	"strings"
)

// key is the class that gives a series its colour.
func key(colour int) string { return fmt.Sprintf("k%d", colour%colours) }

// dashes are the stroke patterns of the dashes, long enough to tell apart in print.
var dashes = map[Dash]string{
	Dashed:  ` stroke-dasharray="8 4"`,
	Dotted:  ` stroke-dasharray="2 3.5"`,
	DashDot: ` stroke-dasharray="9 3.5 2 3.5"`,

	LongDash:   ` stroke-dasharray="18 6"`,
	DashDotDot: ` stroke-dasharray="12 3.5 2 3.5 2 3.5"`,
	ShortDash:  ` stroke-dasharray="5 3"`,
}

// mark draws a marker centred on x, y.
func (c *canvas) mark(s Style, x, y float64) {
	class := key(s.Colour) + " fill"
	if s.Open {
		class = key(s.Colour) + " open"
	}
	const r = 4.4
	switch s.Marker {
	case Circle:
		c.circle(class, x, y, r)
	case Square:
		c.path(class, polygon(x, y, -r*.9, -r*.9, r*.9, -r*.9, r*.9, r*.9, -r*.9, r*.9), "")
	case Triangle:
		c.path(class, polygon(x, y, 0, -r*1.2, r*1.1, r*.8, -r*1.1, r*.8), "")
	case Wedge:
		c.path(class, polygon(x, y, 0, r*1.2, r*1.1, -r*.8, -r*1.1, -r*.8), "")
	case Diamond:
		c.path(class, polygon(x, y, 0, -r*1.3, r*1.3, 0, 0, r*1.3, -r*1.3, 0), "")
	case Cross:
		d := fmt.Sprintf("M%s %sL%s %sM%s %sL%s %s", px(x-r), px(y-r), px(x+r), px(y+r), px(x-r), px(y+r), px(x+r), px(y-r))
		c.path(key(s.Colour)+" line", d, "")
	case NoMarker:
	}
}

// polygon is the path through offsets from x, y.
func polygon(x, y float64, offsets ...float64) string {
	var b strings.Builder
	for i := 0; i < len(offsets); i += 2 {
		b.WriteString([]string{"L", "M"}[b2i(i == 0)])
		b.WriteString(px(x+offsets[i]) + " " + px(y+offsets[i+1]))
	}
	return b.String() + "Z"
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// lone is half the length of what is drawn of a value without neighbours.
const lone = 2

// curve is the path through points, broken where one has no value: a line from one side
// of a gap to the other would tell of what was not measured.
func curve(xs, ys []float64) string {
	var b strings.Builder
	has := func(i int) bool { return i >= 0 && i < len(xs) && drawable(xs[i], ys[i]) }
	for i := range xs {
		switch {
		case !has(i):
		case has(i - 1):
			b.WriteString("L" + px(xs[i]) + " " + px(ys[i]))
		case has(i + 1):
			b.WriteString("M" + px(xs[i]) + " " + px(ys[i]))
		default:
			b.WriteString("M" + px(xs[i]-lone) + " " + px(ys[i]) + "h" + px(2*lone))
		}
	}
	return b.String()
}

// drawable tells a point that has a place.
func drawable(x, y float64) bool { return !math.IsNaN(x+y) && !math.IsInf(x+y, 0) }
