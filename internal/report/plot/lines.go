package plot

import (
	"cmp"
	"math"
)

// Series is values that belong together, drawn in one style.
type Series struct {
	Name   string
	Points []Point
	Style  Style
}

// Lines is a chart of series over an axis of numbers or names.
type Lines struct {
	// ID makes the chart's element ids unique in its page.
	ID          string
	Title       string
	Description string
	X, Y        Axis
	Series      []Series
	// Width of the chart in CSS pixels; 0 for that of a page. One that is to stand beside
	// another is narrower.
	Width float64
}

// The size of a chart of lines, without its legend.
const (
	chartWidth = 760
	plotHeight = 300
	topMargin  = 14
)

// wide is the chart's width.
func (l Lines) wide() float64 { return cmp.Or(l.Width, chartWidth) }

// SVG draws the chart.
func (l Lines) SVG() string {
	c := &canvas{id: l.ID}
	y, yTicks := l.Y.span(l.values())
	left := 34 + widest(yTicks)
	l.Width = l.widened(left)
	names := l.naming(left)
	rows := legendRows(l.entries(c), l.wide()-left)
	height := topMargin + plotHeight + 52 + names.more + float64(len(rows))*legendRow
	c.begin(l.wide(), height, l.Title, l.Description)
	y.from, y.to = topMargin+plotHeight, topMargin
	x := l.across(left)
	c.rules(y, yTicks, left, l.wide()-12)
	c.upright(14, topMargin+plotHeight/2, l.Y.Label)
	l.bottom(c, x, left, names)
	l.series(c, x, y)
	c.legend(rows, left, topMargin+plotHeight+64+names.more)
	return c.end()
}

// values are all that the Y axis must hold.
func (l Lines) values() (out []float64) {
	for _, s := range l.Series {
		for _, p := range s.Points {
			out = append(out, p.Y)
			for _, v := range p.around() {
				if !l.Y.Log || v > 0 { // else a bar begins at the end of the axis
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// around a point are its trials and the ends of its interval.
func (p Point) around() []float64 {
	if p.CI == nil {
		return p.Dots
	}
	return append(p.CI[:], p.Dots...)
}

// Logarithmic tells whether the chart's upright scale is one, as was asked for: it is not
// where a point has no place on it.
func (l Lines) Logarithmic() bool {
	y, _ := l.Y.span(l.values())
	return y.log
}

// OffScale is how many trials have no place on the upright scale.
func (l Lines) OffScale() (n int) {
	y, _ := l.Y.span(l.values())
	for _, s := range l.Series {
		for _, p := range s.Points {
			for _, d := range p.Dots {
				n += b2i(!y.holds(d))
			}
		}
	}
	return n
}

// across is the X axis.
func (l Lines) across(left float64) scale {
	s := scale{from: left, to: l.wide() - 12}
	if len(l.X.Names) > 0 {
		s.lo, s.hi = -.5, float64(len(l.X.Names))-.5
		return s
	}
	var xs []float64
	for _, series := range l.Series {
		for _, p := range series.Points {
			xs = append(xs, p.X)
		}
	}
	full, _ := l.X.span(xs)
	s.lo, s.hi, s.log = full.lo, full.hi, full.log
	if len(l.X.At) > 0 { // no need to end on a tick: end a little outside the last, or with the points
		last := l.X.At[len(l.X.At)-1]
		s.hi = max(last+(last-s.lo)*.05, largest(xs))
		s.widen(l.X.At[0], last, l.room())
	}
	return s
}

// farthest is how far apart the markers of two series at one position are at most.
const farthest = 16

// room is what markers take on either side of their position, in pixels.
func (l Lines) room() float64 {
	if l.marked() == 0 {
		return 0
	}
	return farthest/2*float64(l.marked()-1) + 6
}

// widen the scale so that what stands beside the first and the last position is within it.
func (s *scale) widen(first, last, room float64) {
	if free := s.to - s.from - 2*room; room > 0 && free > 0 {
		more := (last - first) * room / free
		s.lo, s.hi = min(s.lo, first-more), max(s.hi, last+more)
	}
}

// marked is how many series have markers.
func (l Lines) marked() (n int) {
	for _, s := range l.Series {
		n += b2i(s.Style.Marker != NoMarker)
	}
	return n
}

// largest of values that are numbers.
func largest(values []float64) float64 {
	most := math.Inf(-1)
	for _, v := range values {
		if v > most && !math.IsInf(v, 1) {
			most = v
		}
	}
	return most
}

// widest is how much room the labels of ticks take.
func widest(ticks []float64) (w float64) {
	for _, t := range ticks {
		w = max(w, width(tickText(t, ticks)))
	}
	return w
}

// rules draws the Y axis with its grid.
func (c *canvas) rules(y scale, ticks []float64, left, right float64) {
	for _, t := range ticks {
		c.line("grid", left, y.at(t), right, y.at(t))
		c.text("", "end", left-7, y.at(t)+4, tickText(t, ticks))
	}
	c.line("axis", left, y.from, left, y.to)
}

// base is where the X axis lies.
const base = topMargin + plotHeight

// bottom draws the X axis.
func (l Lines) bottom(c *canvas, x scale, left float64, names naming) {
	c.line("axis", left, base, l.wide()-12, base)
	ticks, _ := l.ticks()
	for _, t := range ticks {
		c.line("axis", x.at(t), base, x.at(t), base+5)
	}
	if len(names.lines) > 0 {
		names.draw(c, x)
	} else {
		l.labels(c, x, left)
	}
	c.text("", "middle", (x.from+x.to)/2, base+39+names.more, l.X.Label)
}

// labels writes those of the ticks that do not cover the one before.
func (l Lines) labels(c *canvas, x scale, left float64) (dropped bool) {
	ticks, names := l.ticks()
	free := left - 100
	for i, t := range ticks {
		w := width(names[i])
		if at := min(x.at(t), l.wide()-w/2); at-w/2 > free {
			c.text("", "middle", at, base+19, names[i])
			free = at + w/2 + 9
		} else {
			dropped = true
		}
	}
	return dropped
}

func (l Lines) ticks() (at []float64, names []string) {
	if len(l.X.Names) > 0 {
		for i := range l.X.Names {
			at = append(at, float64(i))
		}
		return at, l.X.Names
	}
	if at = l.X.At; len(at) == 0 {
		var xs []float64
		for _, s := range l.Series {
			for _, p := range s.Points {
				xs = append(xs, p.X)
			}
		}
		_, at = l.X.span(xs)
	}
	if len(l.X.AtNames) == len(at) && len(at) > 0 {
		return at, l.X.AtNames
	}
	for _, t := range at {
		names = append(names, tickText(t, at))
	}
	return at, names
}
