package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// neighbours draws pairs that share what the machine did: both go up and down
// together by the deviation common.
func neighbours(r *rand.Rand, n int, common, own float64) (a, b []float64) {
	for range n {
		both := 1 + common*r.NormFloat64()
		a = append(a, 100*both*(1+own*r.NormFloat64()))
		b = append(b, 89*both*(1+own*r.NormFloat64()))
	}
	return a, b
}

func TestPairedRatioCovers(t *testing.T) {
	for _, c := range []struct{ common, own float64 }{{0, .05}, {.10, .02}, {.05, .05}} {
		for _, n := range []int{3, FewestPairs, 20} {
			r, covered := rand.New(rand.NewPCG(23, 24)), share{}
			for range 2000 {
				a, b := neighbours(r, n, c.common, c.own)
				covered.count(in(*PairedRatioInterval(a, b).CI95, .89))
			}
			covered.atLeast(t, "paired", .95)
			covered.atMost(t, "paired", .96)
		}
	}
}

func TestPairingNarrows(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	a, b := neighbours(r, 10, .10, .01)
	width := func(e Estimate) float64 { return e.CI95[1] - e.CI95[0] }
	if paired, apart := PairedRatioInterval(a, b), RatioInterval(a, b); width(paired) > width(apart)/3 || math.Abs(paired.Value-apart.Value) > 1e-12 {
		t.Errorf("paired %v, apart %v", *paired.CI95, *apart.CI95)
	}
}

func TestPairedRatioOdd(t *testing.T) {
	if e := PairedRatioInterval([]float64{100, math.NaN(), 101}, []float64{200, 5, 202}); e.Value != 2 || math.Abs(e.CI95[0]-2) > 1e-6 || math.Abs(e.CI95[1]-2) > 1e-6 {
		t.Errorf("%v %v", e.Value, e.CI95)
	}
	if e := PairedRatioInterval([]float64{-5, 1, 7}, []float64{1, 2, 3}); e.CI95 != nil {
		t.Errorf("%v", *e.CI95)
	}
	if e := PairedRatioInterval(nil, nil); !math.IsNaN(e.Value) {
		t.Errorf("%v", e.Value)
	}
	if e := PairedRatioInterval([]float64{2}, []float64{3}); e.Value != 1.5 || e.CI95 != nil {
		t.Errorf("%v %v", e.Value, e.CI95)
	}
}

func TestProportionInterval(t *testing.T) {
	for _, c := range []struct {
		hits, n int
		want    [2]float64
	}{{0, 200, [2]float64{0, .0183}}, {5, 200, [2]float64{.0082, .0574}}, {190, 200, [2]float64{.9100, .9758}}, {200, 200, [2]float64{.9817, 1}}} {
		got := ProportionInterval(c.hits, c.n)
		if math.Abs(got[0]-c.want[0]) > 1e-4 || math.Abs(got[1]-c.want[1]) > 1e-4 {
			t.Errorf("%d of %d: %v, want %v", c.hits, c.n, got, c.want)
		}
	}
}

func TestRatioAtAnotherConfidence(t *testing.T) {
	r, covered := rand.New(rand.NewPCG(27, 28)), share{}
	for range 4000 {
		covered.count(in(*RatioIntervalAt(.99, normal(r, 6, 100, 5), normal(r, 6, 89, 5)).CI95, .89))
	}
	covered.atLeast(t, "99%", .99)
	covered.atMost(t, "99%", .995)
}
