package model

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// powerLaw draws trials of chains that lose the share l with each namespace.
func powerLaw(r *rand.Rand, t2, l, noise float64, repeats int, lengths ...int) []Point {
	var points []Point
	for _, n := range lengths {
		p := Point{N: n}
		for range repeats {
			p.Y = append(p.Y, t2*math.Pow(1-l, float64(n-2))*math.Exp(noise*r.NormFloat64()))
		}
		points = append(points, p)
	}
	return points
}

func near(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want) }

func TestExactPowerLawComesBack(t *testing.T) {
	points := powerLaw(rand.New(rand.NewPCG(1, 1)), 155e9, 0.11, 0, 2, 20, 2, 5, 3)
	fit, err := LossPerHop(points, 5)
	if err != nil || !near(fit.L.Value, 0.11, 1e-9) || !near(fit.T2.Value, 155e9, 1e-9) {
		t.Fatalf("%+v %v", fit, err)
	}
	if fit.MaxError.Value > 1e-9 || fit.MaxError.CI95[1] > 1e-9 {
		t.Errorf("largest error %v %v", fit.MaxError.Value, *fit.MaxError.CI95)
	}
	if len(fit.Points) != 4 || fit.Points[0].N != 2 || fit.Points[3].N != 20 {
		t.Fatalf("points %+v", fit.Points)
	}
	if !fit.Points[2].Fitted || fit.Points[3].Fitted || !near(fit.Points[3].Predicted, fit.Points[3].Measured, 1e-9) {
		t.Errorf("points %+v", fit.Points)
	}
}

// The two ways in which Livi et al. §IV-C count k, with their own numbers.
func TestBothReadingsOfThePaper(t *testing.T) {
	fit, err := LossPerHop([]Point{{2, []float64{155}}, {3, []float64{155 * 0.89}}}, 0)
	if err != nil || !near(fit.At(5), 109.27, 1e-3) || !near(fit.AtAsPrinted(5), 97.25, 1e-3) {
		t.Errorf("%v: %v as fitted, %v as printed", err, fit.At(5), fit.AtAsPrinted(5))
	}
	if fit.L.CI95 != nil || fit.MaxError.CI95 != nil {
		t.Error("two trials and two parameters leave nothing for an interval")
	}
}

func TestGainIsNegativeLoss(t *testing.T) {
	fit, err := LossPerHop(powerLaw(rand.New(rand.NewPCG(1, 1)), 10, -0.05, 0, 1, 2, 3, 4), 0)
	if err != nil || !near(fit.L.Value, -0.05, 1e-9) {
		t.Errorf("%+v %v", fit.L, err)
	}
}

func TestIntervalsCover(t *testing.T) {
	const draws, t2, l = 2000, 155e9, 0.11
	for _, repeats := range []int{3, 10} {
		r := rand.New(rand.NewPCG(3, uint64(repeats)))
		hitL, hitT2 := 0, 0
		for range draws {
			fit, err := LossPerHop(powerLaw(r, t2, l, 0.05, repeats, 2, 3, 5), 5)
			if err != nil {
				t.Fatal(err)
			}
			hitL += holds(fit.L.CI95, l)
			hitT2 += holds(fit.T2.CI95, t2)
		}
		for name, hit := range map[string]int{"l": hitL, "t2": hitT2} {
			if share := float64(hit) / draws; share < 0.93 || share > 0.97 {
				t.Errorf("%d repeats: interval of %s covers %.1f%%", repeats, name, 100*share)
			}
		}
	}
}

func holds(ci *[2]float64, truth float64) int {
	if ci[0] <= truth && truth <= ci[1] {
		return 1
	}
	return 0
}

// bent is a system that breaks the law: its error at the true means is known.
func bent(r *rand.Rand, noise float64, repeats int) []Point {
	means := map[int]float64{2: 100, 3: 60, 5: 55}
	var points []Point
	for _, n := range []int{2, 3, 5} {
		p := Point{N: n}
		for range repeats {
			p.Y = append(p.Y, means[n]*math.Exp(noise*r.NormFloat64()))
		}
		points = append(points, p)
	}
	return points
}

// The interval of the largest error is wide by construction (Bonferroni), so it
// must cover at least what it says.
func TestLargestErrorIsCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	exact, err := LossPerHop(bent(r, 0, 1), 0)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 2000
	hit := 0
	for range draws {
		fit, err := LossPerHop(bent(r, 0.05, 10), 0)
		if err != nil {
			t.Fatal(err)
		}
		hit += holds(fit.MaxError.CI95, exact.MaxError.Value)
		if ci := fit.MaxError.CI95; fit.MaxError.Value < ci[0]-0.01 || fit.MaxError.Value > ci[1]+0.01 {
			t.Fatalf("estimate %v outside its interval %v", fit.MaxError.Value, *ci)
		}
	}
	if share := float64(hit) / draws; share < 0.95 {
		t.Errorf("covers %.1f%%", 100*share)
	}
}

func TestNoFit(t *testing.T) {
	cases := map[string][]Point{
		"nothing":      nil,
		"one length":   {{2, []float64{1, 2}}},
		"zero":         {{2, []float64{1}}, {3, []float64{0}}},
		"not a number": {{2, []float64{1}}, {3, []float64{math.NaN()}}},
		"too short":    {{1, []float64{1}}, {3, []float64{1}}},
		"no trials":    {{2, []float64{1}}, {3, nil}},
		"twice":        {{2, []float64{1}}, {2, []float64{1}}},
		"one within":   {{2, []float64{1}}, {9, []float64{1}}},
	}
	for name, points := range cases {
		if _, err := LossPerHop(points, 5); !errors.Is(err, ErrNoFit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
