package trial

import (
	"math/rand/v2"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/stats"
)

// redeployed is a run of one condition on chains made anew: the instances' true
// means scatter by between about 100, and the repeats on each by within.
func redeployed(r *rand.Rand, instances, each int, within, between float64) Run {
	run := Run{Conditions: []Condition{{}}, Repeats: instances * each, Redeploy: instances}
	for i := 1; i <= instances; i++ {
		mean := 100 + between*r.NormFloat64()
		for range each {
			run.Trials = append(run.Trials, Trial{Repeat: len(run.Trials) + 1, Instance: i,
				Metrics: Map[float64]{"goodput_bps": mean + within*r.NormFloat64()}})
		}
	}
	return run
}

// TestRepeatsOnAnInstanceAreNotIndependent: the interval over instances covers the
// mean over all chains that might be made; one that takes every repeat for
// independent does not.
func TestRepeatsOnAnInstanceAreNotIndependent(t *testing.T) {
	const draws = 2000
	r, covered, naive := rand.New(rand.NewPCG(1, 2)), 0, 0
	for range draws {
		run := redeployed(r, 5, 4, 1, 2)
		if ci := Summarize(run)[0].Metrics["goodput_bps"].CI95; ci[0] <= 100 && 100 <= ci[1] {
			covered++
		}
		if ci := stats.Summarize(run.Samples(0, "goodput_bps")).CI95; ci[0] <= 100 && 100 <= ci[1] {
			naive++
		}
	}
	if ci := stats.ProportionInterval(covered, draws); ci[1] < .95 || ci[0] > .95 {
		t.Errorf("covers %v, want 95%%", ci)
	}
	if ci := stats.ProportionInterval(naive, draws); ci[1] > .85 {
		t.Errorf("taken for independent it covers %v: the test shows nothing", ci)
	}
}

func TestSummaryOfInstances(t *testing.T) {
	run := redeployed(rand.New(rand.NewPCG(3, 4)), 3, 4, 1, 5)
	s := Summarize(run)[0].Metrics["goodput_bps"]
	if s.N != 12 || s.Instances != 3 || s.Components == nil || s.Components.Instances != 3 || s.Drift != nil {
		t.Errorf("%+v", s)
	}
	if xs := run.Independent(0, "goodput_bps"); len(xs) != 3 || len(run.Samples(0, "goodput_bps")) != 12 {
		t.Errorf("%v", xs)
	}
	run.Redeploy = 0
	if s := Summarize(run)[0].Metrics["goodput_bps"]; s.N != 12 || s.Instances != 0 || s.Components != nil || s.Drift == nil {
		t.Errorf("one instance: %+v", s)
	}
}

func TestPercentilesOverInstances(t *testing.T) {
	run := Run{Conditions: []Condition{{}}, Redeploy: 2}
	for i, x := range []float64{1, 2, 90, 5, 6, 7} {
		run.Trials = append(run.Trials, Trial{Repeat: i + 1, Instance: 1 + i/3, Metrics: Map[float64]{"latency_p50_ns": x}})
	}
	if s := Summarize(run)[0].Metrics["latency_p50_ns"]; s.Mean != nil || s.Median != 4 || s.N != 6 || s.DetectableRatio != nil {
		t.Errorf("%+v, want the median of 2 and 6", s)
	}
}

func TestPairsByBlock(t *testing.T) {
	run := Run{Conditions: []Condition{{}, {}}}
	add := func(condition, repeat, instance int, x float64) {
		run.Trials = append(run.Trials, Trial{Condition: condition, Repeat: repeat, Instance: instance, Metrics: Map[float64]{"goodput_bps": x}})
	}
	add(1, 2, 1, 20)
	add(0, 1, 1, 1)
	add(0, 2, 1, 2)
	add(1, 3, 2, 30)
	add(0, 3, 2, 3)
	if xs, ys := run.Pairs(0, 1, "goodput_bps"); !slices.Equal(xs, []float64{2, 3}) || !slices.Equal(ys, []float64{20, 30}) {
		t.Errorf("%v and %v", xs, ys)
	}
	run.Redeploy = 2
	if xs, ys := run.Pairs(0, 1, "goodput_bps"); !slices.Equal(xs, []float64{1.5, 3}) || !slices.Equal(ys, []float64{20, 30}) {
		t.Errorf("by instance: %v and %v", xs, ys)
	}
}

func TestSummaryShowsOutliersAndDrift(t *testing.T) {
	run := Run{Conditions: []Condition{{}}}
	for i, x := range []float64{100, 99, 98.5, 60, 97, 96, 95.5, 95, 94, 93} {
		run.Trials = append(run.Trials, Trial{Repeat: i + 1, Metrics: Map[float64]{"goodput_bps": x}})
	}
	s := Summarize(run)[0].Metrics["goodput_bps"]
	if !slices.Equal(s.Outliers, []int{4}) || s.N != 10 {
		t.Errorf("outliers %v of %d", s.Outliers, s.N)
	}
	if s.Drift == nil || !s.Drift.Drifting || s.Drift.ChangeRatio > -.05 {
		t.Errorf("%+v", s.Drift)
	}
	if s.DetectableRatio == nil || *s.DetectableRatio <= 0 {
		t.Error("no detectable difference")
	}
}

// TestUntilIsNeverNarrowerThanAsked: the rule that ended the repeats went by the
// interval, so the interval says no more than the rule.
func TestUntilIsNeverNarrowerThanAsked(t *testing.T) {
	run := Run{Conditions: []Condition{{}}, Until: .04}
	for i, x := range []float64{100, 100.1, 99.9, 100, 100.1, 99.9, 100, 100} {
		run.Trials = append(run.Trials, Trial{Repeat: i + 1, Metrics: Map[float64]{"goodput_bps": x, "retransmits": x}})
	}
	m := Summarize(run)[0].Metrics
	if ci := m["goodput_bps"].CI95; ci[1]-ci[0] < 3.999 {
		t.Errorf("%v", *ci)
	}
	if ci := m["retransmits"].CI95; ci[1]-ci[0] > 1 {
		t.Errorf("what the rule did not go by: %v", *ci)
	}
}

func TestMainMetric(t *testing.T) {
	only := func(name string) func(string) bool { return func(m string) bool { return m == name } }
	for _, name := range []string{"goodput_bps", "latency_p50_ns", "forwarding_rate_pps"} {
		if got := MainMetric(only(name)); got != name {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := MainMetric(only("retransmits")); got != "" {
		t.Error(got)
	}
}
