package experiment

import (
	"math"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

func TestCostIsLearntFromTheGaps(t *testing.T) {
	if got := CostOf(nil, Course{}); got != UsualCost {
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
	got := CostOf(trials, Course{Conditions: []trial.Condition{{}}})
	if got.Trial != 0.25 || got.Chain != 3 {
		t.Fatalf("%+v", got)
	}
	on := Course{Conditions: []trial.Condition{{DurationS: 3}, {DurationS: 5}, {DurationS: 3}}, Chain: []int{0, 1, 0}}
	order := []Slot{{0, 1}, {1, 1}, {2, 1}}
	// Conditions 0 and 2 share a chain; it is made, left, and made again.
	if s := got.Seconds(on, order, -1); math.Abs(s-(11+9)) > 1e-9 {
		t.Errorf("%v s", s)
	}
	if s := got.Seconds(on, order[2:], 0); math.Abs(s-3.25) > 1e-9 {
		t.Errorf("%v s over the chain that is up", s)
	}
}

// TestContainersCost: chains of many take longer than those of few, as many times longer than is usual as it was before.
func TestContainersCost(t *testing.T) {
	on := Course{
		Conditions: []trial.Condition{{DurationS: 1, Length: 3}, {DurationS: 1, Length: 150}, {DurationS: 1}},
		Chain:      []int{0, 1, 2}, Containers: []int{1, 148, -1},
	}
	few := UsualCost.Seconds(on, []Slot{{0, 1}}, -1) - 1
	many := UsualCost.Seconds(on, []Slot{{1, 1}}, -1) - 1
	if want := few + 147*(UsualCost.Node+UsualCost.Container); math.Abs(many-want) > 1e-9 {
		t.Errorf("148 containers take %v s, one %v", many, few)
	}
	// Each took twice as long as is usual; of the chain of which nobody knows what it had nothing is learnt.
	at := time.Unix(0, 0)
	trials := []trial.Trial{{StartedAt: at, DurationS: 1, Instance: 1}}
	for i, t := range []trial.Trial{{Condition: 1}, {Condition: 2}, {Condition: 0}, {Condition: 1}} {
		at = at.Add(time.Duration((1 + []float64{2 * many, 1000, 2 * few, 2 * many}[i]) * float64(time.Second)))
		t.StartedAt, t.DurationS, t.Instance = at, 1, i+2
		trials = append(trials, t)
	}
	if got := CostOf(trials, on); math.Abs(got.Chain-2*UsualCost.Chain) > 1e-6 || math.Abs(got.Container-2*UsualCost.Container) > 1e-6 {
		t.Errorf("%+v", got)
	}
}
