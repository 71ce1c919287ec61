package plot

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestTicksAreNice(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 27.98, "0 10 20 30"}, {0, 9.4, "0 2 4 6 8 10"}, {0, .0123, "0.000 0.005 0.010 0.015"}, {0, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 155, "0 50 100 150 200"}, {3, 3, "1 2 3 4 5"}, {-2, 9, "-5 0 5 10"},
	} {
		ticks := linearTicks(c.lo, c.hi)
		if got := texts(ticks); got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestLogTicksHoldTheRange(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{{7.7, 3406, "5 10 20 50 100 200 500 1000 2000 5000"}, {1, 10, "1 2 5 10"}, {3, 3, "2 5"}, {.05, 5e5, ""}} {
		ticks := logTicks(c.lo, c.hi)
		if ticks[0] > c.lo || ticks[len(ticks)-1] < c.hi*.999 || len(ticks) > 12 {
			t.Errorf("%v to %v: %v", c.lo, c.hi, ticks)
		}
		if got := texts(ticks); c.want != "" && got != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func texts(ticks []float64) string {
	var all []string
	for _, tick := range ticks {
		all = append(all, tickText(tick, ticks))
	}
	return strings.Join(all, " ")
}

// elements counts a chart's elements and wants it to be XML.
func elements(t *testing.T, svg string) map[string]int {
	t.Helper()
	n, d := map[string]int{}, xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, is := token.(xml.StartElement); is {
			n[e.Name.Local]++
		}
	}
}

func TestLinesDrawEverything(t *testing.T) {
	points := []Point{{X: 2, Y: 5, CI: &[2]float64{4, 6}, Dots: []float64{4.5, 5, 5.5}}, {X: 3, Y: 4}}
	l := Lines{ID: "x", Title: "<t>", Description: "a & b", X: Axis{Label: "length", At: []float64{2, 3}}, Y: Axis{Label: "Gb/s", Zero: true},
		Series: []Series{{"one <1>", points, Ours(0)}, {"fit", points, Style{Dash: Dashed}}, {"source", points[1:], Style{Marker: Diamond, Open: true}}}}
	svg := l.SVG()
	n := elements(t, svg)
	if n["circle"] != 2*3+2+1 || n["title"] != 1 || n["desc"] != 1 {
		t.Errorf("%v", n)
	}
	for _, want := range []string{"one &lt;1&gt;", "stroke-dasharray", ">length<", ">Gb/s<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestNothingSticksOut: curves that go on behind the last tick, and the label of a tick
// at the very edge, stay within the chart.
func TestNothingSticksOut(t *testing.T) {
	beyond := Lines{ID: "x", X: Axis{At: []float64{0, 1, 4}}, Series: []Series{{"s", []Point{{X: 0, Y: 1}, {X: 4.7, Y: 2}}, Ours(0)}}}
	if x := beyond.across(40); x.at(4.7) > chartWidth-12 {
		t.Errorf("a point lies at %v of %v", x.at(4.7), chartWidth)
	}
	edge := Lines{ID: "x", X: Axis{Log: true}, Series: []Series{{"s", []Point{{X: 10, Y: 1}, {X: 50_000, Y: 2}}, Ours(0)}}}
	labels := regexp.MustCompile(`text-anchor="middle" x="([0-9.]+)" y="[0-9.]+">([^<]+)<`).FindAllStringSubmatch(edge.SVG(), -1)
	for _, label := range labels {
		at, err := strconv.ParseFloat(label[1], 64)
		if err != nil || at+width(label[2])/2 > chartWidth {
			t.Errorf("%q is centred at %v of %v, error %v", label[2], at, chartWidth, err)
		}
	}
	if len(labels) < 4 {
		t.Errorf("labels %v", labels)
	}
}

// TestNothingSticksOutOfLegendsAndLogarithms: a long name goes on in the next line, and an
// error bar that begins below what a logarithm has ends within the chart.
func TestNothingSticksOutOfLegendsAndLogarithms(t *testing.T) {
	l := Lines{ID: "x", Y: Axis{Log: true}, Series: []Series{
		{"one", []Point{{X: 1, Y: 10, CI: &[2]float64{-5, 8000}}, {X: 2, Y: 20}}, Ours(0)},
		{strings.Repeat("chain.functions[fw].firewall.rules.generate 1000, ", 5) + "the end", []Point{{X: 1, Y: 15}}, Ours(1)}}}
	if y, _ := l.Y.span(l.values()); y.hi < 8000 || !y.log {
		t.Errorf("the axis ends at %v", y.hi)
	}
	ended := false
	for _, text := range regexp.MustCompile(`text-anchor="start" x="([0-9.]+)" y="[0-9.]+">([^<]+)<`).FindAllStringSubmatch(l.SVG(), -1) {
		at, err := strconv.ParseFloat(text[1], 64)
		if err != nil || at+width(text[2]) > chartWidth {
			t.Errorf("%q begins at %v of %v, error %v", text[2], at, chartWidth, err)
		}
		ended = ended || strings.HasSuffix(text[2], "the end")
	}
	if !ended {
		t.Error("the end of a long name is missing")
	}
}

func TestSeriesDifferWithoutColour(t *testing.T) {
	seen := map[string]bool{}
	for i := range 6 {
		s := Ours(i)
		k := fmt.Sprint(s.Marker, s.Dash)
		if seen[k] {
			t.Errorf("series %d looks like another: %s", i, k)
		}
		seen[k] = true
	}
}

func TestOddChartsAreStillCharts(t *testing.T) {
	nan := math.NaN()
	for i, svg := range []string{
		Lines{ID: "a"}.SVG(), Bars{ID: "b"}.SVG(),
		Lines{ID: "c", Series: []Series{{Points: []Point{{X: 1, Y: 0}}}}, Y: Axis{Log: true}}.SVG(),
		Lines{ID: "d", Series: []Series{{Points: []Point{{X: 1, Y: 1, CI: &[2]float64{-5, 8}}}, Style: Ours(0)}}, Y: Axis{Log: true}}.SVG(),
		Bars{ID: "e", Kinds: []Kind{{Name: "k"}}, Groups: []Group{{Name: "g", Bars: []Bar{{Parts: []Part{{0, 0}}, CI: &[2]float64{-1, 1}}}}}}.SVG(),
		Lines{ID: "f", Series: []Series{{Points: []Point{{X: nan, Y: math.Inf(1)}, {X: 2, Y: nan}}, Style: Ours(0)}}}.SVG(),
	} {
		elements(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("chart %d: %s", i, svg)
		}
	}
	if px(nan) != "0" || px(-.001) != "0" || px(1.50) != "1.5" {
		t.Error(px(nan), px(-.001), px(1.5))
	}
}

func TestWrap(t *testing.T) {
	if got := wrap("TCP, 8 flows, zerocopy", 13); !reflect.DeepEqual(got, []string{"TCP, 8 flows,", "zerocopy"}) {
		t.Errorf("%q", got)
	}
}

// TestMarkersStayRightOfTheAxis, also those of many series at its first value.
func TestMarkersStayRightOfTheAxis(t *testing.T) {
	l := Lines{X: Axis{At: []float64{0, 1000, 5000}, Zero: true}}
	for i := range 6 {
		l.Series = append(l.Series, Series{Points: []Point{{X: 0}, {X: 1000}, {X: 5000}}, Style: Ours(i)})
	}
	x := l.across(40)
	for i := range l.Series {
		if xs, _ := l.pixels(i, x, scale{hi: 1}); xs[0] < 40 || xs[2] > chartWidth {
			t.Errorf("series %d goes from %v to %v", i, xs[0], xs[2])
		}
	}
}

// TestNamesOfGroupsDoNotCoverEachOther: one of four lines has their height.
func TestNamesOfGroupsDoNotCoverEachOther(t *testing.T) {
	long := strings.Repeat("twenty-nine characters long-- ", 4)
	b := Bars{Kinds: []Kind{{Name: "k"}}}
	for range 30 {
		b.Groups = append(b.Groups, Group{Name: long, Bars: []Bar{{Parts: []Part{{Value: 1}}}}})
	}
	if lines := len(wrap(long, groupNameChars)); lines != 4 || b.height() < 30*4*nameRow {
		t.Errorf("%d names of %d lines in a height of %v", len(b.Groups), lines, b.height())
	}
}

// TestNoNameIsDropped: names that do not fit side by side are broken into lines, or stand
// upright, and the chart has room for them.
func TestNoNameIsDropped(t *testing.T) {
	words := func(n int, form string) (names []string) {
		for i := range n {
			names = append(names, fmt.Sprintf(form, i))
		}
		return names
	}
	for name, c := range map[string]struct {
		names   []string
		upright bool
	}{
		"few": {words(3, "name%d"), false}, "phrases": {words(6, "open virtual switch number %d"), false},
		"long": {words(12, "chain.functions[fw].firewall%d"), true}, "many": {words(90, "wiring %d"), true},
	} {
		l := Lines{ID: "x", X: Axis{Label: "wiring", Names: c.names}, Series: []Series{{"s", []Point{{X: 0, Y: 1}, {X: float64(len(c.names) - 1), Y: 2}}, Ours(0)}}}
		svg := l.SVG()
		text := strings.Join(strings.Fields(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(svg, " ")), " ")
		for _, n := range c.names {
			if !strings.Contains(text+" ", n+" ") {
				t.Errorf("%s: %q is not on the axis: %s", name, n, text)
			}
		}
		if strings.Count(svg, "rotate(-90)") > 1 != c.upright {
			t.Errorf("%s: upright is not %v", name, c.upright)
		}
		namesStayApart(t, name, svg)
	}
}

// namesStayApart wants lines that lie below the axis not to cover each other.
func namesStayApart(t *testing.T, name, svg string) {
	t.Helper()
	end := map[string]float64{}
	for _, found := range regexp.MustCompile(`text-anchor="middle" x="([0-9.]+)" y="([0-9.]+)">([^<]+)<`).FindAllStringSubmatch(svg, -1) {
		at, err := strconv.ParseFloat(found[1], 64)
		if err != nil || at-width(found[3])/2 < end[found[2]] {
			t.Errorf("%s: %q covers the one before", name, found[3])
		}
		end[found[2]] = at + width(found[3])/2
	}
	last := -nameRow
	for _, found := range regexp.MustCompile(`text-anchor="end" transform="translate\(([0-9.]+) `).FindAllStringSubmatch(svg, -1) {
		at, err := strconv.ParseFloat(found[1], 64)
		if err != nil || at-last < nameRow-.01 {
			t.Errorf("%s: a name at %v covers that at %v", name, at, last)
		}
		last = at
	}
}

// TestCurveBreaksWhereNothingIs and a value by itself can still be seen.
func TestCurveBreaksWhereNothingIs(t *testing.T) {
	nan := math.NaN()
	if got := curve([]float64{1, 2, 3, 4, 5, 6}, []float64{1, 1, nan, 1, nan, nan}); got != "M1 1L2 1M2 1h4" {
		t.Error(got)
	}
}

// TestDotsWithoutALogarithm are left out, and the scale stays.
func TestDotsWithoutALogarithm(t *testing.T) {
	l := Lines{ID: "x", Y: Axis{Log: true}, Series: []Series{{"s", []Point{{X: 1, Y: 10, Dots: []float64{0, 10, 30}, CI: &[2]float64{-5, 40}}, {X: 2, Y: 2000}}, Ours(0)}}}
	if !l.Logarithmic() || l.OffScale() != 1 || strings.Count(l.SVG(), `class="k0 dot"`) != 2 {
		t.Errorf("logarithmic %v, %d off the scale: %s", l.Logarithmic(), l.OffScale(), l.SVG())
	}
	l.Series[0].Points[0].Y = 0
	if l.Logarithmic() || l.OffScale() != 0 || strings.Count(l.SVG(), `class="k0 dot"`) != 3 {
		t.Errorf("a value at zero: logarithmic %v, %d off the scale", l.Logarithmic(), l.OffScale())
	}
}
