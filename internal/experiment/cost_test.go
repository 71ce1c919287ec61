package experiment

import (
	"math"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

func TestCostIsLearntFromTheGaps(t *testing.T) {
	if got := CostOf(nil); got != UsualCost {
		t.Errorf("of nothing: %+v", got)
	}
	var trials []trial.Trial
	at := time.Unix(0, 0)
	for i, gap := range []float64{0, 2, 2.5, 0.25, 3, 3600, 0.5, 0.25} {
		instance := 1
		if i > 0 {
			if instance = trials[i-1].Instance; gap > 1 {
				instance++
			}
			at = at.Add(time.Duration((3 + gap) * float64(time.Second)))
		}
		trials = append(trials, trial.Trial{StartedAt: at, DurationS: 3, Instance: instance})
	}
	got := CostOf(trials)
	if got.Trial != 0.25 || got.Chain != 3 {
		t.Fatalf("%+v", got)
	}
	conditions := []trial.Condition{{DurationS: 3}, {DurationS: 5}, {DurationS: 3}}
	order := []Slot{{0, 1}, {1, 1}, {2, 1}}
	// Conditions 0 and 2 share a chain; it is made, left, and made again.
	if s := got.Seconds(order, conditions, []int{0, 1, 0}, -1); math.Abs(s-(11+9)) > 1e-9 {
		t.Errorf("%v s", s)
	}
	if s := got.Seconds(order[2:], conditions, []int{0, 1, 0}, 0); math.Abs(s-3.25) > 1e-9 {
		t.Errorf("%v s over the chain that is up", s)
	}
}
