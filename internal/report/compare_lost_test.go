package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// losing is the sample bench in which what became of the trials of some conditions is
// said anew.
func losing(become func(t *trial.Trial) (kept bool), conditions ...int) Report {
	run := sampleBench().Run
	run.Trials = slices.DeleteFunc(slices.Clone(run.Trials), func(t trial.Trial) bool {
		return slices.Contains(conditions, t.Condition) && !become(&t)
	})
	for i := range run.Trials {
		if slices.Contains(conditions, run.Trials[i].Condition) {
			become(&run.Trials[i])
		}
	}
	return New(run)
}

func failing(t *trial.Trial) bool {
	t.Metrics, t.Warnings = nil, []string{"failed: iperf3: connection refused"}
	return true
}

func neverBegun(*trial.Trial) bool { return false }

// TestWhatCanNoLongerBeMeasuredIsNotTheSame: not by the direct path, nor by the conditions
// that are left, nor where nothing is.
func TestWhatCanNoLongerBeMeasuredIsNotTheSame(t *testing.T) {
	for name, conditions := range map[string][]int{"one": {0}, "all through the chain": {0, 1, 2}, "all": {0, 1, 2, 3, 4, 5}} {
		c, err := Compare(sampleBench(), losing(failing, conditions...), CompareOptions{Tolerance: .5})
		if err != nil || c.Verdict != Slower {
			t.Fatalf("%s: %q, %v", name, c.Verdict, err)
		}
		if worse := strings.Join(c.Worse(), "\n"); !strings.Contains(worse, "6 of 6 trials failed; the first failed: iperf3: connection refused") {
			t.Errorf("%s: %s", name, worse)
		}
		var text, object bytes.Buffer
		if err := errors.Join(c.Text(&text), c.JSON(&object)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text.String(), "NO LONGER MEASURED") || !strings.Contains(text.String(), "worse (gate)") {
			t.Errorf("%s: %s", name, text.String())
		}
		r := sampleBench()
		if r.Against = &c; !strings.Contains(r.againstTable().Caption, "No longer measured: ") {
			t.Errorf("%s: %s", name, r.againstTable().Caption)
		}
		var read Comparison
		if err := json.Unmarshal(object.Bytes(), &read); err != nil || len(read.Lost) != min(3, len(conditions)) || read.Lost[0].Failed != 6 {
			t.Errorf("%s: %+v, %v", name, read.Lost, err)
		}
	}
}

// TestWhatWasNotMeasuredYetIsUndecided: a run that ended before tells nothing of the chain.
func TestWhatWasNotMeasuredYetIsUndecided(t *testing.T) {
	for name, conditions := range map[string][]int{"one": {0}, "all through the chain": {0, 1, 2}} {
		c, err := Compare(sampleBench(), losing(neverBegun, conditions...), CompareOptions{Tolerance: .9})
		if err != nil || c.Verdict != Undecided || len(c.Worse()) > 0 {
			t.Errorf("%s: %q, %v, %v", name, c.Verdict, c.Worse(), err)
		}
		if text := c.overallText("a"); !strings.Contains(text, "measured before without a value now") {
			t.Errorf("%s: %s", name, text)
		}
	}
	if _, err := Compare(sampleBench(), losing(neverBegun, 0, 1, 2, 3, 4, 5), CompareOptions{}); !errors.Is(err, ErrNoMetric) {
		t.Errorf("nothing measured: %v", err)
	}
}

// TestTheDirectPathIsNoStandIn for a chain of which the baseline itself measured nothing.
func TestTheDirectPathIsNoStandIn(t *testing.T) {
	c, err := Compare(losing(failing, 0, 1, 2), sampleBench(), CompareOptions{Tolerance: .9})
	if err != nil || c.Verdict != Undecided || !strings.Contains(c.overallText("a"), "no condition through the chain was measured in both") {
		t.Errorf("%q, %v", c.overallText("a"), err)
	}
	direct := func() Report {
		r := losing(neverBegun, 0, 1, 2).Run
		r.Conditions = r.Conditions[3:]
		for i := range r.Trials {
			r.Trials[i].Condition -= 3
		}
		return New(r)
	}
	if c, err := Compare(direct(), direct(), CompareOptions{Tolerance: .9}); err != nil || c.Verdict != Same {
		t.Errorf("without a chain: %q, %v", c.Verdict, err)
	}
}
