package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

const draws = 4000

// coverage draws intervals and returns the share that holds the truth.
func coverage(t *testing.T, truth float64, draw func(r *rand.Rand) *[2]float64) float64 {
	t.Helper()
	r, hit := rand.New(rand.NewPCG(7, 11)), 0
	for range draws {
		ci := draw(r)
		if ci == nil {
			t.Fatal("no interval")
		}
		if ci[0] <= truth && truth <= ci[1] {
			hit++
		}
	}
	return float64(hit) / draws
}

func within(t *testing.T, got float64) {
	t.Helper()
	t.Logf("covers %.1f%%", 100*got)
	if got < 0.93 || got > 0.97 {
		t.Errorf("covers %.1f%%, want 93%% to 97%%", 100*got)
	}
}

func normal(r *rand.Rand, n int, mean, deviation float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = mean + deviation*r.NormFloat64()
	}
	return xs
}

func TestIntervalOfTheMeanCovers(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		within(t, coverage(t, 20e9, func(r *rand.Rand) *[2]float64 {
			return Summarize(normal(r, n, 20e9, 1e9)).CI95
		}))
	}
}

func TestRatioIntervalCovers(t *testing.T) {
	cases := []struct {
		name   string
		na, nb int
		sa, sb float64 // deviation as a share of the mean
	}{
		{"three repeats", 3, 3, 0.05, 0.05},
		{"ten repeats", 10, 10, 0.05, 0.05},
		{"unlike spread", 10, 10, 0.02, 0.20},
		{"unlike number", 5, 10, 0.10, 0.10},
		{"noisy denominator", 10, 10, 0.30, 0.10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			within(t, coverage(t, 0.89, func(r *rand.Rand) *[2]float64 {
				return RatioInterval(normal(r, c.na, 155e9, 155e9*c.sa), normal(r, c.nb, 0.89*155e9, 0.89*155e9*c.sb)).CI95
			}))
		})
	}
}

// TestRatioIntervalIsBounded where three repeats scatter and much confidence is asked
// for, but for a few draws, and turned round is that of the ratio turned round.
func TestRatioIntervalIsBounded(t *testing.T) {
	for _, estimate := range []func(float64, []float64, []float64) Estimate{RatioIntervalAt, PairedRatioIntervalAt} {
		r, covered, bounded := rand.New(rand.NewPCG(29, 30)), share{}, share{}
		for range draws {
			a, b := make([]float64, 3), make([]float64, 3)
			for i := range a {
				a[i], b[i] = math.Exp(.3*r.NormFloat64()), 17*math.Exp(.1*r.NormFloat64())
			}
			e, turned := estimate(.99, a, b), estimate(.99, b, a)
			bounded.count(e.CI95 != nil)
			if e.CI95 == nil {
				continue
			}
			if turned.CI95 == nil || e.CI95[0] <= 0 || math.Abs(turned.CI95[0]*e.CI95[1]-1) > 1e-9 {
				t.Fatalf("%v over %v: %v, turned round %v", b, a, e, turned)
			}
			covered.count(in(*e.CI95, 17*math.Exp((.1*.1-.3*.3)/2)))
		}
		covered.atLeast(t, "three repeats at 99%", .98)
		bounded.atLeast(t, "three repeats at 99%, bounded", .999)
	}
}

// TestOneRepeatDecidesNoRatio: an interval is not sure of a difference that one repeat alone
// makes, and is of one that most of them make by losing everything.
func TestOneRepeatDecidesNoRatio(t *testing.T) {
	for _, estimate := range []func(a, b []float64) Estimate{RatioInterval, PairedRatioInterval} {
		if e := estimate([]float64{1, 3, 6240}, []float64{1, 2, 1}); e.CI95 != nil {
			t.Errorf("nothing is known over such a mean, got %v", *e.CI95)
		}
		if e := estimate([]float64{2, 3, 2}, []float64{1, 3, 6240}); e.CI95 == nil || e.CI95[0] > 1 {
			t.Errorf("one repeat made it %v times as much: %v", e.Value, e.CI95)
		}
		if e := estimate([]float64{99, 100, 101, 99, 100, 101}, []float64{0, 0, 0, 100, 0, 0}); e.CI95 == nil || e.CI95[1] >= 1 {
			t.Errorf("five of six repeats lost everything: %v, %v", e.Value, e.CI95)
		}
	}
}

func TestDeltaIntervalOfDifferenceCovers(t *testing.T) {
	difference := func(m []float64) float64 { return m[1] - m[0] }
	within(t, coverage(t, 3, func(r *rand.Rand) *[2]float64 {
		return DeltaInterval(confidence, [][]float64{normal(r, 10, 5, 1), normal(r, 10, 8, 3)}, difference).CI95
	}))
}

func TestDeltaIntervalOfCurvedFunctionCovers(t *testing.T) {
	f := func(m []float64) float64 { return m[1]/m[0] - math.Pow(m[2]/m[1], 0.1) }
	truth := f([]float64{100, 85, 70})
	within(t, coverage(t, truth, func(r *rand.Rand) *[2]float64 {
		return DeltaInterval(0.95, [][]float64{normal(r, 10, 100, 5), normal(r, 10, 85, 5), normal(r, 10, 70, 5)}, f).CI95
	}))
}

// The interval of the median must reach at least what it says, on a
// distribution far from normal.
func TestOrderStatisticsCover(t *testing.T) {
	for n, want := range map[int]float64{2: 0.5, 3: 0.75, 5: 0.9375, 6: 0.96875, 10: 0.978515625, 20: 0.9586} {
		got := coverage(t, math.Ln2, func(r *rand.Rand) *[2]float64 {
			xs := make([]float64, n)
			for i := range xs {
				xs[i] = r.ExpFloat64()
			}
			return SummarizePercentile(xs, 1).CI95
		})
		if math.Abs(got-want) > 0.02 {
			t.Errorf("n=%d: covers %.3f, want %.3f", n, got, want)
		}
	}
}

func TestRatioOfZeroToWhatMayBeZero(t *testing.T) {
	if e := RatioInterval([]float64{-5, 1, 7}, []float64{0, 0, 0}); e.CI95 != nil {
		t.Errorf("a denominator that may be zero bounds nothing, got %v", *e.CI95)
	}
	if e := RatioInterval([]float64{99, 100, 101}, []float64{0, 0, 0}); e.CI95 == nil || *e.CI95 != [2]float64{0, 0} {
		t.Errorf("nothing of something is nothing, got %v", e.CI95)
	}
}
