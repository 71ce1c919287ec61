package plot

import (
	_ "embed" // the script
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// zoom is the script that makes a box as wide as the graph. It reads and writes nothing
// but the graph that it is in.
//
//go:embed zoom.js
var zoom string

// Flame is a flame graph: frames as wide as their value, those that a frame called
// above it. A click on one shows it and what it called alone. Nothing tells by how high
// it is or by its place along a row.
type Flame struct {
	// ID must be of its own on a page.
	ID, Title, Description string
	// Unit of the values, such as "samples".
	Unit string
	Root Frame
	// Shades says what each of the shades that occur stands for.
	Shades map[Shade]string
}

// Frame is one box. Its value is at least the sum of its children's.
type Frame struct {
	Name     string
	Value    int
	Shade    Shade
	Children []*Frame
}

// Child of that name and shade, which is made if need be.
func (f *Frame) Child(name string, shade Shade) *Frame {
	for _, c := range f.Children {
		if c.Name == name && c.Shade == shade {
			return c
		}
	}
	c := &Frame{Name: name, Shade: shade}
	f.Children = append(f.Children, c)
	return c
}

// Shade of a box, which can be told from the others without colour.
type Shade int

// The shades.
const (
	Blank Shade = iota // with a broken edge
	Light
	Middle
	Dark
)

var shades = map[Shade]string{
	Blank:  `fill="none" stroke-dasharray="2 1.5"`,
	Light:  `fill="currentColor" fill-opacity=".07"`,
	Middle: `fill="currentColor" fill-opacity=".2"`,
	Dark:   `fill="currentColor" fill-opacity=".38"`,
}

// The measures of a flame graph, in CSS pixels.
const (
	flameWidth  = 1200.
	flameEdge   = 10.
	flameTop    = 58.
	flameRow    = 17.
	flameLetter = 6.3
	// narrowest box that is drawn.
	narrowest = .4
)

// SVG draws the graph.
func (f Flame) SVG() string {
	c := &canvas{id: f.ID}
	scale := 0.
	if f.Root.Value > 0 {
		scale = (flameWidth - 2*flameEdge) / float64(f.Root.Value)
	}
	height := flameTop + flameRow*float64(f.Root.rows(scale)) + flameEdge
	c.begin(flameWidth, height, f.Title, f.Description+" A click on a box makes it as wide as the graph. Boxes narrower than half a pixel are left out.")
	c.printf(`<style>.nf .box{font-size:11px;color:var(--ink,#1b1f24)}.nf .box rect{stroke:currentColor;stroke-width:.5}</style>`)
	c.printf(`<rect width="%s" height="%s" style="fill:var(--paper,#fff)"/>`, px(flameWidth), px(height))
	c.text("", "middle", flameWidth/2, 20, f.Title)
	f.key(c)
	f.box(c, &f.Root, scale, flameEdge, height-flameEdge-flameRow, 0)
	c.printf(`<script type="text/javascript"><![CDATA[%s]]></script>`, zoom)
	return strings.Replace(c.end(), "<svg ", fmt.Sprintf(`<svg data-edge="%s" data-full="%s" data-letter="%s" `,
		px(flameEdge), px(flameWidth-2*flameEdge), px(flameLetter)), 1)
}

// rows that are drawn of a frame and what it called.
func (f *Frame) rows(scale float64) int {
	most := 0
	for _, child := range f.Children {
		if float64(child.Value)*scale >= narrowest {
			most = max(most, child.rows(scale))
		}
	}
	return most + 1
}

// key says what the shades stand for.
func (f Flame) key(c *canvas) {
	x := flameEdge
	for shade := Blank; shade <= Dark; shade++ {
		name, used := f.Shades[shade]
		if !used {
			continue
		}
		c.printf(`<g class="box"><rect x="%s" y="34" width="14" height="12" %s/></g>`, px(x), shades[shade])
		c.text("", "start", x+19, 44, name)
		x += 19 + width(name) + 24
	}
}

func (f Flame) box(c *canvas, frame *Frame, scale, x, y float64, row int) {
	wide := float64(frame.Value) * scale
	if wide < narrowest {
		return
	}
	share := 0.
	if f.Root.Value > 0 {
		share = 100 * float64(frame.Value) / float64(f.Root.Value)
	}
	name := html.EscapeString(frame.Name)
	c.printf(`<g class="box" data-name="%s" data-row="%d" data-x="%s" data-w="%s">`, name, row, exact(x), exact(wide))
	c.printf(`<title>%s: %d %s, %s</title><rect x="%s" y="%s" width="%s" height="%s" %s/>`, name, frame.Value, f.Unit, fmt.Sprintf("%.2f%%", share), px(x), px(y), px(wide), px(flameRow-1), shades[frame.Shade])
	if name := fitting(frame.Name, wide-4); name != "" {
		c.text("", "start", x+2, y+flameRow-5, name)
	}
	c.printf("</g>\n")
	for _, child := range frame.Children {
		f.box(c, child, scale, x, y-flameRow, row+1)
		x += float64(child.Value) * scale
	}
}

// exact is a length that a box as wide as the graph can be found by.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', 9, 64) }

// fitting is as much of a name as a width takes, empty where that says nothing.
func fitting(name string, wide float64) string {
	most := int(wide / flameLetter)
	switch n := utf8.RuneCountInString(name); {
	case n <= most:
		return name
	case most < 3:
		return ""
	}
	return string([]rune(name)[:most-1]) + "…"
}
