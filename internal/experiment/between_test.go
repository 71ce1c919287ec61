package experiment

import (
	"math/rand/v2"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// anew is a run of one condition on so many instances of its chain, whose means differ by
// one deviation and repeats on each by another.
func anew(instances, each int, between, within float64, seed uint64) trial.Run {
	r := rand.New(rand.NewPCG(seed, 7))
	run := trial.Run{Redeploy: instances, Conditions: []trial.Condition{{Length: 3, Factors: map[string]any{"wiring": "veth"}}}}
	for i := range instances {
		mean := 1e9 * (1 + between*r.NormFloat64())
		for k := range each {
			run.Trials = append(run.Trials, trial.Trial{Repeat: i*each + k + 1, Instance: i + 1, Metrics: map[string]float64{
				metric: mean + 1e9*within*r.NormFloat64(),
			}})
		}
	}
	return run
}

func betweenClaim(least, most *float64) api.ExperimentSpec {
	return api.ExperimentSpec{Claims: []api.Claim{{ID: "instances", Check: api.Check{
		Kind: "between_share", Metric: metric, A: map[string]any{"wiring": "veth"}, AtLeast: least, AtMost: most,
	}}}}
}

// TestBetweenShareOfKnownSystems: instances that differ, instances that are alike, and too
// few to tell.
func TestBetweenShareOfKnownSystems(t *testing.T) {
	for _, c := range []struct {
		name               string
		instances, each    int
		between, within    float64
		differ, mostlySame string
	}{
		{"differ", 20, 5, 0.10, 0.02, Holds, DoesNotHold},
		{"alike", 20, 20, 0, 0.05, DoesNotHold, Holds},
		{"few", 3, 2, 0.03, 0.03, Undecided, Undecided},
	} {
		run := anew(c.instances, c.each, c.between, c.within, 1)
		for want, spec := range map[string]api.ExperimentSpec{c.differ: betweenClaim(bound(0.2), nil), c.mostlySame: betweenClaim(nil, bound(0.2))} {
			v := Judge(spec, run, nil)[0]
			if v.Verdict != want {
				t.Errorf("%s: %s, want %s: %s", c.name, v.Verdict, want, v.Reason)
			}
		}
	}
}

// TestBetweenShareRarelyErrs at the edge of the range, where errors are most common.
func TestBetweenShareRarelyErrs(t *testing.T) {
	const runs = 400
	wrong := 0
	for seed := range uint64(runs) {
		if v := Judge(betweenClaim(bound(0.5), nil), anew(12, 3, 0.03, 0.03, seed), nil)[0]; v.Verdict != Undecided {
			wrong++
		}
	}
	if share := float64(wrong) / runs; share > 0.08 {
		t.Errorf("decided %.1f%% of the time on the edge, want about 5%%", 100*share)
	}
}

func TestBetweenShareCannotBeTold(t *testing.T) {
	one, single, still := anew(4, 3, .1, .1, 1), anew(4, 1, .1, .1, 1), anew(4, 3, 0, 0, 1)
	one.Redeploy = 0
	for want, run := range map[string]trial.Run{"redeploy": one, "4 instances": single, "that differ": still, "no trial": {Redeploy: 4, Conditions: one.Conditions}} {
		v := Judge(betweenClaim(bound(0.1), nil), run, nil)[0]
		if v.Verdict != CannotBeTold || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s: %s", want, v.Verdict, v.Reason)
		}
	}
}
