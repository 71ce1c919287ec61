package experiment

import (
	"testing"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// TestClaimsComparePairByPair: what the machine did to neighbouring trials alike
// drops out of a claim's interval, if there are enough of them.
func TestClaimsComparePairByPair(t *testing.T) {
	run := trial.Run{Conditions: make([]trial.Condition, 2)}
	for repeat := 1; repeat <= 8; repeat++ {
		machine := 1 + .1*float64(repeat%3)
		for c, x := range []float64{100 + float64(repeat%2), 89} {
			run.Trials = append(run.Trials, trial.Trial{Condition: c, Repeat: repeat, Metrics: map[string]float64{metric: x * machine}})
		}
	}
	ratio := func(run trial.Run) (paired, apart *[2]float64) {
		a, b := sample{condition: 0, values: run.Samples(0, metric)}, sample{condition: 1, values: run.Samples(1, metric)}
		return ratioOf(run, a, b, metric).CI95, stats.RatioInterval(a.values, b.values).CI95
	}
	if paired, apart := ratio(run); paired[1]-paired[0] > .2*(apart[1]-apart[0]) {
		t.Errorf("paired %v, apart %v", *paired, *apart)
	}
	run.Trials = run.Trials[:10]
	if paired, apart := ratio(run); *paired != *apart {
		t.Errorf("of five pairs %v, apart %v", *paired, *apart)
	}
}
