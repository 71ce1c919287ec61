package plot

import "math"

// Span is an interval beside the range in which it should lie, in one row, to stand
// under a sentence.
type Span struct {
	// ID makes the chart's element ids unique in its page.
	ID          string
	Title       string
	Description string
	Estimate    float64
	// CI is the interval; nil for none.
	CI *[2]float64
	// AtLeast and AtMost bound the range; nil where it has no end.
	AtLeast, AtMost *float64
	// Text writes a value of the axis.
	Text func(float64) string
}

// The size of a span.
const (
	spanWidth  = 340
	spanHeight = 46
	spanEdge   = 14
	spanRow    = 15
	spanText   = 41
)

// spanStyle is short because a page has many spans.
const spanStyle = `<style>
.nf{font:12px system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;fill:var(--ink,#1b1f24)}
.nf .axis{stroke:var(--ink,#1b1f24);stroke-width:1;fill:none}
.nf .grid{stroke:var(--faint,#dfe3e8);stroke-width:1;fill:none}
.nf .soft{fill:var(--soft,#57606a)}
.nf .band{fill:var(--c2,#2f7d4f);fill-opacity:.18}
.nf .bound{stroke:var(--c2,#2f7d4f);stroke-width:1.6;fill:none}
.nf .span{stroke:var(--ink,#1b1f24);stroke-width:2.6;fill:none}
.nf .best{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:1.8}
</style>`

// SVG draws the span.
func (s Span) SVG() string {
	c := &canvas{id: s.ID}
	c.open(spanWidth, spanHeight, s.Title, s.Description, spanStyle)
	x := s.scale()
	s.band(c, x)
	c.line("grid", x.from, spanRow, x.to, spanRow)
	if s.CI != nil {
		lo, hi := x.within(s.CI[0]), x.within(s.CI[1])
		c.line("span", lo, spanRow, hi, spanRow)
		c.line("span", lo, spanRow-6, lo, spanRow+6)
		c.line("span", hi, spanRow-6, hi, spanRow+6)
	}
	c.circle("best", x.within(s.Estimate), spanRow, 4.4)
	s.labels(c, x)
	return c.end()
}

// scale holds the estimate, its interval and the ends of the range, with some room
// around them.
func (s Span) scale() scale {
	values := []float64{s.Estimate}
	if s.CI != nil {
		values = append(values, s.CI[:]...)
	}
	for _, bound := range []*float64{s.AtLeast, s.AtMost} {
		if bound != nil {
			values = append(values, *bound)
		}
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 0, 1
	}
	room := .12 * (hi - lo)
	if room == 0 {
		room = max(math.Abs(hi)*.1, 1e-9)
	}
	return scale{lo: lo - room, hi: hi + room, from: spanEdge, to: spanWidth - spanEdge}
}

// within is the pixel of a value, or the nearer end of the axis for one outside.
func (s scale) within(v float64) float64 {
	if math.IsNaN(v) {
		v = s.lo
	}
	return s.at(max(s.lo, min(s.hi, v)))
}

// band draws the range: open at the side where it has no end.
func (s Span) band(c *canvas, x scale) {
	from, to := x.from, x.to
	if s.AtLeast != nil {
		from = x.within(*s.AtLeast)
	}
	if s.AtMost != nil {
		to = x.within(*s.AtMost)
	}
	c.printf(`<rect class="band" x="%s" y="4" width="%s" height="22"/>`, px(from), px(max(0, to-from)))
	if s.AtLeast != nil {
		c.line("bound", from, 2, from, 28)
	}
	if s.AtMost != nil {
		c.line("bound", to, 2, to, 28)
	}
}

// labels writes the ends of the range, in one text where two would overlap.
func (s Span) labels(c *canvas, x scale) {
	if s.Text == nil {
		return
	}
	write := func(at float64, text string) {
		half := width(text) / 2
		c.text("soft", "middle", max(half, min(spanWidth-half, at)), spanText, text)
	}
	switch {
	case s.AtLeast != nil && s.AtMost != nil:
		lo, hi, least, most := x.within(*s.AtLeast), x.within(*s.AtMost), s.Text(*s.AtLeast), s.Text(*s.AtMost)
		if hi-lo < (width(least)+width(most))/2+12 {
			write((lo+hi)/2, least+" to "+most)
			return
		}
		write(lo, least)
		write(hi, most)
	case s.AtLeast != nil:
		write(x.within(*s.AtLeast), s.Text(*s.AtLeast))
	case s.AtMost != nil:
		write(x.within(*s.AtMost), s.Text(*s.AtMost))
	}
}
