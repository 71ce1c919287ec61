package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBetweenShareCovers: the interval has the true share in it as often as it says, and
// where instances are alike it begins at zero.
func TestBetweenShareCovers(t *testing.T) {
	for _, c := range []struct {
		name            string
		sizes           []int
		within, between float64
	}{
		{"twenty of five", []int{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}, 1, 1},
		{"six of two", []int{2, 2, 2, 2, 2, 2}, 1, 2},
		{"mostly within", []int{3, 3, 3, 3, 3, 3, 3, 3}, 3, 1},
		{"unlike sizes", []int{6, 5, 5, 2, 3, 4}, 1, 2},
		{"alike instances", []int{5, 5, 5, 5}, 2, 0},
	} {
		r, covers := rand.New(rand.NewPCG(31, 32)), share{}
		truth := c.between * c.between / (c.between*c.between + c.within*c.within)
		for range 1000 {
			covers.count(in(*BetweenShare(instances(r, c.sizes, c.within, c.between)).CI95, truth))
		}
		covers.atLeast(t, c.name, .93)
	}
}

func TestBetweenShareKnownValues(t *testing.T) {
	// Means 9 and 11 of two each: MSB = 4, MSW = 2, so (4−2)/(4+2) = 1/3.
	if e := BetweenShare([][]float64{{8, 10}, {10, 12}}); math.Abs(e.Value-1./3) > 1e-12 || e.CI95[0] != 0 || e.CI95[1] < .9 {
		t.Errorf("%+v %v", e, e.CI95)
	}
	if e := BetweenShare([][]float64{{9, 11}, {9, 11}}); e.Value != 0 || e.CI95[0] != 0 {
		t.Errorf("%+v", e)
	}
	if e := BetweenShare([][]float64{{9, 9}, {11, 11}}); e.Value != 1 || *e.CI95 != [2]float64{1, 1} {
		t.Errorf("%+v", e)
	}
	for name, groups := range map[string][][]float64{"none": nil, "one": {{1, 2}}, "single values": {{1}, {2}}, "nothing varies": {{5, 5}, {5, 5}}} {
		if e := BetweenShare(groups); !math.IsNaN(e.Value) || e.CI95 != nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}
