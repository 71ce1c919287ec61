package plot

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSpanShowsWhereTheIntervalLies: inside the range, outside it, and across an end.
func TestSpanShowsWhereTheIntervalLies(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	text := func(x float64) string { return px(x) }
	span := regexp.MustCompile(`class="span" x1="([0-9.]+)" y1="15" x2="([0-9.]+)" y2="15"`)
	band := regexp.MustCompile(`class="band" x="([0-9.]+)" y="4" width="([0-9.]+)"`)
	for name, c := range map[string]struct {
		s              Span
		inside, beyond bool
	}{
		"inside":  {Span{Estimate: .1, CI: &[2]float64{.09, .12}, AtLeast: number(.08), AtMost: number(.19)}, true, false},
		"outside": {Span{Estimate: .3, CI: &[2]float64{.25, .32}, AtLeast: number(.08), AtMost: number(.19)}, false, true},
		"across":  {Span{Estimate: .1, CI: &[2]float64{-5, 9}, AtMost: number(.19)}, false, false},
	} {
		svg := c.s.SVG()
		elements(t, svg)
		i, r := span.FindStringSubmatch(svg), band.FindStringSubmatch(svg)
		if i == nil || r == nil {
			t.Fatalf("%s: %s", name, svg)
		}
		lo, hi, from := pixel(t, i[1]), pixel(t, i[2]), pixel(t, r[1])
		to := from + pixel(t, r[2])
		if inside, beyond := lo >= from && hi <= to, lo > to || hi < from; inside != c.inside || beyond != c.beyond {
			t.Errorf("%s: the interval goes from %v to %v, the range from %v to %v", name, lo, hi, from, to)
		}
	}
	for name, s := range map[string]Span{
		"one value": {Estimate: 3}, "no number": {Estimate: math.NaN(), CI: &[2]float64{math.Inf(-1), math.Inf(1)}, Text: text},
		"no room": {Estimate: 1e6, AtLeast: number(.08), AtMost: number(.19), Text: text},
	} {
		svg := s.SVG()
		elements(t, svg)
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: %s", name, svg)
		}
		if name == "no room" && !strings.Contains(svg, ">0.08 to 0.19<") {
			t.Errorf("the ends of the range cover each other: %s", svg)
		}
	}
}

func pixel(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
