package plot

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf8"
)

// canvas collects the elements of one SVG. Lengths are CSS pixels.
type canvas struct {
	strings.Builder
	id string
}

// style is the style sheet of every chart.
const style = `<style>
.nf{font:12px system-ui,-apple-system,"Segoe UI","Helvetica Neue",Arial,sans-serif;fill:var(--ink,#1b1f24)}
.nf .axis{stroke:var(--ink,#1b1f24);stroke-width:1;fill:none}
.nf .grid{stroke:var(--faint,#dfe3e8);stroke-width:1;fill:none}
.nf .soft{fill:var(--soft,#57606a)}
.nf .halo{stroke:var(--paper,#fff);stroke-width:4;paint-order:stroke;stroke-linejoin:round}
` + `.nf .k0{color:var(--c0,#0b4f9e)}.nf .k1{color:var(--c1,#c2570c)}.nf .k2{color:var(--c2,#2f7d4f)}` +
	`.nf .k3{color:var(--c3,#8a3ea8)}.nf .k4{color:var(--c4,#6b5a00)}.nf .k5{color:var(--c5,#b3263c)}
.nf .fill{fill:currentColor;stroke:currentColor;stroke-width:1.6}
.nf .open{fill:var(--paper,#fff);stroke:currentColor;stroke-width:1.8}
.nf .line{fill:none;stroke:currentColor;stroke-width:1.8}
.nf .dot{fill:currentColor;fill-opacity:.45;stroke:none}
.nf .trial{fill:var(--paper,#fff);stroke:var(--ink,#1b1f24);stroke-width:.9}
.nf .error{fill:none;stroke:currentColor;stroke-width:1.4}
.nf .whisker{fill:none;stroke:var(--ink,#1b1f24);stroke-width:1.4}
.nf .under{fill:none;stroke:var(--paper,#fff);stroke-width:3.4;stroke-opacity:.85}
.nf .bar{stroke:currentColor;stroke-width:1.2}
.nf .paper{fill:var(--paper,#fff)}
.nf .hatch{fill:none;stroke:currentColor;stroke-width:1.3}
.nf .points{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linecap:round}
</style>`

// printf adds to the drawing, which is in memory and takes everything.
func (c *canvas) printf(format string, args ...any) { _, _ = fmt.Fprintf(c, format, args...) }

// begin opens the SVG with what a screen reader tells of it.
func (c *canvas) begin(width, height float64, title, description string) {
	c.open(width, height, title, description, style)
}

// open is begin with another style sheet.
func (c *canvas) open(width, height float64, title, description, style string) {
	c.id = cleanID(c.id)
	c.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="nf" role="img" viewBox="0 0 %s %s" width="%s" height="%s" aria-labelledby="%s-t %s-d">`,
		px(width), px(height), px(width), px(height), c.id, c.id)
	c.printf(`<title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s`,
		c.id, html.EscapeString(title), c.id, html.EscapeString(description), style)
}

// cleanID has what is no letter, digit, hyphen or low line by its number, so that ids
// stay apart and none ends its attribute or is two in aria-labelledby: some are made of
// names that others wrote.
func cleanID(id string) string {
	var b strings.Builder
	for _, r := range id {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "_%x_", r)
		}
	}
	return b.String()
}

func (c *canvas) end() string {
	c.WriteString("</svg>")
	return c.String()
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.printf(`<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, px(x1), px(y1), px(x2), px(y2))
}

func (c *canvas) path(class, d string, more string) {
	c.printf(`<path class="%s" d="%s"%s/>`, class, d, more)
}

func (c *canvas) circle(class string, x, y, r float64) {
	c.printf(`<circle class="%s" cx="%s" cy="%s" r="%s"/>`, class, px(x), px(y), px(r))
}

// text writes s with its anchor (start, middle, end) at x and its baseline at y.
func (c *canvas) text(class, anchor string, x, y float64, s string) {
	c.printf(`<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, px(x), px(y), html.EscapeString(s))
}

// hanging writes s upwards with its end at x, y.
func (c *canvas) hanging(x, y float64, s string) {
	c.printf(`<text text-anchor="end" transform="translate(%s %s) rotate(-90)">%s</text>`, px(x), px(y), html.EscapeString(s))
}

// upright writes s upwards along the left edge, centred on y.
func (c *canvas) upright(x, y float64, s string) {
	c.printf(`<text text-anchor="middle" transform="translate(%s %s) rotate(-90)">%s</text>`, px(x), px(y), html.EscapeString(s))
}

// px writes a length with as many digits as a screen shows.
func px(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	s := strings.TrimRight(fmt.Sprintf("%.2f", x), "0")
	if s = strings.TrimSuffix(s, "."); s == "-0" {
		return "0"
	}
	return s
}

// width estimates how long a text is at the charts' size, rather too long.
func width(s string) float64 { return 6.7 * float64(utf8.RuneCountInString(s)) }
