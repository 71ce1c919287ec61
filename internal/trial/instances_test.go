package trial

import "testing"

// TestRepeatsOf: a condition that has some instances of the chain alone has their repeats alone.
func TestRepeatsOf(t *testing.T) {
	run := Run{Repeats: 10, Redeploy: 5, Conditions: []Condition{{}, {Instances: []int{1, 2, 5}}, {Instances: []int{4}}}}
	for i, want := range []int{10, 6, 2} {
		if got := run.RepeatsOf(run.Conditions[i]); got != want {
			t.Errorf("condition %d has %d repeats, want %d", i, got, want)
		}
	}
	if got := run.Asked(); got != 18 {
		t.Errorf("%d trials were asked for", got)
	}
	if c := run.Conditions[1]; !c.On(2) || c.On(3) || !run.Conditions[0].On(3) {
		t.Error("conditions are on other instances")
	}
}
