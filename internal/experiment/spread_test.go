package experiment

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// twoSpreads is a run of two conditions with so many repeats each, which differ by these
// deviations of the logarithm.
func twoSpreads(repeats int, bridge, veth float64, seed uint64) trial.Run {
	r := rand.New(rand.NewPCG(seed, 11))
	run := trial.Run{Repeats: repeats}
	for i, deviation := range []float64{bridge, veth} {
		run.Conditions = append(run.Conditions, trial.Condition{Length: 3, Factors: map[string]any{"wiring": []string{"bridge", "veth"}[i]}})
		for k := range repeats {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{
				metric: 1e9 * float64(i+1) * math.Exp(deviation*r.NormFloat64()),
			}})
		}
	}
	return run
}

func spreadClaim(b string) api.ExperimentSpec {
	return api.ExperimentSpec{Claims: []api.Claim{{ID: "wider", Check: api.Check{
		Kind: "spread_ratio", Metric: metric, A: map[string]any{"wiring": "bridge"}, B: map[string]any{"wiring": b}, AtLeast: bound(1),
	}}}}
}

// TestSpreadRatioOfKnownSystems: one that differs more, one that differs less, and too few
// repeats to tell, whatever the means are.
func TestSpreadRatioOfKnownSystems(t *testing.T) {
	for _, c := range []struct {
		repeats      int
		bridge, veth float64
		want         string
	}{{30, .02, .06, Holds}, {30, .06, .02, DoesNotHold}, {3, .02, .04, Undecided}, {30, .03, .03, Undecided}} {
		if v := Judge(spreadClaim("veth"), twoSpreads(c.repeats, c.bridge, c.veth, 3), nil)[0]; v.Verdict != c.want {
			t.Errorf("%+v: %s: %s", c, v.Verdict, v.Reason)
		}
	}
}

// TestSpreadRatioRarelyErrs where both are alike, at the edge of the range.
func TestSpreadRatioRarelyErrs(t *testing.T) {
	const runs = 400
	wrong := 0
	for seed := range uint64(runs) {
		if v := Judge(spreadClaim("veth"), twoSpreads(8, .05, .05, seed), nil)[0]; v.Verdict != Undecided {
			wrong++
		}
	}
	if share := float64(wrong) / runs; share > 0.08 {
		t.Errorf("decided %.1f%% of the time on the edge, want about 5%%", 100*share)
	}
}

// TestSpreadRatioThatThereIsNot: repeats that do not differ have no spread to compare with,
// nor has one condition another's.
func TestSpreadRatioThatThereIsNot(t *testing.T) {
	for want, v := range map[string]Verdict{
		"do not define the ratio of the spread": Judge(spreadClaim("veth"), twoSpreads(5, 0, .1, 1), nil)[0],
		"same condition":                        Judge(spreadClaim("bridge"), twoSpreads(5, .1, .1, 1), nil)[0],
		"do not define":                         Judge(spreadClaim("veth"), twoSpreads(1, .1, .1, 1), nil)[0],
	} {
		if v.Verdict != CannotBeTold || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %+v", want, v)
		}
	}
}
