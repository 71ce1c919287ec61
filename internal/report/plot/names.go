package plot

// naming is how the names along an axis are written where they do not fit side by side
// in one line each: in several lines, or upright. A number between two others can be
// guessed, so that ticks of numbers may go unlabelled; a name cannot.
type naming struct {
	// lines of each name; empty where all fit.
	lines   [][]string
	upright bool
	// more room that they take below the axis than one line.
	more float64
}

// widened is the width of a chart in which each name has room for a line upright.
func (l Lines) widened(left float64) float64 {
	return max(l.wide(), left+12+nameRow*float64(len(l.X.Names)))
}

// naming of the chart's names, which begin at left.
func (l Lines) naming(left float64) naming {
	if len(l.X.Names) == 0 || !l.labels(&canvas{}, l.across(left), left) {
		return naming{}
	}
	slot := (l.wide() - 12 - left) / float64(len(l.X.Names))
	if n, fit := wrapped(l.X.Names, int((slot-9)/width("x"))); fit {
		return naming{lines: n, more: float64(most(n)-1) * nameRow}
	}
	n := broken(l.X.Names, int(slot/nameRow))
	return naming{lines: n, upright: true, more: max(0, longest(n)-11)}
}

// wrapped are names in lines, and whether each of these has so few characters.
func wrapped(names []string, chars int) (lines [][]string, fit bool) {
	for _, name := range names {
		lines = append(lines, wrap(name, chars))
	}
	return lines, longest(lines) <= width("x")*float64(chars)
}

// broken are names in as short lines as give no name more than so many.
func broken(names []string, rows int) [][]string {
	for chars := 1; ; chars++ {
		if lines, _ := wrapped(names, chars); most(lines) <= max(1, rows) {
			return lines
		}
	}
}

// most lines that a name has.
func most(names [][]string) (n int) {
	for _, lines := range names {
		n = max(n, len(lines))
	}
	return n
}

// longest line of any name.
func longest(names [][]string) (w float64) {
	for _, lines := range names {
		for _, line := range lines {
			w = max(w, width(line))
		}
	}
	return w
}

func (n naming) draw(c *canvas, x scale) {
	for i, lines := range n.lines {
		for row, line := range lines {
			if n.upright {
				c.hanging(x.at(float64(i))+4+(float64(row)-float64(len(lines)-1)/2)*nameRow, base+10, line)
			} else {
				c.text("", "middle", x.at(float64(i)), base+19+float64(row)*nameRow, line)
			}
		}
	}
}
