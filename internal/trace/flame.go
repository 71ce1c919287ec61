package trace

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"html"
	"io"
	"slices"
	"strings"
)

// Folded writes a line for each stack: its frames from the outermost, and its samples.
func (p Profile) Folded(w io.Writer) error {
	var b strings.Builder
	for _, s := range p.Stacks {
		fmt.Fprintf(&b, "%s %d\n", s.folded(), s.Samples)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// call is a frame with all that was called from it.
type call struct {
	name    string
	samples uint64
	calls   []*call
}

// tree puts the stacks together: hops, programs, frames.
func (p Profile) tree() *call {
	root := &call{name: "all"}
	for _, s := range p.Stacks {
		root.samples += s.Samples
		at := root
		for _, name := range strings.Split(s.folded(), ";") {
			at = at.to(name)
			at.samples += s.Samples
		}
	}
	root.sort()
	return root
}

func (c *call) to(name string) *call {
	for _, known := range c.calls {
		if known.name == name {
			return known
		}
	}
	next := &call{name: name}
	c.calls = append(c.calls, next)
	return next
}

func (c *call) sort() {
	slices.SortFunc(c.calls, func(a, b *call) int { return strings.Compare(a.name, b.name) })
	for _, next := range c.calls {
		next.sort()
	}
}

func (c *call) depth() int {
	deepest := 0
	for _, next := range c.calls {
		deepest = max(deepest, next.depth())
	}
	return 1 + deepest
}

// The measures of the picture, in pixels.
const (
	flameWidth  = 1200.
	flameRow    = 17
	flameTop    = 40
	flameLetter = 6.6
	// narrowest frame that is drawn
	narrowest = .3
)

// SVG draws the samples as a flame graph that needs nothing else: width is the share
// of samples, each row what the row below it called; hops first, then programs. What a
// frame is and its share show when it is pointed at.
func (p Profile) SVG(w io.Writer) error {
	root := p.tree()
	height := flameTop + flameRow*(root.depth()+1)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" font-family="monospace" font-size="11">`+"\n", flameWidth, height, flameWidth, height)
	fmt.Fprintf(&b, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"8\" y=\"18\" font-size=\"14\">%s</text>\n", html.EscapeString(p.title()))
	b.WriteString("<text x=\"8\" y=\"33\" fill=\"#555\">width is the share of samples; a frame's callers lie below it: hop, program, functions</text>\n")
	if root.samples > 0 {
		root.draw(&b, root.samples, 0, float64(height-flameRow))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (p Profile) title() string {
	return fmt.Sprintf("chain %s, %.3g s: %d samples at work, %d idle, %d Hz on each core", p.Chain, p.DurationS, p.Samples, p.Idle, p.Frequency)
}

func (c *call) draw(b *strings.Builder, all uint64, x, y float64) {
	width := flameWidth * float64(c.samples) / float64(all)
	if width < narrowest {
		return
	}
	fmt.Fprintf(b, `<g><title>%s: %d samples, %.2f%%</title><rect x="%.2f" y="%.0f" width="%.2f" height="%d" fill="%s" stroke="#fff" stroke-width=".5"/>`,
		html.EscapeString(c.name), c.samples, 100*float64(c.samples)/float64(all), x, y, width, flameRow-1, colour(c.name))
	if letters := int((width - 6) / flameLetter); letters >= 3 {
		fmt.Fprintf(b, `<text x="%.2f" y="%.0f">%s</text>`, x+3, y+12, html.EscapeString(shortened(c.name, letters)))
	}
	b.WriteString("</g>\n")
	for _, next := range c.calls {
		next.draw(b, all, x, y-flameRow)
		x += flameWidth * float64(next.samples) / float64(all)
	}
}

func shortened(name string, letters int) string {
	runes := []rune(name)
	if len(runes) <= letters {
		return name
	}
	return string(runes[:letters-1]) + "…"
}

// colour is a warm one, the same for the same function everywhere.
func colour(name string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	n := h.Sum32()
	return fmt.Sprintf("hsl(%d,75%%,%d%%)", 15+n%40, 62+n/64%16)
}

// busiest is how many functions of a hop are named.
const busiest = 5

// Text writes each hop's share of the samples, and the functions that cores were in.
func (p Profile) Text(w io.Writer) error {
	var b strings.Builder
	b.WriteString(p.title() + "\n")
	root := p.tree()
	slices.SortFunc(root.calls, func(x, y *call) int { return cmp.Compare(y.samples, x.samples) })
	for _, hop := range root.calls {
		fmt.Fprintf(&b, "\n%s: %.1f%%\n", hop.name, 100*float64(hop.samples)/float64(root.samples))
		own := map[string]uint64{}
		for _, program := range hop.calls {
			program.innermost(own)
		}
		names := []string{}
		for name := range own {
			names = append(names, name)
		}
		slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(own[y], own[x]), strings.Compare(x, y)) })
		for _, name := range names[:min(busiest, len(names))] {
			fmt.Fprintf(&b, "  %5.1f%%  %s\n", 100*float64(own[name])/float64(root.samples), name)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// innermost sums the samples of calls that called nothing more.
func (c *call) innermost(own map[string]uint64) {
	rest := c.samples
	for _, next := range c.calls {
		next.innermost(own)
		rest -= next.samples
	}
	if rest > 0 {
		own[c.name] += rest
	}
}
