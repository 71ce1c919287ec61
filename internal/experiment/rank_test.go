package experiment

import (
	"math/rand/v2"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// ranked is a run of three wirings in two directions, whose goodputs are given.
func ranked(truth map[string][2]float64, repeats int, noise float64, seed uint64) trial.Run {
	r := rand.New(rand.NewPCG(seed, 3))
	var run trial.Run
	for _, wiring := range []string{"bridge", "macvlan", "veth"} {
		for d, x := range truth[wiring] {
			run.Conditions = append(run.Conditions, trial.Condition{Factors: map[string]any{"wiring": wiring, "outside": d == 1}})
			for k := range repeats {
				run.Trials = append(run.Trials, trial.Trial{Condition: len(run.Conditions) - 1, Repeat: k + 1, Metrics: map[string]float64{
					metric: x * (1 + noise*r.NormFloat64()),
				}})
			}
		}
	}
	return run
}

func rankClaim(wirings ...any) api.ExperimentSpec {
	return api.ExperimentSpec{Claims: []api.Claim{{ID: "rank", Check: api.Check{
		Kind: "rank_changes", Metric: metric, Over: "wiring", Values: wirings,
		A: map[string]any{"outside": false}, B: map[string]any{"outside": true}, AtLeast: bound(0),
	}}}}
}

// TestRankOfKnownSystems: two that change places, and three of which two do, do; what
// keeps its order in both directions does not, whatever the distances; what is alike, or
// noisy, is undecided.
func TestRankOfKnownSystems(t *testing.T) {
	three := []any{"bridge", "macvlan", "veth"}
	for _, c := range []struct {
		name  string
		truth map[string][2]float64
		over  []any
		noise float64
		want  string
	}{
		{"swapped", map[string][2]float64{"bridge": {10, 9}, "macvlan": {9, 10}}, three[:2], 0.01, Holds},
		{"swapped among three", map[string][2]float64{"bridge": {10, 9}, "macvlan": {9, 10}, "veth": {20, 20}}, three, 0.01, Holds},
		{"in order", map[string][2]float64{"bridge": {10, 10}, "macvlan": {11, 20}}, three[:2], 0.01, DoesNotHold},
		{"three in order", map[string][2]float64{"bridge": {10, 5}, "macvlan": {11, 6}, "veth": {13, 12}}, three, 0.01, DoesNotHold},
		{"alike", map[string][2]float64{"bridge": {10, 10}, "macvlan": {10, 10}}, three[:2], 0.01, Undecided},
		{"one tie", map[string][2]float64{"bridge": {10, 9}, "macvlan": {10, 10}}, three[:2], 0.01, Undecided},
		{"noisy", map[string][2]float64{"bridge": {10, 9}, "macvlan": {9, 10}}, three[:2], 0.6, Undecided},
	} {
		v := Judge(rankClaim(c.over...), ranked(c.truth, 8, c.noise, 5), nil)[0]
		if v.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, v.Verdict, c.want, v.Reason)
		}
	}
}

// TestRankRarelyErrs where two are alike in one direction: neither answer is known.
func TestRankRarelyErrs(t *testing.T) {
	const runs = 400
	wrong := 0
	for seed := range uint64(runs) {
		run := ranked(map[string][2]float64{"bridge": {10, 9}, "macvlan": {10, 10}}, 6, 0.02, seed)
		if v := Judge(rankClaim("bridge", "macvlan"), run, nil)[0]; v.Verdict != Undecided {
			wrong++
		}
	}
	if share := float64(wrong) / runs; share > 0.07 {
		t.Errorf("decided %.1f%% of the time, want at most 5%%", 100*share)
	}
}

func TestRankCannotBeTold(t *testing.T) {
	run := ranked(map[string][2]float64{"bridge": {10, 9}, "macvlan": {9, 10}}, 4, 0.01, 1)
	run.Trials = run.Trials[:12] // the last condition has none
	v := Judge(rankClaim("bridge", "macvlan"), run, nil)[0]
	if v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "wiring=macvlan") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	v = Judge(rankClaim("bridge", "macvlan"), ranked(map[string][2]float64{"bridge": {10, 9}, "macvlan": {9, 10}}, 1, 0, 1), nil)[0]
	if v.Verdict != Undecided {
		t.Errorf("once: %s: %s", v.Verdict, v.Reason)
	}
}
