package experiment

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// finding is a run's answer to a claim: its quantity, estimated.
type finding struct {
	quantity string
	estimate stats.Estimate
	// repeats of the condition that has the fewest.
	repeats int
	// found puts the estimate in words, value any value of the quantity.
	found string
	value func(float64) string
	// side tells which bound of the range the quantity has to keep.
	side side
	// candidates are the values that the quantity may have, where it can have only some:
	// they stand for the interval.
	candidates []float64
	// missing says why some of what was to be looked at was not measured. The claim can
	// then be refuted, and never holds.
	missing string
	// nothing says that the metric was 0 throughout, so that the quantity is not defined; empty
	// where it was not. Still is what the quantity is of things that are alike: a claim
	// that takes a difference is then refuted, and any other cannot be told.
	nothing string
	still   float64
}

// side is which bound of a range matters.
type side int

const (
	bothSides side = iota
	lowerSide
	upperSide
)

// checks are the kinds of api.Check. Their errors say why a claim cannot be told.
var checks = map[string]func(api.ExperimentSpec, trial.Run, api.Check) (finding, error){
	"value":         findValue,
	"loss":          findLoss,
	"ratio":         findRatio,
	"best_ratio":    findBestRatio,
	"ratio_each":    findRatioEach,
	"ratio_mean":    findRatioMean,
	"ratio_change":  findRatioChange,
	"flat":          findFlat,
	"rises":         findRises,
	"peak":          findPeak,
	"possible":      findPossible,
	"slope_fades":   findSlopeFades,
	"rank_changes":  findRankChanges,
	"between_share": findBetweenShare,
	"spread":        findSpread,
	"spread_ratio":  findSpreadRatio,
	"model_error":   findModelError,
	"model_better":  findModelBetter,
}

// findLoss estimates 1 − b/a.
func findLoss(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	f, err := findRatio(spec, run, c)
	if err != nil {
		return f, err
	}
	f.quantity = "loss of " + c.Metric + " " + contrast(c.A, c.B)
	f.estimate.Value, f.still = 1-f.estimate.Value, 0
	if ci := f.estimate.CI95; ci != nil {
		f.estimate.CI95 = &[2]float64{1 - ci[1], 1 - ci[0]}
	}
	f.value, f.found = percent, percent(f.estimate.Value)+" lost"
	return f, nil
}

// findRatio estimates b/a.
func findRatio(_ api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	a, err := pick(run, c.A, c.Metric)
	if err != nil {
		return finding{}, err
	}
	b, err := pick(run, c.B, c.Metric)
	if err != nil {
		return finding{}, err
	}
	if a.condition == b.condition {
		return finding{}, fmt.Errorf("a and b are the same condition")
	}
	ratio := ratioOf(run, a, b, c.Metric)
	return finding{
		quantity: "ratio of " + c.Metric + " " + contrast(c.A, c.B),
		estimate: ratio,
		repeats:  min(len(a.values), len(b.values)),
		found:    times(ratio.Value) + " times as much",
		value:    times,
		nothing:  nothingOf(c.Metric, contrast(c.A, c.B), []sample{a, b}),
		still:    1,
	}, nil
}

// nothingOf says that a metric was 0 in every trial of some conditions; empty where it was not.
// A rate or a time of 0 is no finding: nothing was carried then.
func nothingOf(metric, where string, samples []sample) string {
	if isRate(metric) || isTime(metric) {
		return ""
	}
	for _, s := range samples {
		for _, x := range s.values {
			if x != 0 {
				return ""
			}
		}
	}
	return fmt.Sprintf("%s is 0 in every trial %s", metric, where)
}

// ratioOf two conditions of a run, whose trials were interleaved: pair by pair where
// there are enough pairs of neighbouring trials, so that what the machine did to both
// drops out.
func ratioOf(run trial.Run, a, b sample, metric string) stats.Estimate {
	return ratioAt(0.95, run, a, b, metric)
}

// ratioAt is ratioOf with an interval of another confidence than 95%.
func ratioAt(level float64, run trial.Run, a, b sample, metric string) stats.Estimate {
	if xs, ys := run.Pairs(a.condition, b.condition, metric); len(xs) >= stats.FewestPairs {
		return stats.PairedRatioIntervalAt(level, xs, ys)
	}
	return stats.RatioIntervalAt(level, a.values, b.values)
}
