package plot

// entry is one thing a legend explains.
type entry struct {
	name string
	draw func(x, y float64) // a sample, 30 wide, centred on y
}

const (
	sampleWidth = 30
	legendRow   = 20
	// aroundName is the room of an entry besides its name's.
	aroundName = sampleWidth + 8 + 18
)

// legendRows lays entries out in rows no wider than given.
func legendRows(entries []entry, within float64) (rows [][]entry) {
	used := within + 1
	for _, whole := range entries {
		for _, e := range whole.lines(within) {
			w := width(e.name) + aroundName
			if used+w > within {
				rows, used = append(rows, nil), 0
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], e)
			used += w
		}
	}
	return rows
}

// lines of an entry that is too long for a row: names often differ in their ends.
func (e entry) lines(within float64) (all []entry) {
	for i, line := range wrap(e.name, int((within-aroundName)/width("x"))) {
		part := entry{line, e.draw}
		if i > 0 {
			part.draw = func(float64, float64) {}
		}
		all = append(all, part)
	}
	return all
}

// legend draws rows from x, y downwards.
func (c *canvas) legend(rows [][]entry, x, y float64) {
	for i, row := range rows {
		at := x
		for _, e := range row {
			e.draw(at, y+float64(i)*legendRow-4)
			c.text("", "start", at+sampleWidth+8, y+float64(i)*legendRow, e.name)
			at += width(e.name) + aroundName
		}
	}
}
