package experiment

import (
	"fmt"

	"nfchain.dev/nfchain/internal/trial"
)

// sample is what the trials of one condition measured of one metric.
type sample struct {
	condition int
	length    int
	values    []float64
}

// pick finds the one condition that a claim names. Its error is the reason why
// the claim cannot be told.
func pick(run trial.Run, where map[string]any, metric string) (sample, error) {
	if err := averageable(metric); err != nil {
		return sample{}, err
	}
	return pickAny(run, where, metric)
}

// pickAny is pick for metrics that are never averaged too.
func pickAny(run trial.Run, where map[string]any, metric string) (sample, error) {
	found := matching(run, where)
	switch {
	case metric == "":
		return sample{}, fmt.Errorf("no metric is named")
	case len(found) == 0:
		return sample{}, absent(run, where)
	case len(found) > 1:
		return sample{}, fmt.Errorf("%s is true of %d conditions of the run; the claim must name one", Describe(where), len(found))
	}
	s := sample{found[0], lengthOf(run.Conditions[found[0]]), run.Independent(found[0], metric)}
	if len(s.values) == 0 {
		return sample{}, fmt.Errorf("no trial with %s measured %s%s", Describe(where), metric, whyFailed(run, found[0]))
	}
	return s, nil
}

// whyFailed is why the first trial of a condition that has nothing failed; empty where none did.
func whyFailed(run trial.Run, condition int) string {
	for _, t := range run.Trials {
		if t.Condition == condition && t.Step == 0 && len(t.Metrics) == 0 && len(t.Warnings) > 0 {
			return "; the first " + t.Warnings[0]
		}
	}
	return ""
}

// absent says why a run has no condition.
func absent(run trial.Run, where map[string]any) error {
	if why := refusal(run, where); why != "" {
		return fmt.Errorf("%s cannot be had here: %s", Describe(where), why)
	}
	return fmt.Errorf("the run has no condition with %s", Describe(where))
}

// averageable refuses percentiles: checks and models compare means over trials.
func averageable(metric string) error {
	if metric == "" {
		return fmt.Errorf("no metric is named")
	}
	if trial.NeverAveraged(metric) {
		return fmt.Errorf("%s is not to be averaged over trials, so there are no means to compare", metric)
	}
	return nil
}
