package plot

// entry is one thing a legend explains.
type entry struct {
	name string
	draw func(x, y float64) // a sample, 30 wide, centred on y
}

const (
	sampleWidth = 30
	legendRow   = 20
)

// legendRows lays entries out in rows no wider than given.
func legendRows(entries []entry, within float64) (rows [][]entry) {
	used := within + 1
	for _, e := range entries {
		w := sampleWidth + 8 + width(e.name) + 18
		if used+w > within {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	return rows
}

// legend draws rows from x, y downwards.
func (c *canvas) legend(rows [][]entry, x, y float64) {
	for i, row := range rows {
		at := x
		for _, e := range row {
			e.draw(at, y+float64(i)*legendRow-4)
			c.text("", "start", at+sampleWidth+8, y+float64(i)*legendRow, e.name)
			at += sampleWidth + 8 + width(e.name) + 18
		}
	}
}
