package stats

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

func TestBootstrapCovers(t *testing.T) {
	least := map[string]float64{"normal": .945, "exponential": .93, "lognormal": .93, "two modes": .95}
	for name, s := range shapes {
		r, covered := rand.New(rand.NewPCG(1, 2)), share{}
		for range 1000 {
			covered.count(in(bootstrapT(confidence, s.sample(r, 10)), s.mean))
		}
		covered.atLeast(t, name, least[name])
	}
}

// TestChosenIntervalCovers simulates what choosing the method by the sample does
// to the coverage, and that it does no worse than Student's t everywhere.
func TestChosenIntervalCovers(t *testing.T) {
	least := map[string]float64{"normal": .945, "exponential": .93, "lognormal": .925, "two modes": .95}
	for name, s := range shapes {
		r, chosen, student := rand.New(rand.NewPCG(3, 4)), share{}, share{}
		for range 1000 {
			xs := s.sample(r, 20)
			sum := Summarize(xs)
			chosen.count(in(*sum.CI95, s.mean))
			half := quantileT(confidence, 19) * stat.StdErr(stat.StdDev(xs, nil), 20)
			student.count(in([2]float64{*sum.Mean - half, *sum.Mean + half}, s.mean))
		}
		chosen.atLeast(t, name, least[name])
		if chosen.hits < student.hits-15 {
			t.Errorf("%s: chosen covers %d of 1000, Student's t %d", name, chosen.hits, student.hits)
		}
	}
}

func TestSameSampleSameInterval(t *testing.T) {
	xs := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 90}
	s := Summarize(xs)
	if s.Method != Bootstrap || s.Reason != ReasonSkewed {
		t.Fatalf("%+v", s)
	}
	for range 3 {
		if again := Summarize(xs); *again.CI95 != *s.CI95 {
			t.Errorf("%v, then %v", *s.CI95, *again.CI95)
		}
	}
}

func TestMethodIsChosenByShape(t *testing.T) {
	for name, c := range map[string]struct {
		xs             []float64
		method, reason string
	}{
		"few":    {[]float64{1, 1, 1, 90}, StudentT, ReasonFew},
		"alike":  {[]float64{2, 2, 2, 2, 2, 2, 2, 2, 2}, StudentT, ReasonAlike},
		"normal": {[]float64{-1.5, -1, -.7, -.4, -.1, .1, .4, .7, 1, 1.5}, StudentT, ReasonNormal},
		"skewed": {[]float64{1, 1.1, 1.2, 1.1, 1, 1.2, 1.1, 1, 20, 22}, Bootstrap, ReasonSkewed},
	} {
		if s := Summarize(c.xs); s.Method != c.method || s.Reason != c.reason {
			t.Errorf("%s: %s because %s", name, s.Method, s.Reason)
		}
	}
}

func TestShapeTestRarelyErrs(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{8, 20, 50} {
		refused, found := share{}, share{}
		for range 1000 {
			refused.count(!looksNormal(shapes["normal"].sample(r, n)))
			found.count(!looksNormal(shapes["two modes"].sample(r, n)))
		}
		refused.atMost(t, "normal refused", .06)
		found.atLeast(t, "two modes found", .95)
	}
}
