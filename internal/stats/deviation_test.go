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
