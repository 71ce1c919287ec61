package experiment

import (
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// onAverage is the claim that ovs gains so much on veth over all flows, within a range.
func onAverage(least, most float64) api.Check {
	return api.Check{Kind: "ratio_mean", Over: "flows", A: veth, B: ovs, AtLeast: &least, AtMost: &most}
}

// TestRatioMeanIsOfTheSums: a gain at few flows and a loss at many make one number.
func TestRatioMeanIsOfTheSums(t *testing.T) {
	// 100 + 200 + 400 + 800 = 1500 against 200 + 300 + 400 + 750 = 1650: 1.1 times.
	gains := map[int]float64{1: 200, 2: 300, 4: 400, 8: 750}
	m := machine{noise: 0.002, repeats: 8, truth: func(wiring string, flows int) float64 {
		if wiring == "ovs" {
			return gains[flows]
		}
		return 100 * float64(flows)
	}}
	run := m.measure(1)
	for _, c := range []struct {
		least, most float64
		want        string
	}{{1.08, 1.12, Holds}, {1.2, 1.4, DoesNotHold}, {1.1, 1.4, Undecided}} {
		if v := judged(onAverage(c.least, c.most), run); v.Verdict != c.want {
			t.Errorf("from %v to %v: %s, want %s: %s", c.least, c.most, v.Verdict, c.want, v.Reason)
		}
	}
	run.Conditions, run.Trials = run.Conditions[:7], run.Trials[:7*8]
	if v := judged(onAverage(1.08, 1.5), run); v.Verdict != CannotBeTold {
		t.Errorf("without ovs at 8 flows: %s: %s", v.Verdict, v.Reason)
	}
}

// TestRatioMeanOfLosses, which may be zero at some values, and at all.
func TestRatioMeanOfLosses(t *testing.T) {
	m := machine{noise: 0.002, repeats: 8, truth: func(wiring string, flows int) float64 {
		switch {
		case flows == 1:
			return 0
		case wiring == "ovs":
			return 0.02
		}
		return 0.01
	}}
	if v := judged(onAverage(1.9, 2.1), m.measure(2)); v.Verdict != Holds {
		t.Errorf("%s: %s", v.Verdict, v.Reason)
	}
	m.truth = func(string, int) float64 { return 0 }
	if v := judged(onAverage(0, 9), m.measure(3)); v.Verdict != CannotBeTold {
		t.Errorf("nothing is lost anywhere: %s: %s", v.Verdict, v.Reason)
	}
}
