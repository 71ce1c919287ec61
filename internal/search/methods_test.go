package search

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// lowHigh are the bounds of a result's only goal.
func lowHigh(t *testing.T, r Result) (low, high float64) {
	t.Helper()
	if len(r.Goals) != 1 || r.Goals[0].LowerPps == nil || r.Goals[0].UpperPps == nil {
		t.Fatalf("no bounds: %+v", r)
	}
	return *r.Goals[0].LowerPps, *r.Goals[0].UpperPps
}

func status(t *testing.T, r Result, standard, section, text string) string {
	t.Helper()
	return clause(t, r, standard, section, text).Status
}

func clause(t *testing.T, r Result, standard, section, text string) Clause {
	t.Helper()
	for _, c := range r.Compliance {
		if c.Standard == standard && c.Section == section && strings.Contains(c.Text, text) {
			return c
		}
	}
	t.Fatalf("no clause %s %s about %q in %+v", standard, section, text, r.Compliance)
	return Clause{}
}

func TestThroughputOfACliff(t *testing.T) {
	for seed := range uint64(50) {
		c := capacity(seed)
		r := newBench(cliff(c), seed).search(t, trial.Search{Method: trial.RFC2544Throughput, MaxPps: 1e6, MediumPps: 1e6, LearningFrames: seed%2 == 1})
		low, high := lowHigh(t, r)
		if low > c || high <= c || 1-low/high > 0.005 || r.Irregular || r.Trials > 14 {
			t.Fatalf("capacity %v: %v to %v in %d trials", c, low, high, r.Trials)
		}
		if r.TrafficS != 60*float64(r.Trials) || r.WaitS != 9*float64(r.Trials) {
			t.Errorf("%d trials take %v s and %v s", r.Trials, r.TrafficS, r.WaitS)
		}
		for _, clause := range r.Compliance {
			want := Kept
			if strings.Contains(clause.Text, "frames that fill tables") && seed%2 == 0 {
				want = Partly // a plan fills them
			}
			if clause.Status != want {
				t.Errorf("%+v", clause)
			}
		}
	}
}

// §24 lets the search use short trials, and wants the result shown by a long one.
func TestThroughputIsShownAtFullLength(t *testing.T) {
	spec := trial.Search{Method: trial.RFC2544Throughput, MaxPps: 1e6, Goals: []trial.Goal{{InitialDurationS: 5}}}
	short := func(_ *rand.Rand, _ float64, s trial.Step) float64 {
		c := 5e5
		if s.DurationS >= 60 {
			c = 4.9e5
		}
		return max(0, 1-c/s.LoadPps)
	}
	b := newBench(short, 1)
	low, high := lowHigh(t, b.search(t, spec))
	if low > 4.9e5 || high <= 4.9e5 || 1-low/high > 0.005 {
		t.Errorf("%v to %v, where short trials have 500000 and long ones 490000", low, high)
	}
}

func TestStepDown(t *testing.T) {
	r := newBench(cliff(5.5e5), 1).search(t, trial.Search{Method: trial.RFC2544StepDown, MaxPps: 1e6, StepRatio: 0.1})
	low, high := lowHigh(t, r)
	if math.Abs(low-5e5) > 1 || math.Abs(high-6e5) > 1 || r.Irregular || r.Trials != 6 {
		t.Errorf("%v to %v in %d trials: %s", low, high, r.Trials, r.Why)
	}
}

func TestSystemsWithoutABound(t *testing.T) {
	always := func(loss float64) system {
		return func(*rand.Rand, float64, trial.Step) float64 { return loss }
	}
	for _, method := range []string{trial.RFC2544Throughput, trial.RFC2544StepDown, trial.TST009, trial.MLRsearch} {
		spec := trial.Search{Method: method, MaxPps: 1e6, LossFrames: 1}
		for _, g := range newBench(always(0), 1).search(t, spec).Goals {
			if g.Regular || g.UpperPps != nil || g.LowerPps == nil || *g.LowerPps != 1e6 || !strings.Contains(g.Why, "no upper bound") {
				t.Errorf("%s without loss: %+v", method, g)
			}
		}
		for _, g := range newBench(always(1), 1).search(t, spec).Goals {
			if g.Regular || g.LowerPps != nil || g.UpperPps == nil || *g.UpperPps > 6e3 || g.Why == "" {
				t.Errorf("%s with nothing but loss: %+v", method, g)
			}
		}
	}
}

func TestLatencyAtTheThroughput(t *testing.T) {
	m, err := New(trial.Search{Method: trial.RFC2544Latency, MaxPps: 1e6, ThroughputPps: 4e5})
	if err != nil {
		t.Fatal(err)
	}
	var history []Outcome
	for i := 0; ; i++ {
		step, more := m.Next(history)
		if !more {
			break
		}
		if step.Kind != trial.StepLatency || step.LoadPps != 4e5 || step.DurationS != 120 || step.TagAfterS != 60 {
			t.Fatalf("%+v", step)
		}
		history = append(history, Outcome{Step: step, Metrics: map[string]float64{TagLatency: float64(1000 + i)}})
	}
	r := m.Result(history)
	if len(history) != 20 || r.Irregular || *r.Latency.Mean != 1009.5 || *r.Latency.Min != 1000 || *r.Latency.Max != 1019 {
		t.Errorf("%d trials: %+v", len(history), r.Latency)
	}
	if status(t, r, "RFC 2544", "26.2", "tagged frame a trial") != Kept || status(t, r, "RFC 2544", "26.1", "measured first") != Partly {
		t.Errorf("%+v", r.Compliance)
	}
	for i := range history {
		history[i].Metrics = map[string]float64{MeanLatency: 5}
	}
	if r := m.Result(history); status(t, r, "RFC 2544", "26.2", "tagged frame a trial") != Partly || *r.Latency.Mean != 5 {
		t.Errorf("%+v", r.Latency)
	}
	history[3].Metrics = nil
	if r := m.Result(history); !r.Irregular {
		t.Error("a trial without a latency is not told")
	}
}

// Every method says what its quick trials and waits do not keep, and by default
// that nothing is amiss but what it cannot know.
func TestQuickDeviatesAndSaysSo(t *testing.T) {
	for _, method := range trial.Methods() {
		count := func(quick bool) (amiss int) {
			spec := trial.Search{Method: method, MaxPps: 1e6, MediumPps: 1e6, Quick: quick}
			for _, c := range newBench(cliff(4e5), 1).search(t, spec).Compliance {
				if c.Text == "" || c.Section == "" || c.Standard == "" || (c.Status == Kept) != (c.Why == "") {
					t.Errorf("%s: %+v", method, c)
				}
				if c.Status != Kept {
					amiss++
				}
			}
			return amiss
		}
		if slow, fast := count(false), count(true); fast < slow || fast < 3 {
			t.Errorf("%s: %d clauses not kept when quick, %d else", method, fast, slow)
		}
	}
}

func TestFrameLossCurve(t *testing.T) {
	r := newBench(cliff(5.5e5), 1).search(t, trial.Search{Method: trial.RFC2544FrameLoss, MaxPps: 1e6})
	if r.Trials != 7 || r.Irregular || len(r.Loads) != 7 || r.Loads[0].LoadPps != 4e5 || r.Loads[6].LoadRatio != 1 {
		t.Errorf("%d trials: %+v", r.Trials, r.Loads)
	}
	if got := r.Loads[6].LossRatio; math.Abs(got-0.45) > 1e-9 {
		t.Errorf("loss at the highest load is %v", got)
	}
	r = newBench(cliff(1), 1).search(t, trial.Search{Method: trial.RFC2544FrameLoss, MaxPps: 1e6})
	if !r.Irregular || r.Trials != 10 {
		t.Errorf("%d trials to the lowest load: %s", r.Trials, r.Why)
	}
}

func TestRecovery(t *testing.T) {
	b := newBench(cliff(5e5), 1)
	m, _ := New(trial.Search{Method: trial.RFC2544Recovery, MaxPps: 1e6})
	var history []Outcome
	for {
		step, more := m.Next(history)
		if !more {
			break
		}
		o := b.trial(step)
		if step.Kind == trial.StepRecovery {
			o.Metrics = map[string]float64{Recovery: 0.25}
			if step.LoadPps < 5.4e5 || step.LoadPps > 5.5e5 || math.Abs(step.ThenPps*2/step.LoadPps-1) > 1e-6 || step.ThenS != 60 {
				t.Fatalf("%+v", step)
			}
		}
		history = append(history, o)
	}
	r := m.Result(history)
	if r.Irregular || r.Recovery.Repeats != 10 || *r.Recovery.Mean != 0.25 || len(r.Goals) != 1 {
		t.Errorf("%+v", r)
	}
	if status(t, r, "RFC 2544", "26.5", "overload of 110%") != Kept {
		t.Error("110% is not kept")
	}
}

// buffer is a queue of so many frames in front of a rate.
func buffer(frames, rate float64) system {
	return func(_ *rand.Rand, _ float64, s trial.Step) float64 {
		if s.Kind != trial.StepBurst {
			return max(0, 1-rate/s.LoadPps)
		}
		n := float64(s.BurstFrames)
		held := frames + n*rate/s.LoadPps
		return max(0, math.Ceil(n-held)/n)
	}
}

func TestBackToBack(t *testing.T) {
	const held, rate, medium = 5000.0, 4e5, 1e6
	spec := trial.Search{Method: trial.RFC9004BackToBack, MaxPps: medium, MediumPps: medium, ThroughputPps: rate, Repeats: 5}
	r := newBench(buffer(held, rate), 1).search(t, spec)
	longest := held / (1 - rate/medium)
	if r.Irregular || r.BackToBack.Lengths[0] > longest || r.BackToBack.Lengths[0] <= longest-16 || len(r.BackToBack.Lengths) != 5 {
		t.Fatalf("%+v, want up to %v; %s", r.BackToBack, longest, r.Why)
	}
	if got := *r.BackToBack.CorrectedS; math.Abs(got/(held/medium)-1) > 0.01 {
		t.Errorf("corrected buffer time %v, want %v", got, held/medium)
	}
	if got := *r.BackToBack.ImpliedS; math.Abs(got/(longest/medium)-1) > 0.01 {
		t.Errorf("implied buffer time %v, want %v", got, longest/medium)
	}
	spec.BurstMaxS = 0.001
	if r := newBench(buffer(held, rate), 1).search(t, spec); !r.Irregular || !strings.Contains(r.Why, "burst_max_s") {
		t.Errorf("the longest burst lost nothing: %q", r.Why)
	}
	spec.ThroughputPps = medium
	if r := newBench(buffer(held, medium), 1).search(t, spec); r.Trials != 0 || r.Irregular || r.Exempt == "" || !r.Finished {
		t.Errorf("%d trials where the throughput is the medium's: %+v", r.Trials, r)
	}
}

// TestMediumIsNotGuessed: without a medium whose rate is known, the clauses on it say what stood
// for it, and whether that was asked for or is what the generator can send.
func TestMediumIsNotGuessed(t *testing.T) {
	for _, c := range []struct {
		name        string
		max, medium float64
		reach       bool
		want, said  string
	}{
		{"asked for", 1e6, 0, false, Partly, "1000000 frames a second that were asked for"},
		{"the generator's", 1e6, 0, true, Partly, "generator can send"},
		{"half the medium", 1e6, 2e6, false, Partly, "1000000 frames a second, of 2000000"},
		{"the medium", 1e6, 1e6, false, Kept, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := Complete(trial.Search{Method: trial.RFC9004BackToBack, MaxPps: c.max, MediumPps: c.medium, ThroughputPps: 4e5, Reach: c.reach})
			r := backToBack{spec}.Result(nil)
			if got := clause(t, r, "RFC 9004", "6.1", "throughput is below"); got.Status != c.want || !strings.Contains(got.Why, c.said) {
				t.Errorf("%+v", got)
			}
			spec.ThroughputPps = 0
			r = backToBack{spec}.Result(nil)
			got := clause(t, r, "RFC 2544", "20", "highest load")
			if c.medium == 0 && (got.Status != Partly || !strings.Contains(got.Why, c.said)) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A burst is followed by silence for as long as its frames still come, and 2 s.
func TestBurstWaits(t *testing.T) {
	m, _ := New(trial.Search{Method: trial.RFC9004BackToBack, MaxPps: 1e6, MediumPps: 1e6, ThroughputPps: 1e5, BurstMaxS: 1})
	step, _ := m.Next(nil)
	sending := float64(step.BurstFrames) / 1e6
	if receiving := float64(step.BurstFrames) / 1e5; step.DurationS+step.DrainS < receiving+2-1e-9 || math.Abs(step.DurationS-sending) > 1e-9 {
		t.Errorf("%+v", step)
	}
}

func TestForwardingRate(t *testing.T) {
	r := newBench(collapsing(5e5), 1).search(t, trial.Search{Method: trial.RFC2889ForwardingRate, MaxPps: 1e6, StepRatio: 0.05})
	f := r.Forwarding
	if math.Abs(f.FRMOLPps-1.25e5) > 1 || f.FRMOLOfferedPps != 1e6 || math.Abs(f.MFRPps-5e5) > 1 || f.MFROfferedPps != 5e5 || r.Irregular {
		t.Errorf("%+v: %s", f, r.Why)
	}
	r = newBench(cliff(9e5), 1).search(t, trial.Search{Method: trial.RFC2889ForwardingRate, MaxPps: 1e6})
	if r.Trials != 1 || r.Forwarding.MFRPps != r.Forwarding.FRMOLPps {
		t.Errorf("%d trials, though lower loads cannot forward more: %+v", r.Trials, r.Forwarding)
	}
}

func TestLossVerificationLooksPastFlukes(t *testing.T) {
	inside, plain := 0, 0
	for seed := range uint64(100) {
		c := capacity(seed)
		fluke := func(r *rand.Rand, now float64, s trial.Step) float64 {
			if r.Float64() < 0.1 {
				return max(1e-5, 1-c/s.LoadPps)
			}
			return cliff(c)(r, now, s)
		}
		r := newBench(fluke, seed).search(t, trial.Search{Method: trial.TST009, MaxPps: 1e6})
		if low, high := lowHigh(t, r); low <= c && c < high {
			inside++
		}
		r = newBench(fluke, seed).search(t, trial.Search{Method: trial.RFC2544Throughput, MaxPps: 1e6})
		if g := r.Goals[0]; g.LowerPps != nil && g.UpperPps != nil && *g.LowerPps <= c && c < *g.UpperPps {
			plain++
		}
	}
	if inside < 95 || inside <= plain {
		t.Errorf("%d of 100 searches found the capacity, %d without verification", inside, plain)
	}
}

// The reference code leaves out the last rate that is left.
func TestHalvingTriesTheLastRate(t *testing.T) {
	s := Complete(trial.Search{Method: trial.TST009, MaxPps: 1e6})
	for n := 1; n < 40; n++ {
		for best := range n + 1 {
			h, tried := newHalving(n, s), 0
			for value, more := h.now(); more; value, more = h.now() {
				lost := 0.0
				if value > best {
					lost = 1e6
				}
				h, tried = h.after(lost), tried+1
			}
			if h.found != best || tried > 6 {
				t.Fatalf("%d of %d: found %d in %d trials", best, n, h.found, tried)
			}
		}
	}
}

// What the generator cannot send is not what the chain cannot carry.
func TestGeneratorTooSlow(t *testing.T) {
	for _, method := range []string{trial.RFC2544Throughput, trial.TST009, trial.MLRsearch} {
		b := newBench(cliff(2e6), 1)
		b.most = 5e5
		for _, g := range b.search(t, trial.Search{Method: method, MaxPps: 1e6}).Goals {
			if !g.GeneratorLimited || *g.LowerPps > 5.1e5 || *g.UpperPps < 5e5 {
				t.Errorf("%s: %v to %v, limited by the generator: %v", method, *g.LowerPps, *g.UpperPps, g.GeneratorLimited)
			}
		}
		for _, g := range newBench(cliff(5e5), 1).search(t, trial.Search{Method: method, MaxPps: 1e6}).Goals {
			if g.GeneratorLimited {
				t.Errorf("%s: the chain's own limit taken for the generator's", method)
			}
		}
	}
}

// The highest load at which the 99th percentile of latency stays below 50 µs.
func TestServiceLevelAsAGoal(t *testing.T) {
	most := 50e3
	spec := trial.Search{Method: trial.MLRsearch, MaxPps: 1e6, Goals: []trial.Goal{{
		Name: "sla", FinalDurationS: 5, DurationSumS: 15, ExceedRatio: 0.5, LossRatio: 1e-6,
		Limits: []trial.Limit{{Metric: "one_way_latency_p99_ns", AtMost: &most}},
	}}}
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(cliff(8e5), 1)
	var history []Outcome
	for {
		step, more := m.Next(history)
		if !more {
			break
		}
		o := b.trial(step)
		// A queue: 10 µs without load, 50 µs at 80% of the capacity.
		o.Metrics = map[string]float64{"one_way_latency_p99_ns": 10e3 / max(1e-3, 1-step.LoadPps/8e5)}
		history = append(history, o)
	}
	low, high := lowHigh(t, m.Result(history))
	if low > 6.4e5 || high < 6.4e5 || 1-low/high > 0.005 {
		t.Errorf("%v to %v, want 640000 between", low, high)
	}
}

// Bursts that a generator could not send back to back say nothing of buffers.
func TestSlowBursts(t *testing.T) {
	m, err := New(trial.Search{Method: trial.RFC9004BackToBack, MaxPps: 1e6, MediumPps: 1e6, ThroughputPps: 4e5, Repeats: 1, BurstMaxS: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	for sent, irregular := range map[float64]bool{3e5: true, 0.99e6: false} {
		var history []Outcome
		for {
			step, more := m.Next(history)
			if !more {
				break
			}
			lost := max(0, 1-5000/float64(max(step.BurstFrames, 1)))
			history = append(history, Outcome{Step: step, LossRatio: lost, SentPps: sent})
		}
		r := m.Result(history)
		if r.Irregular != irregular || irregular != (r.BackToBack.CorrectedS == nil) || irregular != strings.Contains(r.Why, "back to back") {
			t.Errorf("sent at %v: irregular %t, %q, %+v", sent, r.Irregular, r.Why, r.BackToBack)
		}
	}
}
