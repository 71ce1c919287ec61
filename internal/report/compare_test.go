package report

import (
	"bytes"
	"errors"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// changed is the sample bench with every metric of the chain's TCP and latency
// multiplied.
func changed(by float64) Report {
	run := sampleBench().Run
	run.ID = "20261122-000000-0000"
	for i := range run.Trials {
		if run.Conditions[run.Trials[i].Condition].Protocol != trial.UDP {
			for m := range run.Trials[i].Metrics {
				run.Trials[i].Metrics[m] *= by
			}
		}
	}
	return New(run)
}

func verdictOf(t *testing.T, c Comparison, path, metric string) string {
	t.Helper()
	for _, change := range c.Changes {
		if change.Condition.Path == path && change.Metric == metric && change.Condition.Protocol != trial.UDP {
			return change.Verdict
		}
	}
	t.Fatalf("no change of %s", metric)
	return ""
}

func TestCompareVerdicts(t *testing.T) {
	for by, want := range map[float64][2]string{2: {Better, Worse}, .5: {Worse, Better}, 1: {Same, Undecided}} {
		c, err := Compare(sampleBench(), changed(by), CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := verdictOf(t, c, trial.PathChain, "goodput_bps"); got != want[0] {
			t.Errorf("× %v: goodput is %s, want %s", by, got, want[0])
		}
		if got := verdictOf(t, c, trial.PathChain, "latency_p50_ns"); got != want[1] {
			t.Errorf("× %v: latency is %s, want %s", by, got, want[1])
		}
		if (by == 1) != (c.Worse() == 0) {
			t.Errorf("× %v: %d worse", by, c.Worse())
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
		lo, hi float64
		good   direction
		want   string
	}{
		{.99, 1.015, higherIsBetter, Same}, {1.001, 1.019, higherIsBetter, Same}, {.97, 1.01, higherIsBetter, Undecided},
		{1.01, 1.1, higherIsBetter, Better}, {1.01, 1.1, lowerIsBetter, Worse}, {.8, .9, higherIsBetter, Worse},
		{.8, .9, lowerIsBetter, Better}, {.8, .9, unknownDirection, Changed}, {.5, math.Inf(1), higherIsBetter, Undecided},
	} {
		if got := judge(stats.Estimate{CI95: &[2]float64{c.lo, c.hi}}, some, some, c.good, .02); got != c.want {
			t.Errorf("[%v, %v]: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	if got := judge(stats.Estimate{Value: math.NaN()}, zero, zero, lowerIsBetter, .02); got != Same {
		t.Errorf("no loss twice: %s", got)
	}
	if got := judge(stats.Estimate{Value: math.NaN()}, zero, some, lowerIsBetter, .02); got != Undecided {
		t.Errorf("loss from none: %s", got)
	}
}

// TestMedianRatioCovers draws both samples from a skewed distribution and wants
// the interval to hold the true quotient in at least 95% of draws.
func TestMedianRatioCovers(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	draw := func(n int, scale, spread float64) stats.Summary {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = scale * math.Exp(spread*r.NormFloat64())
		}
		return stats.SummarizePercentile(xs, math.NaN())
	}
	for _, n := range []int{6, 9, 20} {
		for _, spread := range []float64{.01, .5} {
			covered, draws := 0, 4000
			for range draws {
				e := medianRatio(draw(n, 1, .5), draw(n, 3, spread))
				if e.CI95[0] <= 3 && 3 <= e.CI95[1] {
					covered++
				}
			}
			if share := float64(covered) / float64(draws); share < .945 {
				t.Errorf("n = %d, spread %v: covers %.3f", n, spread, share)
			}
		}
	}
}
