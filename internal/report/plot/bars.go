package plot

// Hatch is how the area of a bar is filled.
type Hatch int

// The hatches, from the heaviest to the lightest.
const (
	Full Hatch = iota
	Rising
	Falling
	Points
	Empty
)

// Kind is what a bar or a part of one stands for.
type Kind struct {
	Name   string
	Colour int
	Hatch  Hatch
}

// Bar is one bar, of one part or of several in a row.
type Bar struct {
	// Label stands before the bar; empty where the legend says enough.
	Label string
	Parts []Part
	// CI is drawn as an error bar around the end; nil for none.
	CI *[2]float64
	// Dots are the trials behind the bar.
	Dots []float64
	// Text stands behind the bar.
	Text string
}

// Part is a length of a bar and the kind it is of.
type Part struct {
	Kind  int
	Value float64
}

// Group is bars that belong together under one name.
type Group struct {
	Name string
	Bars []Bar
}

// Bars is a chart of horizontal bars from zero.
type Bars struct {
	// ID makes the chart's element ids unique in its page.
	ID          string
	Title       string
	Description string
	// X always begins at zero and reaches At at least.
	X      Axis
	Kinds  []Kind
	Groups []Group
}

// The sizes of a chart of bars.
const (
	barGap   = 4
	groupGap = 14
	nameRow  = 14.
)

// SVG draws the chart.
func (b Bars) SVG() string {
	c := &canvas{id: b.ID}
	axis := b.X
	axis.Zero = true
	x, ticks := axis.span(append(b.values(), axis.At...))
	names, labels := b.margins()
	left := names + labels + 12
	x.from, x.to = left, chartWidth-16-b.textRoom()
	bottom := topMargin + b.height()
	rows := legendRows(b.entries(c), chartWidth-left)
	c.begin(chartWidth, bottom+46+float64(len(rows))*legendRow, b.Title, b.Description)
	for _, t := range ticks {
		c.line("grid", x.at(t), topMargin, x.at(t), bottom)
		c.text("", "middle", x.at(t), bottom+17, tickText(t, ticks))
	}
	b.groups(c, x, left)
	c.line("axis", left, topMargin, left, bottom)
	c.text("", "middle", (x.from+x.to)/2, bottom+36, b.X.Label)
	c.legend(rows, left, bottom+60)
	return c.end()
}

// thickness of a bar: thin where there are many.
func (b Bars) thickness() float64 {
	n := 0
	for _, g := range b.Groups {
		n += len(g.Bars)
	}
	return max(9, min(20, 480/float64(max(n, 1))))
}

// shown tells the kinds that any bar has a part of.
func (b Bars) shown() map[int]bool {
	kinds := map[int]bool{}
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			for _, p := range bar.Parts {
				kinds[p.Kind] = true
			}
		}
	}
	return kinds
}

func (b Bars) height() float64 {
	h := float64(groupGap)
	for _, g := range b.Groups {
		h += b.groupHeight(g) + groupGap
	}
	return h
}

// groupHeight has room for the bars, and for the lines of the name.
func (b Bars) groupHeight(g Group) float64 {
	return max(b.barsHeight(g), nameRow*float64(len(wrap(g.Name, groupNameChars))))
}

func (b Bars) barsHeight(g Group) float64 {
	return float64(len(g.Bars))*(b.thickness()+barGap) - barGap
}

// values are all that the X axis must hold.
func (b Bars) values() (out []float64) {
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			out = append(append(out, bar.total()), bar.Dots...)
			if bar.CI != nil {
				out = append(out, max(0, bar.CI[0]), bar.CI[1])
			}
		}
	}
	return out
}

func (b Bar) total() (sum float64) {
	for _, p := range b.Parts {
		sum += p.Value
	}
	return sum
}

// margins are the room for the groups' names and the bars' labels.
func (b Bars) margins() (names, labels float64) {
	for _, g := range b.Groups {
		for _, line := range wrap(g.Name, groupNameChars) {
			names = max(names, width(line)+8)
		}
		for _, bar := range g.Bars {
			labels = max(labels, width(bar.Label)+4*float64(b2i(bar.Label != "")))
		}
	}
	return names, labels
}

// textRoom is the room behind the longest bar.
func (b Bars) textRoom() (room float64) {
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			room = max(room, width(bar.Text))
		}
	}
	return room + 8*float64(b2i(room > 0))
}
