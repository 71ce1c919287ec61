package experiment

import (
	"math/rand/v2"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// settings is a run over two lengths with conditions of these true values each.
func settings(short, long []float64, noise float64, repeats int, seed uint64) (run trial.Run) {
	r := rand.New(rand.NewPCG(seed, 7))
	for i, truth := range append(append([]float64{}, short...), long...) {
		length, setting := 2, i
		if i >= len(short) {
			length, setting = 20, i-len(short)
		}
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Length: length,
			Factors: map[string]any{"length": length, "setting": setting}})
		for repeat := 1; repeat <= repeats; repeat++ {
			run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: repeat,
				Metrics: map[string]float64{metric: truth * (1 + noise*r.NormFloat64())}})
		}
	}
	return run
}

func bestRatio(run trial.Run) Verdict {
	return Judge(api.ExperimentSpec{Claims: []api.Claim{{Check: api.Check{Kind: "best_ratio", Metric: metric,
		A: map[string]any{"length": 2}, B: map[string]any{"length": 20}, AtLeast: bound(.7)}}}}, run, nil)[0]
}

func TestBestAgainstBest(t *testing.T) {
	v := bestRatio(settings([]float64{50, 100, 70}, []float64{40, 60, 80}, .01, 12, 1))
	if v.Verdict != Holds || *v.Estimate < .78 || *v.Estimate > .82 ||
		!strings.Contains(v.Reason, "length=20 setting=2 against length=2 setting=1") {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if v := bestRatio(settings([]float64{100}, []float64{60, 50}, .01, 12, 1)); v.Verdict != DoesNotHold {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	if v := bestRatio(settings([]float64{100}, []float64{80}, .01, 1, 1)); v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "two repeats") {
		t.Errorf("once: %s: %s", v.Verdict, v.Reason)
	}
	if v := bestRatio(settings([]float64{100}, nil, .01, 4, 1)); v.Verdict != CannotBeTold || !strings.Contains(v.Reason, "no condition with length=20") {
		t.Errorf("none: %s: %s", v.Verdict, v.Reason)
	}
	// A setting that failed every second time is not the best, however good it looked.
	run := settings([]float64{100}, []float64{80, 99}, .01, 12, 1)
	for i := range run.Trials {
		if tr := &run.Trials[i]; tr.Condition == 2 && tr.Repeat%2 == 0 {
			tr.Metrics = map[string]float64{}
		}
	}
	if v := bestRatio(run); v.Estimate == nil || *v.Estimate > .85 {
		t.Errorf("failed: %s: %s", v.Verdict, v.Reason)
	}
}

// TestBestIsNotLucky: of many alike the luckiest is chosen, and its luck is not counted.
func TestBestIsNotLucky(t *testing.T) {
	alike := make([]float64, 30)
	for i := range alike {
		alike[i] = 100
	}
	var ratios []float64
	for seed := range uint64(100) {
		ratios = append(ratios, *bestRatio(settings([]float64{100}, alike, .1, 12, seed)).Estimate)
	}
	if mean := *stats.Summarize(ratios).Mean; mean < .98 || mean > 1.02 {
		t.Errorf("the best of 30 alike is %v times the one", mean)
	}
}
