package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// measureUntil draws repeats until the rule stops, or most of them are drawn.
func measureUntil(draw func() float64, width float64, summarize func([]float64) Summary, most int) (Summary, bool) {
	var xs []float64
	met := -1 // how many repeats had an interval that was narrow
	for len(xs) < most {
		xs = append(xs, draw())
		if met < 0 && Narrow(summarize(xs), width) {
			met = len(xs)
		}
		stop := Stop(len(xs), func(n int) bool { return n == met })
		if stop == len(xs) {
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
		half := quantileT(confidence, float64(len(xs)-1)) * math.Sqrt(varianceOfMean(xs))
		s.CI95 = &[2]float64{mean - half, mean + half}
	}
	return s
}

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
	for range 60 {
		s, _ := measureUntil(func() float64 { return 97 + 3*r.ExpFloat64() }, .05, Summarize, 60)
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

func TestStop(t *testing.T) {
	narrowFrom := func(least int) func(int) bool { return func(n int) bool { return n >= least } }
	for _, c := range []struct{ repeats, narrow, want int }{
		{7, 0, 0}, {8, 0, 8}, {20, 0, 8}, {8, 7, 0}, {9, 7, 9}, {11, 10, 0}, {12, 10, 12}, {0, 0, 0},
	} {
		if got := Stop(c.repeats, narrowFrom(c.narrow)); got != c.want {
			t.Errorf("%d repeats, narrow from %d: stops after %d, want %d", c.repeats, c.narrow, got, c.want)
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
