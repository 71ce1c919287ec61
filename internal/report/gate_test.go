package report

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// gateRuns are runs of one chain whose repeats scatter by within, and whose means by
// between, about 10 Gb/s.
func gateRuns(seed int64, runs, repeats int, within, between float64) (out []trial.Run) {
	r := rand.New(rand.NewSource(seed))
	for range runs {
		run := trial.Run{ID: "a", Chain: "edge", Repeats: repeats, State: trial.Done, Environment: sampleEnvironment}
		mean := around(r, 10e9, between)
		addCondition(&run, trial.Condition{Path: trial.PathDirect, Protocol: trial.TCP}, func() map[string]float64 { return map[string]float64{"goodput_bps": 1} })
		addCondition(&run, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP}, func() map[string]float64 { return map[string]float64{"goodput_bps": around(r, mean, within)} })
		out = append(out, run)
	}
	return out
}

func try(t *testing.T, runs []trial.Run, o GateOptions) Gate {
	t.Helper()
	g, err := TryGate(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestGateOfQuietRuns: where repeats scatter by 1% and runs do not differ, ten
// repeats raise hardly a false alarm and catch what power says they do.
func TestGateOfQuietRuns(t *testing.T) {
	g := try(t, gateRuns(1, 20, 10, .01, 0), GateOptions{Tolerance: .01, Pairs: 200, Seed: 1})
	if g.FalseAlarms.CI95[0] > .05 || g.FalseAlarms.Pairs != 200 || g.Repeats != 10 {
		t.Errorf("%+v", g.FalseAlarms)
	}
	// The standard error of the quotient is 0.45%; 2.1 + 1.65 of them are 1.7%.
	if g.Smallest == nil || *g.Smallest < .01 || *g.Smallest > .025 {
		t.Errorf("smallest %v of %+v", g.Smallest, g.Caught)
	}
	for i := 1; i < len(g.Caught); i++ {
		if g.Caught[i].Alarms < g.Caught[i-1].Alarms {
			t.Errorf("%+v is caught less often than %+v", g.Caught[i], g.Caught[i-1])
		}
	}
}

// TestGateOfRunsThatDiffer: what differs between runs shows only where several are
// given, as false alarms that one run hides.
func TestGateOfRunsThatDiffer(t *testing.T) {
	several := try(t, gateRuns(2, 20, 20, .01, .05), GateOptions{Repeats: 10, Pairs: 200, Seed: 1})
	one := try(t, gateRuns(2, 1, 20, .01, .05), GateOptions{Pairs: 200, Seed: 1})
	if several.FalseAlarms.Alarms < 40 || one.FalseAlarms.CI95[0] > .05 {
		t.Errorf("several %+v, one %+v", several.FalseAlarms, one.FalseAlarms)
	}
}

func TestGateIsRepeatable(t *testing.T) {
	runs := gateRuns(3, 2, 12, .05, 0)
	var first, again, other bytes.Buffer
	err := errors.Join(try(t, runs, GateOptions{Pairs: 50, Seed: 7}).JSON(&first), try(t, runs, GateOptions{Pairs: 50, Seed: 7}).JSON(&again),
		try(t, runs, GateOptions{Pairs: 50, Seed: 8}).JSON(&other))
	if err != nil || first.String() != again.String() || first.String() == other.String() {
		t.Errorf("%v: %s and %s", err, first.String(), again.String())
	}
}

func TestGateGolden(t *testing.T) {
	var text bytes.Buffer
	if err := try(t, gateRuns(4, 1, 20, .02, 0), GateOptions{Pairs: 100, Seed: 1}).Text(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "worth.txt", text.Bytes())
}

// TestGateOfOddRepeats: repeats that are counted from nought, as in a document that another
// program wrote, are drawn from like any other.
func TestGateOfOddRepeats(t *testing.T) {
	runs := gateRuns(6, 1, 8, .01, 0)
	for i := range runs[0].Trials {
		runs[0].Trials[i].Repeat = (runs[0].Trials[i].Repeat - 1) << 40
	}
	if g := try(t, runs, GateOptions{Pairs: 5}); g.Repeats != 4 {
		t.Errorf("%d repeats on each side, want 4", g.Repeats)
	}
}

// TestGateOfASearch goes by what each search came to, not by its steps.
func TestGateOfASearch(t *testing.T) {
	runs := gateRuns(7, 1, 8, .01, 0)
	for i := range runs[0].Trials {
		step := runs[0].Trials[i]
		step.Step, step.Metrics = 1, map[string]float64{"goodput_bps": 5}
		runs[0].Trials = append(runs[0].Trials, step)
	}
	if g := try(t, runs, GateOptions{Pairs: 5}); g.Repeats != 4 {
		t.Errorf("%d repeats on each side, want 4", g.Repeats)
	}
}

func TestGateRefuses(t *testing.T) {
	good := gateRuns(5, 2, 6, .01, 0)
	remade, other := good[0], gateRuns(5, 1, 6, .01, 0)[0]
	remade.Redeploy = 3
	other.Conditions = []trial.Condition{other.Conditions[0], {Path: trial.PathChain, Protocol: trial.UDP}}
	for want, c := range map[string]struct {
		runs    []trial.Run
		repeats int
	}{
		"no run":                       {nil, 0},
		"several instances":            {[]trial.Run{remade}, 0},
		"have not the same conditions": {[]trial.Run{good[0], other}, 0},
		"these runs give 3":            {good[:1], 4},
		"these runs give 6":            {good, 7},
		"no repeat with a trial":       {[]trial.Run{{ID: "empty"}}, 0},
		"takes two or more; measure":   {[]trial.Run{gateRuns(5, 1, 3, 0, 0)[0]}, 0},
	} {
		if _, err := TryGate(c.runs, GateOptions{Repeats: c.repeats, Pairs: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
