package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// TestDetectableIsDetected draws samples that differ by what is said to be
// detectable, and wants the t test to see it in 80% of cases.
func TestDetectableIsDetected(t *testing.T) {
	for _, n := range []int{2, 3, 10, 30} {
		degrees := 2 * float64(n-1)
		shift := noncentrality(degrees) * math.Sqrt(2/float64(n))
		r, seen := rand.New(rand.NewPCG(19, 20)), share{}
		for range 4000 {
			a, b := normal(r, n, 0, 1), normal(r, n, shift, 1)
			pooled := (stat.Variance(a, nil) + stat.Variance(b, nil)) / 2
			d := math.Abs(stat.Mean(a, nil) - stat.Mean(b, nil))
			seen.count(d > quantileT(confidence, degrees)*math.Sqrt(2*pooled/float64(n)))
		}
		seen.atLeast(t, "seen", .80)
		seen.atMost(t, "seen", .81)
	}
}

func TestDetectableKnownValues(t *testing.T) {
	// Cohen 1988, table 2.4.1: at two-sided 5% and power 0.80, d = 0.80 takes n = 26.
	if d := noncentrality(50) * math.Sqrt(2./26); math.Abs(d-.80) > .01 {
		t.Errorf("d = %.3f", d)
	}
	if got := Detectable([]float64{99, 100, 101}); got < .02 || got > .04 {
		t.Errorf("%v", got)
	}
	for _, xs := range [][]float64{nil, {1}, {-1, 1}} {
		if got := Detectable(xs); !math.IsNaN(got) {
			t.Errorf("%v: %v", xs, got)
		}
	}
	if got := Detectable([]float64{5, 5, 5}); got != 0 {
		t.Errorf("%v", got)
	}
}
