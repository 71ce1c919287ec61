package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestNoiseFloorIsWhatIntervalsShow: the floor is the usual half-width of the intervals by
// which two equal conditions are compared.
func TestNoiseFloorIsWhatIntervalsShow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for _, drift := range []float64{0, 0.05} {
		draw := func(n int) []float64 {
			xs := make([]float64, n)
			for i := range xs {
				slow := drift * math.Sin(float64(i/2)) // what neighbours share
				xs[i] = 100 * (1 + slow + 0.02*r.NormFloat64())
			}
			return xs
		}
		for _, repeats := range []int{3, 10, 30} {
			floor := 0.0
			for range 50 {
				floor += NoiseFloor(draw(60), repeats) / 50
			}
			width := 0.0
			for range 300 {
				pairs := draw(2 * repeats)
				a, b := make([]float64, repeats), make([]float64, repeats)
				for i := range repeats {
					a[i], b[i] = pairs[2*i], pairs[2*i+1]
				}
				e := PairedRatioInterval(a, b)
				if repeats < FewestPairs {
					e = RatioInterval(a, b)
				}
				width += (e.CI95[1] - e.CI95[0]) / 2 / 300
			}
			if math.Abs(floor-width) > 0.2*width {
				t.Errorf("drift %g, %d repeats: floor %.4f, intervals reach %.4f", drift, repeats, floor, width)
			}
		}
	}
}

func TestNoiseFloorOfTooLittle(t *testing.T) {
	for _, c := range []struct {
		xs      []float64
		repeats int
	}{{nil, 3}, {[]float64{1, 2, 3}, 3}, {[]float64{1, 2, 3, 4}, 1}, {[]float64{0, 0, 0, 0}, 3}} {
		if got := NoiseFloor(c.xs, c.repeats); !math.IsNaN(got) {
			t.Errorf("%v, %d repeats: %g", c.xs, c.repeats, got)
		}
	}
	if got := NoiseFloor([]float64{5, 5, 5, 5}, 3); got != 0 {
		t.Errorf("of what never varies: %g", got)
	}
}
