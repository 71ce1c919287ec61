package model

import (
	"errors"
	"math"
	"testing"
)

var lengths = []float64{2, 3, 5, 10, 20}

func ofLength(kind string, levels []Level) Series {
	return Series{Kind: kind, Zero: 2, Rate: true, Levels: levels}
}

// The error at a length that was left out of an exact fit is known.
func TestForetellsWhatWasLeftOut(t *testing.T) {
	system := costLaw(10e9, 2e-11, 2)
	levels := system.measure(seeded(1), 0, 2, lengths...)
	levels[4].Left = true
	own, err := Foretell(ofLength(CostPerHop, levels))
	if err != nil || own.InTurn || own.Error.Value > 1e-6 || len(own.Points) != 1 || own.Points[0].X != 20 {
		t.Errorf("%+v %v", own, err)
	}
	h, err := Foretell(ofLength(LossPerHop, levels))
	if err != nil {
		t.Fatal(err)
	}
	p := h.Points[0]
	if want := math.Abs(math.Log(p.Predicted / p.Measured)); !near(h.Error.Value, want, 1e-6) || want < 0.1 {
		t.Errorf("%v, want %v", h.Error.Value, want)
	}
	all, err := Foretell(ofLength(CostPerHop, system.measure(seeded(1), 0, 2, lengths...)))
	if err != nil || !all.InTurn || len(all.Points) != 5 || all.Error.Value > 1e-6 {
		t.Errorf("in turn: %+v %v", all, err)
	}
}

// The error of a wrong model is known from its true means, and so is the ratio of two.
// Nominally 95% of intervals hold it; of the draws of one test, a few fewer may.
func TestHeldOutErrorsAreCovered(t *testing.T) {
	system := law(func(x, _ float64) float64 { return 100 / (1 + 0.15*(x-2)) / (1 + 0.02*(x-2)*(x-2)) })
	exact := system.measure(seeded(1), 0, 1, lengths...)
	alone, err := Foretell(ofLength(LossPerHop, exact))
	if err != nil {
		t.Fatal(err)
	}
	ratio, err := Better(0.95, ofLength(LossPerHop, exact), ofLength(CostPerHop, exact))
	if err != nil || ratio.CI95 != nil {
		t.Fatalf("%+v %v", ratio, err)
	}
	const rounds = 30
	hit, hitRatio := 0, 0
	for i := range rounds {
		levels := system.measure(seeded(uint64(i)+9), 0.03, 5, lengths...)
		h, err := Foretell(ofLength(LossPerHop, levels))
		if err != nil {
			t.Fatal(err)
		}
		hit += holds(h.Error.CI95, alone.Error.Value)
		b, err := Better(0.95, ofLength(LossPerHop, levels), ofLength(CostPerHop, levels))
		if err != nil {
			t.Fatal(err)
		}
		hitRatio += holds(b.CI95, ratio.Value)
	}
	if hit < 24 || hitRatio < 24 {
		t.Errorf("of %d, %d intervals of the error and %d of the ratio hold the truth", rounds, hit, hitRatio)
	}
}

// The form that a system has must be told from one that it has not, given enough
// repeats; and one that only adds a parameter must not be said to foretell better.
func TestBetterTellsTheTrueForm(t *testing.T) {
	won, lucky := 0, 0
	const rounds = 20
	for i := range rounds {
		levels := costLaw(10e9, 2e-11, 2).measure(seeded(uint64(i)+99), 0.02, 5, lengths...)
		b, err := Better(0.95, ofLength(CostPerHop, levels), ofLength(LossPerHop, levels))
		if err != nil {
			t.Fatal(err)
		}
		if b.CI95[1] < 1 {
			won++
		}
		levels = powerLawOf(10e9, 0.05, 2).measure(seeded(uint64(i)+99), 0.02, 5, lengths...)
		if b, err = Better(0.95, ofLength(Fading, levels), ofLength(LossPerHop, levels)); err != nil {
			t.Fatal(err)
		}
		if b.CI95 != nil && b.CI95[1] < 1 {
			lucky++
		}
	}
	if won < rounds*9/10 || lucky > rounds/10 {
		t.Errorf("of %d, the true form won %d, and a needless parameter %d", rounds, won, lucky)
	}
}

func TestForetellNeedsWhatItNeeds(t *testing.T) {
	system := powerLawOf(10e9, 0.05, 2)
	two := system.measure(seeded(1), 0, 2, 2, 3)
	three := system.measure(seeded(1), 0, 2, 2, 3, 5)
	if _, err := Foretell(ofLength(LossPerHop, two)); !errors.Is(err, ErrNoFit) {
		t.Errorf("of two lengths one is left: %v", err)
	}
	if h, err := Foretell(ofLength(LossPerHop, three)); err != nil || h.Error.Value > 1e-6 {
		t.Errorf("%+v %v", h, err)
	}
	if _, err := Foretell(ofLength(LossPerHop, nil)); !errors.Is(err, ErrNoFit) {
		t.Errorf("nothing: %v", err)
	}
	left := append([]Level(nil), three...)
	left[2].Left = true
	if _, err := Better(0.95, ofLength(LossPerHop, three), ofLength(LossPerHop, left)); !errors.Is(err, ErrNoFit) {
		t.Errorf("tried on different lengths: %v", err)
	}
	once := system.measure(seeded(1), 0.02, 1, lengths...)
	if h, err := Foretell(ofLength(LossPerHop, once)); err != nil || h.Error.CI95 != nil {
		t.Errorf("without repeats there is no interval: %+v %v", h, err)
	}
}
