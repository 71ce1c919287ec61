package report

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// changed is the sample bench with every metric of the chain's TCP and latency
// multiplied; those of the direct path too, where alike says so.
func changed(by float64, alike ...bool) Report {
	run := sampleBench().Run
	run.ID = "20261122-000000-0000"
	for i := range run.Trials {
		c := run.Conditions[run.Trials[i].Condition]
		if c.Protocol != trial.UDP && (c.Path == trial.PathChain || len(alike) > 0) {
			for m := range run.Trials[i].Metrics {
				run.Trials[i].Metrics[m] *= by
			}
		}
	}
	return New(run)
}

// TestWhatTheMachineDoesIsNoAlarm: where the direct path slowed down as much, the
// chain is not to blame, and the reader is told.
func TestWhatTheMachineDoesIsNoAlarm(t *testing.T) {
	c, err := Compare(sampleBench(), changed(.5, true), CompareOptions{Tolerance: .05})
	if err != nil || len(c.Worse()) > 0 || c.Verdict == Slower {
		t.Errorf("%s: %v, %v", c.Verdict, c.Worse(), err)
	}
	if got := verdictOf(t, c, trial.PathChain, "goodput_bps"); got != Worse {
		t.Errorf("goodput itself is %s", got)
	}
	if notes := strings.Join(c.notes(), "\n"); !strings.Contains(notes, "The direct path, which no function touches, changed too") {
		t.Error(notes)
	}
}

func verdictOf(t *testing.T, c Comparison, path, metric string) string {
	t.Helper()
	for _, change := range c.Changes {
		if change.Condition.Path == path && change.Metric == metric && !change.OverDirect && change.Condition.Protocol != trial.UDP {
			return change.Verdict
		}
	}
	t.Fatalf("no change of %s", metric)
	return ""
}

func TestCompareVerdicts(t *testing.T) {
	for by, want := range map[float64][2]string{2: {Better, Worse}, .5: {Worse, Better}, 1: {Same, Undecided}} {
		c, err := Compare(sampleBench(), changed(by), CompareOptions{Tolerance: .03})
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictOf(t, c, trial.PathChain, "goodput_bps"); got != want[0] {
			t.Errorf("× %v: goodput is %s, want %s", by, got, want[0])
		}
		if got := verdictOf(t, c, trial.PathChain, "latency_p50_ns"); got != want[1] {
			t.Errorf("× %v: latency is %s, want %s", by, got, want[1])
		}
		if (by == 1) != (len(c.Worse()) == 0) {
			t.Errorf("× %v: %v worse", by, c.Worse())
		}
	}
}

func TestCompareRefusesUnlikeEnvironments(t *testing.T) {
	b := changed(1)
	b.Run.Environment.Kernel = "6.1.0"
	b.Run.Environment.NfchainVersion = "v0.2.0"
	b.Run.Environment.Tools = map[string]string{"iperf3": "3.9"}
	_, err := Compare(sampleBench(), b, CompareOptions{})
	if !errors.Is(err, ErrUnlike) || !strings.Contains(err.Error(), "kernel: 6.18.0-1-cloud-amd64 and 6.1.0") {
		t.Errorf("%v", err)
	}
	c, err := Compare(sampleBench(), b, CompareOptions{Force: true})
	if err != nil || !c.Forced || !slices.Equal(whats(c.Unlike), []string{"kernel", "tool iperf3"}) ||
		!slices.Equal(whats(c.Noted), []string{"nfchain", "tool sockperf"}) {
		t.Errorf("forced: %+v, %+v, %v", c.Unlike, c.Noted, err)
	}
}

func TestCompareMatchesWhatIsAlike(t *testing.T) {
	b := changed(1)
	b.Conditions[0].Length = 12 // another chain: compared
	b.Conditions[1].Flows = 8   // another load: not
	c, err := Compare(sampleBench(), b, CompareOptions{})
	if err != nil || len(c.OnlyA) != 1 || len(c.OnlyB) != 1 || c.OnlyB[0].Flows != 8 {
		t.Errorf("only a %+v, only b %+v, %v", c.OnlyA, c.OnlyB, err)
	}
	for i := range b.Conditions {
		b.Conditions[i].Flows = 99
	}
	if _, err := Compare(sampleBench(), b, CompareOptions{}); !errors.Is(err, ErrNothingInCommon) {
		t.Error(err)
	}
}

// TestCompareWithoutMetrics: what a search took is no metric of the chain's, and where there is no other nothing is compared, nor said to differ.
func TestCompareWithoutMetrics(t *testing.T) {
	searched := func(more ...string) Report {
		r := sampleBench()
		for i := range r.Conditions {
			one := r.Conditions[i].Metrics["goodput_bps"]
			r.Conditions[i].Metrics = map[string]stats.Summary{"search_traffic_s": one, "search_trials": one}
			for _, m := range more {
				r.Conditions[i].Metrics[m] = one
			}
		}
		return r
	}
	if _, err := Compare(searched(), searched(), CompareOptions{}); !errors.Is(err, ErrNoMetric) {
		t.Error(err)
	}
	c, err := Compare(searched("tag_latency_ns"), searched("tag_latency_ns"), CompareOptions{})
	if err != nil || !slices.ContainsFunc(c.Changes, func(c Change) bool { return c.Gated && c.Metric == "tag_latency_ns" }) {
		t.Errorf("%+v, %v", c.Changes, err)
	}
}

func TestCompareGolden(t *testing.T) {
	b := changed(1.1)
	b.Run.Environment.Governor = "powersave"
	b.Run.Environment.NfchainVersion = "v0.2.0"
	b.Conditions[1].Flows = 8
	c, err := Compare(sampleBench(), b, CompareOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	var text, object bytes.Buffer
	if err := errors.Join(c.Text(&text), c.JSON(&object)); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.txt", text.Bytes())
	golden(t, "compare.json", object.Bytes())
	if strings.Contains(object.String(), "null") {
		t.Error("null in the JSON")
	}
}

// TestRatioToWhatMayBeZero: nothing is known of a quotient whose divisor cannot
// be told from zero, even where the dividend is zero in every trial.
func TestRatioToWhatMayBeZero(t *testing.T) {
	with := func(xs ...float64) Report {
		run := trial.Run{Conditions: []trial.Condition{{}}, Repeats: len(xs)}
		for _, x := range xs {
			run.Trials = append(run.Trials, trial.Trial{Metrics: map[string]float64{"retransmits": x}})
		}
		return New(run)
	}
	if e := ratioOf(with(1, 3, 6240), 0, with(0, 0, 0), 0, "retransmits"); e.CI95 != nil || e.Value != 0 {
		t.Errorf("%v %v", e.Value, e.CI95)
	}
}

func TestJudge(t *testing.T) {
	zero, some := stats.Summarize([]float64{0, 0, 0}), stats.Summarize([]float64{1, 2, 3})
	for _, c := range []struct {
		lo, value, hi float64
		good          direction
		want          string
	}{
		{.99, 1, 1.015, higherIsBetter, Same}, {1.001, 1.01, 1.019, higherIsBetter, Same}, {.97, .99, 1.01, higherIsBetter, Undecided},
		{1.01, 1.05, 1.1, higherIsBetter, Better}, {1.01, 1.05, 1.1, lowerIsBetter, Worse}, {.8, .85, .9, higherIsBetter, Worse},
		{.8, .85, .9, lowerIsBetter, Better}, {.8, .85, .9, unknownDirection, Changed}, {.5, .6, math.Inf(1), higherIsBetter, Undecided},
		{.97, .985, .999, higherIsBetter, Undecided}, {1.001, 1.015, 1.03, lowerIsBetter, Undecided}, // sure, but perhaps within the tolerance
	} {
		if got := judge(stats.Estimate{Value: c.value, CI95: &[2]float64{c.lo, c.hi}}, some, some, c.good, .02); got != c.want {
			t.Errorf("[%v, %v]: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	none := stats.Estimate{Value: math.NaN()}
	if got := judge(none, zero, zero, lowerIsBetter, .02); got != Same {
		t.Errorf("no loss twice: %s", got)
	}
	if got := judge(none, zero, some, lowerIsBetter, .02); got != Undecided {
		t.Errorf("loss that may be none: %s", got)
	}
	if got := judge(none, zero, stats.Summarize([]float64{.10, .11, .12}), lowerIsBetter, .02); got != Worse {
		t.Errorf("loss from none: %s", got)
	}
}

func TestComparisonAsAWhole(t *testing.T) {
	for by, want := range map[float64]string{1: Undecided, .5: Slower} {
		c, err := Compare(sampleBench(), changed(by), CompareOptions{})
		if err != nil || c.Verdict != want {
			t.Errorf("× %v: %s, want %s (%v)", by, c.Verdict, want, err)
		}
		for _, change := range c.Changes {
			main := change.Metric == "goodput_bps" || change.Metric == "latency_p50_ns"
			if want := main && change.Condition.Path == trial.PathChain && change.OverDirect; change.Gated != want || change.Gated != (change.GateInterval != nil) {
				t.Errorf("%s %s: gated is %v", change.Condition.Path, change.Metric, change.Gated)
			}
			if change.Gated && change.GateInterval[1]-change.GateInterval[0] < change.CI95[1]-change.CI95[0] {
				t.Errorf("%s: of three at once, [%v] is narrower than one alone", change.Metric, *change.GateInterval)
			}
		}
	}
	tcp := func(r Report) Report {
		r.Run.Conditions = r.Run.Conditions[:1]
		var kept []trial.Trial
		for _, t := range r.Run.Trials {
			if t.Condition == 0 {
				kept = append(kept, t)
			}
		}
		r.Run.Trials = kept
		return New(r.Run)
	}
	for by, want := range map[float64]string{1: Same, 2: Faster, .5: Slower} {
		if c, err := Compare(tcp(sampleBench()), tcp(changed(by)), CompareOptions{}); err != nil || c.Verdict != want {
			t.Errorf("TCP × %v: %s, want %s (%v)", by, c.Verdict, want, err)
		}
	}
}

// TestLearningFramesDoNotSetSearchesApart: a baseline of before can still be compared with.
func TestLearningFramesDoNotSetSearchesApart(t *testing.T) {
	of := func(learning bool) string {
		return key(trial.Condition{Search: &trial.Search{Method: trial.MLRsearch, LearningFrames: learning}}, true)
	}
	if of(true) != of(false) {
		t.Errorf("%s, %s", of(true), of(false))
	}
}

// TestCeilingsDoNotSetSearchesApart: what the generator can send is found anew in each
// run, unless the file says how far to go.
func TestCeilingsDoNotSetSearchesApart(t *testing.T) {
	for _, reach := range []bool{true, false} {
		of := func(most float64) string {
			return key(trial.Condition{Search: &trial.Search{Method: trial.MLRsearch, MinPps: most / 1000, MaxPps: most, Reach: reach}}, true)
		}
		if (of(4.2e6) == of(4.3e6)) != reach {
			t.Errorf("reach %t: %s, %s", reach, of(4.2e6), of(4.3e6))
		}
	}
}
