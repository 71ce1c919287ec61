package plot

import (
	"fmt"
	"strings"
)

// hatches defines the fill of each kind.
func (c *canvas) hatches(kinds []Kind) {
	c.WriteString("<defs>")
	for i, k := range kinds {
		c.printf(`<pattern id="%s" class="%s" patternUnits="userSpaceOnUse" width="6" height="6">%s</pattern>`,
			c.pattern(i), key(k.Colour), hatchings[k.Hatch])
	}
	c.WriteString("</defs>")
}

const (
	tint   = `<rect width="6" height="6" style="fill:var(--paper,#fff)"/><rect width="6" height="6" fill="currentColor" fill-opacity=".18"/>`
	stroke = `<path d="%s" fill="none" stroke="currentColor" stroke-width="1.3"/>`
)

var hatchings = map[Hatch]string{
	Full:    `<rect width="6" height="6" fill="currentColor" fill-opacity=".82"/>`,
	Rising:  tint + fmt.Sprintf(stroke, "M-1 1L1 -1M-1 7L7 -1M5 7L7 5"),
	Falling: tint + fmt.Sprintf(stroke, "M-1 5L1 7M-1 -1L7 7M5 -1L7 1"),
	Points:  tint + `<circle cx="1.5" cy="1.5" r=".9" fill="currentColor"/><circle cx="4.5" cy="4.5" r=".9" fill="currentColor"/>`,
	Empty:   `<rect width="6" height="6" style="fill:var(--paper,#fff)"/>`,
}

// groupNameChars is where the name of a group is broken.
const groupNameChars = 30

// wrap breaks a text into lines at spaces.
func wrap(s string, chars int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(s) {
		last := len(lines) - 1
		switch {
		case lines[last] == "":
			lines[last] = word
		case len([]rune(lines[last]+" "+word)) <= chars:
			lines[last] += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}
