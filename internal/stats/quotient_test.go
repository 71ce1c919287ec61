package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestMedianRatioCovers(t *testing.T) {
	draw := func(r *rand.Rand, n int, scale, spread float64) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = scale * math.Exp(spread*r.NormFloat64())
		}
		return xs
	}
	for _, c := range []struct {
		n, m   int
		spread float64 // of b; a's is 0.1
		least  float64
	}{{4, 4, .1, .95}, {5, 10, .1, .95}, {10, 10, .1, .95}, {40, 35, .1, .95}, {10, 10, .3, .93}} {
		r, covered := rand.New(rand.NewPCG(29, 30)), share{}
		for range 4000 {
			covered.count(in(*MedianRatioAt(.95, draw(r, c.n, 1, .1), draw(r, c.m, 3, c.spread)).CI95, 3))
		}
		covered.atLeast(t, fmt.Sprintf("n = %d and %d, spread %v", c.n, c.m, c.spread), c.least)
	}
}

func TestMannWhitney(t *testing.T) {
	// Mann and Whitney 1947, table I: n = m = 4, P(U ≤ 1) = 0.029; n = 3, m = 5, P(U ≤ 1) = 0.036.
	for _, c := range []struct {
		n, m int
		want float64
	}{{4, 4, .029}, {3, 5, .036}, {5, 3, .036}} {
		d := mannWhitney(c.n, c.m)
		sum := 0.0
		for _, p := range d {
			sum += p
		}
		if math.Abs(d[0]+d[1]-c.want) > .0006 || len(d) != c.n*c.m+1 || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d and %d: %v", c.n, c.m, d)
		}
	}
	for _, c := range []struct {
		level float64
		n, m  int
		want  int
	}{{.95, 3, 3, 0}, {.95, 4, 4, 1}, {.95, 10, 10, 24}, {.99, 4, 4, 0}} {
		if got := mannWhitneyRank(c.level, c.n, c.m); got != c.want {
			t.Errorf("%v, %d and %d: rank %d, want %d", c.level, c.n, c.m, got, c.want)
		}
	}
}

func TestMedianRatioOdd(t *testing.T) {
	if e := MedianRatioAt(.95, []float64{2, 2, 2, 2}, []float64{0, 0, 0, 0}); e.Value != 0 || *e.CI95 != [2]float64{0, 0} {
		t.Errorf("%v", e.Value)
	}
	for name, s := range map[string][2][]float64{"nothing": {nil, {1}}, "zero below": {{0, 1}, {1, 2}}, "negative": {{1, 2}, {-1, 2}}} {
		if e := MedianRatioAt(.95, s[0], s[1]); !math.IsNaN(e.Value) || e.CI95 != nil {
			t.Errorf("%s: %v", name, e.Value)
		}
	}
	if e := MedianRatioAt(.95, []float64{1, 2, 3}, []float64{2, 4, 6}); e.Value != 2 || e.CI95 != nil {
		t.Errorf("%v %v", e.Value, e.CI95)
	}
}
