package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// measureUntil draws repeats until the rule stops, or most of them are drawn.
func measureUntil(draw func() float64, width float64, summarize func([]float64) Summary, most int) (Summary, bool) {
	var xs []float64
	for len(xs) < most {
		xs = append(xs, draw())
		if Enough(len(xs), func(n int) bool { return Narrow(summarize(xs[:n]), width) }) {
			return AtLeastWide(summarize(xs), width), true
		}
	}
	return summarize(xs), false
}

// student is Summarize of what is known to be normal, without the cost of a
// bootstrap after every draw.
func student(xs []float64) Summary {
	xs = finite(xs)
	mean := 0.0
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	s := Summary{N: len(xs), Mean: &mean}
	if len(xs) > 1 {
		half := quantiles(len(xs)-1) * math.Sqrt(varianceOfMean(xs))
		s.CI95 = &[2]float64{mean - half, mean + half}
	}
	return s
}

// quantiles of Student's t by degrees of freedom, each computed once.
var quantiles = func() func(int) float64 {
	known := map[int]float64{}
	return func(degrees int) float64 {
		if _, has := known[degrees]; !has {
			known[degrees] = quantileT(confidence, float64(degrees))
		}
		return known[degrees]
	}
}()

func TestUntilCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, width := range []float64{.02, .03, .04, .06} { // the repeats scatter by 3%
		covered := share{}
		for range 2000 {
			s, stopped := measureUntil(func() float64 { return 100 + 3*r.NormFloat64() }, width, student, 400)
			if !stopped {
				t.Fatal("did not stop")
			}
			covered.count(in(*s.CI95, 100))
		}
		covered.atLeast(t, "normal, until "+percentText(width), .945)
	}
}

// The same with intervals of the median, and with the method chosen at each look.
func TestUntilCoversOtherShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	median, skewed := share{}, share{}
	for range 400 {
		s, _ := measureUntil(func() float64 { return 100 * math.Exp(.03*r.NormFloat64()) }, .04,
			func(xs []float64) Summary { return SummarizePercentile(xs, math.NaN()) }, 200)
		median.count(in(*s.CI95, 100))
	}
	for range 40 {
		s, _ := measureUntil(func() float64 { return 97 + 3*r.ExpFloat64() }, .05, Summarize, 40)
		skewed.count(in(*s.CI95, 100))
	}
	median.atLeast(t, "median", .93)
	skewed.atLeast(t, "exponential", .90)
}

// TestUntilWithoutItsCorrections shows what they are for.
func TestUntilWithoutItsCorrections(t *testing.T) {
	r, covered := rand.New(rand.NewPCG(11, 12)), share{}
	for range 2000 {
		xs := []float64{}
		for {
			xs = append(xs, 100+3*r.NormFloat64())
			if s := student(xs); s.N > 2 && s.CI95[1]-s.CI95[0] <= 3 {
				covered.count(in(*s.CI95, 100))
				break
			}
		}
	}
	covered.atMost(t, "stopping at once", .92)
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		repeats, narrow int
		want            bool
	}{{7, 0, false}, {8, 0, true}, {8, 7, false}, {9, 7, true}, {11, 10, false}, {12, 10, true}, {0, 0, false}} {
		if got := Enough(c.repeats, func(n int) bool { return n >= c.narrow }); got != c.want {
			t.Errorf("%d repeats, narrow from %d: enough is %v", c.repeats, c.narrow, got)
		}
	}
}

func TestNarrow(t *testing.T) {
	xs := []float64{99, 100, 101, 99, 100, 101}
	if s := Summarize(xs); !Narrow(s, .03) || Narrow(s, .01) {
		t.Errorf("%v", *s.CI95)
	}
	if Narrow(Summarize(xs[:5]), 1) || Narrow(SummarizePercentile(xs[:5], math.NaN()), 1) || Narrow(Summary{N: 9}, 1) {
		t.Error("narrow after five, or without an interval")
	}
	if s := AtLeastWide(Summarize(xs), .1); math.Abs(s.CI95[1]-s.CI95[0]-10) > 1e-9 {
		t.Errorf("%v", *s.CI95)
	}
	if s := AtLeastWide(Summarize(xs), .001); *s.CI95 != *Summarize(xs).CI95 {
		t.Errorf("%v", *s.CI95)
	}
}
