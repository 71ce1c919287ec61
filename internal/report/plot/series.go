package plot

import "math"

// series draws curves first, then errors, trials and markers, so that no curve
// crosses a marker.
func (l Lines) series(c *canvas, x, y scale) {
	for i, s := range l.Series {
		xs, ys := l.pixels(i, x, y)
		if s.Style.Dash != NoLine {
			c.path(key(s.Style.Colour)+" line", curve(xs, ys), dashes[s.Style.Dash])
		}
	}
	for i, s := range l.Series {
		xs, ys := l.pixels(i, x, y)
		for j, p := range s.Points {
			c.point(s.Style, p, xs[j], ys[j], y)
		}
	}
}

// point draws one value: its trials a little to the right, where the error bar
// does not cover them.
func (c *canvas) point(s Style, p Point, x, py float64, y scale) {
	if !drawable(x, py) {
		return
	}
	if p.CI != nil && y.holds(p.CI[1]) {
		c.whisker(key(s.Colour)+" error", x, y.at(max(p.CI[0], y.lo)), y.at(p.CI[1]))
	}
	for _, d := range p.Dots {
		if y.holds(d) {
			c.circle(key(s.Colour)+" dot", x+8, y.at(d), 1.9)
		}
	}
	c.mark(s, x, py)
}

// whisker draws an upright error bar.
func (c *canvas) whisker(class string, x, lo, hi float64) {
	c.line(class, x, lo, x, hi)
	c.line(class, x-4, lo, x+4, lo)
	c.line(class, x-4, hi, x+4, hi)
}

// pixels places a series, beside the others where they share positions.
func (l Lines) pixels(series int, x, y scale) (xs, ys []float64) {
	shift := l.shift(series, x)
	for _, p := range l.Series[series].Points {
		xs, ys = append(xs, x.at(p.X)+shift), append(ys, y.at(p.Y))
	}
	return xs, ys
}

// shift keeps the markers of several series apart. Curves without markers stay.
func (l Lines) shift(series int, x scale) float64 {
	marked, mine := l.marked(), Lines{Series: l.Series[:series]}.marked()
	if l.Series[series].Style.Marker == NoMarker {
		return 0
	}
	step := min(farthest, .7*l.gap(x)/float64(max(marked, 1)))
	return (float64(mine) - float64(marked-1)/2) * step
}

// gap is the least distance between two positions, in pixels.
func (l Lines) gap(x scale) float64 {
	least := math.Inf(1)
	for _, s := range l.Series {
		if s.Style.Marker == NoMarker {
			continue
		}
		for i := 1; i < len(s.Points); i++ {
			least = min(least, math.Abs(x.at(s.Points[i].X)-x.at(s.Points[i-1].X)))
		}
	}
	return least
}

// entries explain the series, and what the errors and dots are.
func (l Lines) entries(c *canvas) (out []entry) {
	for _, s := range l.Series {
		if s.Name == "" { // another of the series before
			continue
		}
		out = append(out, entry{s.Name, func(x, y float64) { c.sample(s.Style, x, y) }})
	}
	return out
}

// sample draws a style for a legend.
func (c *canvas) sample(s Style, x, y float64) {
	if s.Dash != NoLine {
		c.path(key(s.Colour)+" line", curve([]float64{x, x + sampleWidth}, []float64{y, y}), dashes[s.Dash])
	}
	c.mark(s, x+sampleWidth/2, y)
}
