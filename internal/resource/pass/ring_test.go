package pass

import (
	"math"
	"slices"
	"testing"
)

// shares of a ring that each target has.
func shares(ring []uint32, targets int) []float64 {
	all := make([]float64, targets)
	for _, n := range ring {
		all[n] += 1 / float64(len(ring))
	}
	return all
}

// TestTurns go round, and take what weighs more as often as it weighs, not all at once.
func TestTurns(t *testing.T) {
	equal := Translation{Targets: targets("10.0.0.1", "10.0.0.2", "10.0.0.3")}
	if got := equal.ring(); !slices.Equal(got, []uint32{0, 1, 2}) {
		t.Error(got)
	}
	heavy := Translation{Targets: []Target{{addr("10.0.0.1"), 10}, {addr("10.0.0.2"), 2}, {addr("10.0.0.3"), 2}}}
	got := heavy.ring()
	if want := []float64{5. / 7, 1. / 7, 1. / 7}; len(got) != 7 || !near(shares(got, 3), want, 1e-9) {
		t.Error(got)
	}
	if slices.Equal(got[:5], []uint32{0, 0, 0, 0, 0}) {
		t.Errorf("all turns of one at once: %v", got)
	}
	heavy.Address = addr("10.0.0.9")
	if err := heavy.check(); err != nil {
		t.Error(err)
	}
	heavy.Targets[0].Weight, heavy.Targets[1].Weight = 1<<20, 1
	if heavy.check() == nil {
		t.Error("a million turns: not refused")
	}
}

func near(got, want []float64, by float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= by })
}

// TestPlaces are shared out by weight, and one target more or less moves its share and nothing else.
func TestPlaces(t *testing.T) {
	r := Translation{ByHash: true, Targets: []Target{{addr("10.0.0.1"), 1}, {addr("10.0.0.2"), 2}, {addr("fd00::3"), 0}}}
	before := r.ring()
	if got := shares(before, 3); !near(got, []float64{.25, .5, .25}, .02) {
		t.Errorf("shares %v", got)
	}
	more := r
	more.Targets = append(slices.Clone(r.Targets), Target{Address: addr("10.0.0.4"), Weight: 4})
	after, moved := more.ring(), 0
	for i, n := range after {
		if n == before[i] {
			continue
		}
		if n != 3 {
			t.Fatalf("place %d moved from target %d to %d", i, before[i], n)
		}
		moved++
	}
	if share := float64(moved) / float64(len(after)); math.Abs(share-.5) > .02 {
		t.Errorf("a target that weighs half of all got %f of the places", share)
	}
}

// TestPlacesOfMany leave no target out.
func TestPlacesOfMany(t *testing.T) {
	r, a := Translation{ByHash: true}, addr("10.0.0.1")
	for range MostTargets {
		r.Targets, a = append(r.Targets, Target{Address: a}), a.Next()
	}
	for i, share := range shares(r.ring(), MostTargets) {
		if share == 0 {
			t.Errorf("target %d has no place", i)
		}
	}
}
