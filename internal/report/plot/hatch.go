package plot

import (
	"fmt"
	"strings"
)

// hatchStep is the distance between the lines of a hatch, and pointStep between points.
const (
	hatchStep = 6.
	pointStep = 3.
)

// hatched draws an area in its kind's hatch, line by line: a pattern would be the
// shorter text, but browsers print each area that one fills as an image of its own.
func (c *canvas) hatched(k Kind, x, y, w, h float64) {
	class, strength := key(k.Colour), map[Hatch]string{Full: ".82", Empty: "0"}[k.Hatch]
	if strength == "" {
		strength = ".18"
	}
	box := fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, px(x), px(y), px(w), px(h))
	c.printf(`<rect class="paper" %s/><rect class="%s bar" %s fill="currentColor" fill-opacity="%s"/>`, box, class, box, strength)
	switch k.Hatch {
	case Rising:
		c.path(class+" hatch", rising(x, y, w, h), "")
	case Falling:
		c.path(class+" hatch", falling(x, y, w, h), "")
	case Points:
		c.path(class+" points", points(x, y, w, h), "")
	case Full, Empty:
	}
}

// rising are lines from the lower left to the upper right, no further than the area.
func rising(x, y, w, h float64) string {
	var b strings.Builder
	for sum := hatchStep; sum < w+h; sum += hatchStep {
		from, to := max(0, sum-h), min(w, sum)
		fmt.Fprintf(&b, "M%s %sL%s %s", px(x+from), px(y+sum-from), px(x+to), px(y+sum-to))
	}
	return b.String()
}

// falling are lines from the upper left to the lower right.
func falling(x, y, w, h float64) string {
	var b strings.Builder
	for gap := hatchStep - h; gap < w; gap += hatchStep {
		from, to := max(0, gap), min(w, gap+h)
		fmt.Fprintf(&b, "M%s %sL%s %s", px(x+from), px(y+from-gap), px(x+to), px(y+to-gap))
	}
	return b.String()
}

// points are lines without length, which have round ends, in staggered rows.
func points(x, y, w, h float64) string {
	var b strings.Builder
	for row, down := 0, pointStep/2; down < h; row, down = row+1, down+pointStep {
		fmt.Fprintf(&b, "M%s %s", px(x+pointStep/2+pointStep*float64(row%2)), px(y+down))
		for across := pointStep/2 + pointStep*float64(row%2); across < w; across += 2 * pointStep {
			fmt.Fprintf(&b, "h0m%s 0", px(2*pointStep))
		}
	}
	return b.String()
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
