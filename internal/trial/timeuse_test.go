package trial

import (
	"math"
	"testing"
)

func TestTimeUse(t *testing.T) {
	run := Run{Conditions: []Condition{{DurationS: 3}, {Search: &Search{}}}}
	if run.TimeUse() != nil {
		t.Error("told of nothing")
	}
	run.Trials = []Trial{
		{DurationS: 3.5, OutsideS: 0.5},
		{DurationS: 3},
		{Condition: 1, Step: 1, Asked: &Step{DurationS: 1}, DurationS: 1, OutsideS: 2},
		{Condition: 1, DurationS: 3}, // what the search came to
	}
	u := run.TimeUse()
	if u == nil || u.WholeS != 10 || u.TrialsS != 7.5 || u.LoadS != 7 || math.Abs(u.Outside-.25) > 1e-9 || math.Abs(u.Unloaded-.3) > 1e-9 {
		t.Errorf("%+v", u)
	}
	for i := range run.Trials {
		run.Trials[i].OutsideS = 0
	}
	if u := run.TimeUse(); u != nil {
		t.Errorf("a run of before has %+v", u)
	}
}
