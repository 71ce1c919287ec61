// Package plot draws small SVG charts for measurements: points with error bars
// and the trials they come from, curves, and hatched bars. Everything can be
// told apart without colour, by marker, dash or hatch, and every chart carries a
// title and a description for those who do not see it. It knows no units and no
// metrics: values arrive scaled, labels arrive written.
//
// A chart stands alone as a file too. Colours come from CSS variables of the
// page around it (--ink, --faint, --paper, --c0 to --c5), with a light page's
// as the fallback.
package plot

// Point is one value of a series.
type Point struct {
	// X is a position on the axis; on one with names, the index of a name.
	// A Y that is not finite is no value: nothing is drawn, and a curve is broken there.
	X, Y float64
	// CI is drawn as an error bar; nil for none.
	CI *[2]float64
	// Dots are the trials behind Y.
	Dots []float64
}

// Axis is how values are laid out along one side of a chart.
type Axis struct {
	// Label says what and in which unit: "goodput in Gb/s".
	Label string
	// Names makes the axis one of names, at positions 0, 1, 2 …
	Names []string
	// At puts the ticks at these values, as far as their labels fit; else they
	// are nice numbers.
	At []float64
	// AtNames are what is written at each of At; without them, the values.
	AtNames []string
	// Zero makes the axis start at zero.
	Zero bool
	// Log makes the axis logarithmic where the values of all points are positive;
	// trials and ends of intervals that are not are left out then.
	Log bool
}

// Marker is the shape of a point.
type Marker int

// The markers.
const (
	NoMarker Marker = iota
	Circle
	Square
	Triangle
	Diamond
	Cross
	Wedge
)

// Dash is how a line is drawn.
type Dash int

// The dashes.
const (
	NoLine Dash = iota
	Solid
	Dashed
	Dotted
	DashDot
	LongDash
	DashDotDot
	ShortDash
)

// Style is what a series looks like.
type Style struct {
	// Colour is an index into the page's colours.
	Colour int
	Marker Marker
	// Open leaves the marker unfilled.
	Open bool
	Dash Dash
}

// colours is how many a page has.
const colours = 6

// Ours is the style of the i-th measured series: its colour, marker and dash
// all differ from its neighbours'.
//
// Six curves without markers can be told apart too.
func Ours(i int) Style {
	markers := []Marker{Circle, Square, Triangle, Diamond, Wedge}
	dashes := []Dash{Solid, Dotted, DashDot, LongDash, DashDotDot, ShortDash}
	return Style{Colour: i % colours, Marker: markers[i%len(markers)], Dash: dashes[i%len(dashes)]}
}
