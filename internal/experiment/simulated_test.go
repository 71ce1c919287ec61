package experiment

import (
	"math"
	"math/rand/v2"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

const metric = "goodput_bps"

// system is a simulated machine: the goodput of a chain of a length.
type system func(length int) float64

// powerLaw loses the share l with each namespace beyond two.
func powerLaw(l float64) system {
	return func(n int) float64 { return 155e9 * math.Pow(1-l, float64(n-2)) }
}

// fading loses 12% with the third namespace and less with each further one.
func fading(n int) float64 { return 155e9 * math.Pow(float64(n-1), -0.1844) }

// measure runs a simulated system at the lengths of Fig. 7 under noise given as
// a share of the value.
func (s system) measure(noise float64, repeats int, seed uint64) trial.Run {
	r := rand.New(rand.NewPCG(seed, 1))
	var run trial.Run
	for i, n := range []int{2, 3, 5, 10, 20} {
		run.Conditions = append(run.Conditions, trial.Condition{
			Path: trial.PathChain, Protocol: trial.TCP, Length: n, Flows: 8, Zerocopy: true,
			Factors: map[string]any{"length": float64(n), "flows": 8.0, "zerocopy": true},
		})
		for k := range repeats {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{
				metric: s(n) * math.Exp(noise*r.NormFloat64()),
			}})
		}
	}
	return run
}

func at(length int) map[string]any {
	return map[string]any{"length": uint64(length), "flows": uint64(8), "zerocopy": true}
}

func bound(x float64) *float64 { return &x }

// fig7 is the experiment of published/livi2016/fig7.yaml in short.
func fig7() api.ExperimentSpec {
	return api.ExperimentSpec{
		Models: []api.Model{{
			Name: "hop", Kind: model.LossPerHop, Metric: metric, MaxLength: 5,
			Where: map[string]any{"flows": 8, "zerocopy": true},
		}},
		Claims: []api.Claim{
			{ID: "first", Check: api.Check{Kind: "loss", Metric: metric, A: at(2), B: at(3), AtLeast: bound(0.06), AtMost: bound(0.16)}},
			{ID: "ratio", Check: api.Check{Kind: "ratio", Metric: metric, A: at(2), B: at(3), AtMost: bound(0.94)}},
			{ID: "power", Check: api.Check{Kind: "model_error", Model: "hop", AtMost: bound(0.05)}},
			{ID: "fade", Check: api.Check{Kind: "slope_fades", Metric: metric, A: at(2), B: at(3), C: at(10), D: at(20), AtMost: bound(0)}},
		},
	}
}

func verdicts(spec api.ExperimentSpec, run trial.Run) map[string]Verdict {
	out := map[string]Verdict{}
	for _, v := range Judge(spec, run, nil) {
		out[v.ID] = v
	}
	return out
}
