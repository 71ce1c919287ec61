package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// instances draws repeats on chains made anew: within is the deviation of repeats
// and between that of the instances, about a mean of 100.
func instances(r *rand.Rand, sizes []int, within, between float64) [][]float64 {
	groups := make([][]float64, len(sizes))
	for i, n := range sizes {
		groups[i] = normal(r, n, 100+between*r.NormFloat64(), within)
	}
	return groups
}

func TestComponentsCover(t *testing.T) {
	for _, c := range []struct {
		name            string
		sizes           []int
		within, between float64
	}{
		{"five of four", []int{4, 4, 4, 4, 4}, 1, 2},
		{"three of two", []int{2, 2, 2}, 1, 1},
		{"ten of three", []int{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 2, 1},
		{"unlike sizes", []int{6, 5, 5, 2, 1, 4}, 1, 2},
		{"alike instances", []int{5, 5, 5, 5}, 2, 0},
	} {
		r, within, between := rand.New(rand.NewPCG(21, 22)), share{}, share{}
		for range 1000 {
			p := PartVariance(instances(r, c.sizes, c.within, c.between))
			within.count(in(*p.WithinCI95, c.within/100))
			between.count(in(*p.BetweenCI95, c.between/100))
		}
		within.atLeast(t, c.name+", within", .94)
		between.atLeast(t, c.name+", between", .94)
	}
}

func TestComponentsKnownValues(t *testing.T) {
	// Two groups with means 9 and 11: MSB = 2·2 = 4 per two, MSW = 2.
	p := PartVariance([][]float64{{8, 10}, {10, 12}})
	if math.Abs(p.Within-math.Sqrt(2)/10) > 1e-12 || math.Abs(p.Between-math.Sqrt((4-2)/2.)/10) > 1e-12 || p.Instances != 2 {
		t.Errorf("%+v", p)
	}
	if p := PartVariance([][]float64{{9, 11}, {9, 11}}); p.Between != 0 || p.BetweenCI95[0] != 0 {
		t.Errorf("%+v", p)
	}
	for name, groups := range map[string][][]float64{"none": nil, "one": {{1, 2}}, "single values": {{1}, {2}}, "an empty one": {{1, 2}, {}}, "zero": {{-1, 1}, {1, -1}}} {
		if p := PartVariance(groups); p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := PartVariance([][]float64{{5, 5}, {5, 5}}); p.Within != 0 || p.Between != 0 || math.IsNaN(p.BetweenCI95[1]) {
		t.Errorf("%+v", p)
	}
}
