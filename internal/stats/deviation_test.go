package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLogDeviationCovers: the interval has the true deviation in it as often as it says.
func TestLogDeviationCovers(t *testing.T) {
	for _, n := range []int{2, 5, 20} {
		r, covers := rand.New(rand.NewPCG(41, uint64(n))), share{}
		for range 1000 {
			values := make([]float64, n)
			for i := range values {
				values[i] = 7e6 * math.Exp(0.2*r.NormFloat64())
			}
			covers.count(in(*LogDeviation(values).CI95, 0.2))
		}
		covers.atLeast(t, "so many values", .93)
	}
}

func TestLogDeviationKnownValues(t *testing.T) {
	if e := LogDeviation([]float64{1, math.E}); math.Abs(e.Value-math.Sqrt(.5)) > 1e-12 || e.CI95[0] > e.Value || e.CI95[1] < e.Value {
		t.Errorf("%+v %v", e, e.CI95)
	}
	if e := LogDeviation([]float64{3, 3, 3}); e.Value != 0 || *e.CI95 != [2]float64{} {
		t.Errorf("%+v %v", e, e.CI95)
	}
	for name, values := range map[string][]float64{"none": nil, "one": {1}, "zero": {1, 0}, "below": {-1, 1}, "not a number": {math.NaN(), 1}, "endless": {1, math.Inf(1)}} {
		if e := LogDeviation(values); !math.IsNaN(e.Value) || e.CI95 != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestLogDeviationRatioCovers: the interval has the true ratio in it as often as it says,
// also of samples of different sizes.
func TestLogDeviationRatioCovers(t *testing.T) {
	for _, n := range [][2]int{{2, 2}, {3, 10}, {20, 5}} {
		r, covers := rand.New(rand.NewPCG(43, uint64(n[0]))), share{}
		draw := func(n int, deviation float64) []float64 {
			values := make([]float64, n)
			for i := range values {
				values[i] = 3e9 * math.Exp(deviation*r.NormFloat64())
			}
			return values
		}
		for range 1000 {
			covers.count(in(*LogDeviationRatio(draw(n[0], .1), draw(n[1], .15)).CI95, 1.5))
		}
		covers.atLeast(t, "so many values", .93)
	}
}

func TestLogDeviationRatioKnownValues(t *testing.T) {
	one, three := []float64{1, math.E}, []float64{1, math.Exp(3)}
	if e := LogDeviationRatio(one, three); math.Abs(e.Value-3) > 1e-12 || e.CI95[0] > e.Value || e.CI95[1] < e.Value {
		t.Errorf("%+v %v", e, e.CI95)
	}
	// F of 1 and 1 degrees of freedom has its 97.5% at 647.789, and its 2.5% at one over that.
	if e := LogDeviationRatio(one, one); math.Abs(e.CI95[1]-math.Sqrt(647.789)) > .01 || math.Abs(e.CI95[0]*e.CI95[1]-1) > 1e-6 {
		t.Errorf("%+v %v", e, e.CI95)
	}
	if e := LogDeviationRatio(one, []float64{3, 3, 3}); e.Value != 0 || *e.CI95 != [2]float64{} {
		t.Errorf("%+v %v", e, e.CI95)
	}
	for name, pair := range map[string][2][]float64{"none": {nil, one}, "one": {one, {1}}, "no difference": {{3e9, 3e9, 3e9}, one}, "none at all": {{.1, .1, .1}, {.1, .1, .1}}, "zero": {one, {1, 0}}} {
		if e := LogDeviationRatio(pair[0], pair[1]); !math.IsNaN(e.Value) || e.CI95 != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
