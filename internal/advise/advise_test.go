package advise

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

var (
	fast   = chain{"veth", []string{"fw", "dpi"}, 20e9, 100e3, 0}
	slow   = chain{"bridge", []string{"fw", "dpi"}, 12e9, 150e3, 0}
	late   = chain{"ovs", []string{"fw", "dpi"}, 18e9, 400e3, 0}
	steady = machine{.01, 12}
)

const wanted = "goodput > 10Gbit, p99 < 200us"

func TestAdviceOnKnownSystems(t *testing.T) {
	c := advised(t, wanted, steady.measure(1, slow, fast, late)).Cases
	if len(c) != 1 || c[0].Verdict != Use || c[0].Choice != "wiring veth" || c[0].Name != "dpi, fw" {
		t.Fatalf("%+v", c)
	}
	for _, want := range []string{"Use wiring veth", "which meets goodput > 10Gbit", "which meets p99 < 200us", "12 trials of tcp]"} {
		if !strings.Contains(c[0].Advice, want) {
			t.Errorf("%s: no %q", c[0].Advice, want)
		}
	}
	for _, want := range []string{"Wiring bridge meets it too, with 0.", "times the goodput", "ovs misses it, since its latency p99 is ", "which misses p99 < 200us"} {
		if !strings.Contains(c[0].Alternatives, want) {
			t.Errorf("%s: no %q", c[0].Alternatives, want)
		}
	}
	if p := c[0].Choices[0].Prices; len(p) != 2 || math.Abs(p[0].Ratio-.6) > .02 || p[0].Interval == nil || p[0].Interval[0] > .6 || p[0].Interval[1] < .6 || math.Abs(p[1].Ratio-1.5) > .05 {
		t.Errorf("%+v", p)
	}
	if sentences := strings.Count(c[0].Advice+" ", ". ") + strings.Count(c[0].Alternatives+" ", ". "); sentences != 2 {
		t.Errorf("%d sentences: %s %s", sentences, c[0].Advice, c[0].Alternatives)
	}
}

func TestNoneAndCannotTell(t *testing.T) {
	none := advised(t, "goodput > 30Gbit", steady.measure(2, fast, slow)).Cases[0]
	if none.Verdict != None || none.Choice != "" || !strings.Contains(none.Advice, "nearest to goodput > 30Gbit is wiring veth") || len(none.Choices[0].Prices) > 0 {
		t.Errorf("%+v", none)
	}
	cases := map[string]struct {
		goal    string
		subject Subject
		why     string
	}{
		"on the edge":   {"goodput > 20Gbit", machine{.05, 12}.measure(3, fast), "the interval lies on both sides of 20 Gb/s"},
		"one trial":     {"goodput > 10Gbit", machine{.01, 1}.measure(3, fast), "there is one trial only"},
		"few trials":    {"p99 < 200us", machine{.01, 4}.measure(3, fast), "4 trials are too few to bound a percentile; it takes 6"},
		"not measured":  {"p99.9 < 200us", steady.measure(3, fast), "p99.9 was not measured"},
		"no such":       {"udp goodput > 1Gbit", steady.measure(3, fast), "udp goodput was not measured"},
		"no trials":     {"goodput > 10Gbit", machine{.01, 0}.measure(3, fast), "goodput was not measured"},
		"wide":          {"goodput > 10Gbit", machine{1.5, 3}.measure(3, fast), "both sides"},
		"never set up":  {"setup < 1ms", steady.measure(3, fast), "setup was not measured"},
		"no connection": {"connect < 1ms", steady.measure(3, fast), "connect was not measured"},
		"one of two is": {"goodput > 10Gbit, packets > 1kpps", steady.measure(3, fast), "packets was not measured"},
	}
	for name, c := range cases {
		got := advised(t, c.goal, c.subject).Cases[0]
		if got.Verdict != CannotTell || got.Choice != "" || !strings.Contains(strings.Join(got.Unknown, "\n"), c.why) || !strings.HasPrefix(got.Advice, "Cannot tell") {
			t.Errorf("%s: %s: %s\n%v", name, got.Verdict, got.Advice, got.Unknown)
		}
	}
}

// What failed, what the generator limited, what was not offered and what was lost make
// advice on nothing.
func TestAdviceRestsOnNothingThatFailed(t *testing.T) {
	edit := func(f func(r *trial.Run)) Subject {
		s := steady.measure(4, fast)
		f(&s.Run)
		return s
	}
	every := func(metric string, x float64) func(r *trial.Run) {
		return func(r *trial.Run) {
			for i := range r.Trials {
				r.Trials[i].Metrics[metric] = x
			}
		}
	}
	cases := map[string]struct {
		goal    string
		subject Subject
		why     string
	}{
		"a trial failed": {"goodput > 10Gbit", edit(func(r *trial.Run) { r.Trials[3].Metrics = nil }), "1 trial did not measure it"},
		"NaN":            {"goodput > 10Gbit", edit(func(r *trial.Run) { r.Trials[3].Metrics["goodput_bps"] = math.NaN() }), "1 trial did not measure it"},
		"the run failed": {"goodput > 10Gbit", edit(func(r *trial.Run) { r.State, r.Repeats = trial.Failed, 20 }), "the run failed before its end"},
		"unsent":         {"goodput > 30Gbit", edit(every("unsent_ratio", .2)), "the generator could not send more"},
		"not offered":    {"goodput > 30Gbit", edit(func(r *trial.Run) { r.Conditions[0].OfferedBps = 21e9 }), "no more than 21 Gb/s was offered"},
		"in frames": {"goodput > 30Gbit", edit(func(r *trial.Run) {
			r.Conditions[0].OfferedPps, r.Conditions[0].FrameSize = 1e6, 1250
		}), "no more than 10 Gb/s was offered"},
		"lossy": {"throughput > 10Gbit", edit(every("loss_ratio", .02)), "2% of loss, more than the goal allows"},
		"lossier": {"throughput > 10Gbit, loss < 1%", func() Subject {
			s := edit(every("loss_ratio", .02))
			s.Run.Trials[0].Metrics["loss_ratio"] = .001
			return s
		}(), "more than the goal allows"},
	}
	for name, c := range cases {
		got := advised(t, c.goal, c.subject).Cases[0]
		if got.Verdict == Use || !strings.Contains(strings.Join(got.Unknown, "\n"), c.why) {
			t.Errorf("%s: %s: %s\n%v", name, got.Verdict, got.Advice, got.Unknown)
		}
	}
	if got := advised(t, "throughput > 10Gbit", edit(func(*trial.Run) {})).Cases[0]; got.Verdict != Use || !strings.Contains(strings.Join(got.Unknown, "\n"), "goodput stands for throughput") {
		t.Errorf("%s: %v", got.Advice, got.Unknown)
	}
	if got := advised(t, "throughput > 10Gbit, loss < 5%", edit(every("loss_ratio", .02))).Cases[0]; got.Verdict != Use {
		t.Errorf("%s: %v", got.Advice, got.Unknown)
	}
}

// How long a chain takes to come up is told by its makings, whatever went through it.
func TestSetupIsOfMakings(t *testing.T) {
	s := steady.measure(17, fast, slow)
	for i := range s.Run.Trials {
		x := &s.Run.Trials[i]
		x.Instance = x.Condition*steady.repeats + (x.Repeat+1)/2 // two trials on each
		if x.Repeat%2 == 0 {
			continue
		}
		x.Made = trial.List[trial.Making]{{Chain: "edge", MakeS: .02*float64(1+x.Condition/3) + .0001*float64(x.Repeat)}}
	}
	c := advised(t, "goodput > 10Gbit, setup < 30ms", s).Cases[0]
	if c.Verdict != Use || c.Choice != "wiring veth" || !strings.Contains(c.Advice, "setup is 20.6 ms") || !strings.Contains(c.Advice, "6 trials") {
		t.Errorf("%s: %v", c.Advice, c.Unknown)
	}
	if !strings.Contains(c.Alternatives, "ridge misses it, since its setup is 40.6 ms") {
		t.Error(c.Alternatives)
	}
	if c := advised(t, "tcp setup < 10ms", s).Cases[0]; c.Verdict != None {
		t.Error(c.Advice)
	}
}

// A percentile over all trials' samples that misses keeps the trials' own from meeting.
func TestPooledPercentileMustKeepItToo(t *testing.T) {
	s := steady.measure(5, fast)
	h := trial.NewHistogram()
	_ = h.RecordValues(300e3, 100)
	text, err := trial.EncodeHistogram(h)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Run.Trials {
		s.Run.Trials[i].Histograms = trial.Map[string]{"latency_ns": text}
	}
	c := advised(t, "p99 < 200us", s).Cases[0]
	if e := c.Choices[0].Clauses[0].Evidence[0]; c.Verdict == Use || e.Pooled == nil || *e.Pooled < 299e3 {
		t.Errorf("%s: %+v", c.Advice, e)
	}
}

// Where every choice lies on the bound, so that none exceeds it, one is advised in fewer
// than one of twenty cases.
func TestFalseAdviceIsRare(t *testing.T) {
	const runs = 200
	edge := func(wiring string) chain { return chain{wiring, []string{"fw"}, 10e9, 200e3, -1} }
	for _, goal := range []string{"goodput > 10Gbit", "p99 < 200us", wanted} {
		for _, m := range []machine{{.03, 3}, {.05, 12}, {.2, 10}} {
			if m.repeats == 3 && goal != "goodput > 10Gbit" {
				continue // too few to say anything of percentiles
			}
			// e^noise is skewed: at a noise of 0.2 its mean is above e^0 by 2%, so that
			// advice is not false.
			if m.noise == .2 && goal != "p99 < 200us" {
				continue
			}
			wrong := map[string]int{}
			for seed := range uint64(runs) {
				a := advised(t, goal, m.measure(seed, edge("veth"), edge("bridge"), edge("ovs"), edge("macvlan")))
				wrong[a.Cases[0].Verdict]++
			}
			if ci := stats.ProportionInterval(wrong[Use], runs); ci[0] > .05 {
				t.Errorf("%s, %+v: advised in %d of %d", goal, m, wrong[Use], runs)
			}
			if ci := stats.ProportionInterval(wrong[None], runs); ci[0] > .05 {
				t.Errorf("%s, %+v: none in %d of %d", goal, m, wrong[None], runs)
			}
		}
	}
}

// Prices of many choices hold at once, the best having been chosen by the same trials.
func TestPricesCover(t *testing.T) {
	const runs = 200
	wrong := 0
	for seed := range uint64(runs) {
		var chains []chain
		for _, wiring := range []string{"a", "b", "c", "d", "e"} {
			chains = append(chains, chain{wiring, []string{"fw"}, 20e9, -1, -1})
		}
		for _, c := range advised(t, "goodput > 10Gbit", machine{.03, 5}.measure(seed, chains...)).Cases[0].Choices {
			for _, p := range c.Prices {
				if p.Interval == nil || p.Interval[0] > 1 || p.Interval[1] < 1 {
					wrong++
					break
				}
			}
		}
	}
	if ci := stats.ProportionInterval(min(wrong, runs), runs); ci[0] > .05 {
		t.Errorf("%d wrong prices in %d runs", wrong, runs)
	}
}

func TestOrderAndGroupingAreChoicesAndFunctionsAreNot(t *testing.T) {
	s := steady.measure(6,
		chain{"veth", []string{"fw", "dpi"}, 12e9, 100e3, -1},
		chain{"veth", []string{"dpi", "fw"}, 13e9, 100e3, -1},
		chain{"veth", []string{"fw+dpi"}, 20e9, 100e3, -1},
		chain{"veth", []string{"fw"}, 30e9, 50e3, -1})
	c := advised(t, wanted, s).Cases
	if len(c) != 2 || c[0].Choice != "wiring veth, order fw+dpi" || len(c[0].Choices) != 3 || c[1].Name != "fw" || len(c[1].Choices) != 1 {
		t.Fatalf("%+v", c)
	}
	if !strings.Contains(c[1].Alternatives, "Nothing else was measured") {
		t.Error(c[1].Alternatives)
	}
	for i := range s.Run.Conditions {
		s.Run.Conditions[i].Factors = trial.Map[any]{"wiring": "veth", "flows": 1 + i%2, "length": 4}
	}
	if c := advised(t, wanted, s).Cases; len(c) != 4 || !strings.Contains(c[0].Name, "flows=1 length=4") {
		t.Errorf("loads and lengths are no choices: %+v", c)
	}
	a, err := Make([]Subject{s}, Options{Goal: goalOf(t, wanted), Where: map[string]any{"flows": 2}})
	if err != nil || len(a.Cases) != 2 {
		t.Errorf("%v %d cases", err, len(a.Cases))
	}
	if _, err := Make([]Subject{s}, Options{Goal: goalOf(t, wanted), Where: map[string]any{"flows": 9}}); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "flows=9") {
		t.Error(err)
	}
}

func TestRunsFromUnlikeMachinesAreRefused(t *testing.T) {
	a, b := steady.measure(7, fast), steady.measure(8, slow)
	a.Run.Environment.Kernel, b.Run.Environment.Kernel = "6.1", "6.18"
	o := Options{Goal: goalOf(t, wanted)}
	if _, err := Make([]Subject{a, b}, o); !errors.Is(err, report.ErrUnlike) || !strings.Contains(err.Error(), "kernel: 6.1 and 6.18") {
		t.Error(err)
	}
	o.Force = true
	advice, err := Make([]Subject{a, b}, o)
	if err != nil || !advice.Forced {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := advice.Text(&text); err != nil || !strings.Contains(text.String(), "FORCED") {
		t.Error(text.String())
	}
	b.Run.Environment.Kernel = "6.1"
	advice, err = Make([]Subject{a, b}, Options{Goal: goalOf(t, wanted)})
	if err != nil || len(advice.Cases) != 1 || len(advice.Cases[0].Choices) != 2 || advice.Cases[0].Choices[1].Prices == nil {
		t.Errorf("%v %+v", err, advice.Cases)
	}
}

// Runs of unlike loads are cases of their own: what carried less may have been asked less.
func TestUnlikeLoadsAreNotCompared(t *testing.T) {
	a, b := steady.measure(9, fast), steady.measure(10, slow)
	b.Run.Conditions[0].Flows = 8
	c := advised(t, wanted, a, b).Cases
	if len(c) != 2 || c[0].Name != "dpi, fw; loaded as in run run9" || c[1].Name != "dpi, fw; loaded as in run run10" {
		t.Fatalf("%+v", c)
	}
	for _, x := range c {
		if len(x.Choices) != 1 || x.Verdict != Use {
			t.Errorf("%s: %d choices, %s", x.Name, len(x.Choices), x.Advice)
		}
	}
}

func TestUnknownTellsOfRuns(t *testing.T) {
	s := steady.measure(11, fast)
	s.Run.Quick, s.Run.State, s.Run.Warnings = true, trial.Interrupted, []string{"x"}
	s.Run.Infeasible = []trial.Infeasible{{Factors: trial.Map[any]{"wiring": "ovs"}, Reason: "Open vSwitch is not installed"}}
	a := advised(t, wanted, s)
	text := strings.Join(a.Unknown, "\n")
	for _, want := range []string{"was not measured", "quick one", "interrupted, with 36 trials", "1 warning", "wiring=ovs cannot be had here: Open vSwitch is not installed"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(strings.Join(a.Cases[0].Unknown, "\n"), "not at once") {
		t.Error(a.Cases[0].Unknown)
	}
	s.Run.Conditions = nil
	if _, err := Make([]Subject{s}, Options{Goal: goalOf(t, wanted)}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
}

func TestAdviceIsWritten(t *testing.T) {
	a := advised(t, wanted, steady.measure(12, fast, late))
	var text, object strings.Builder
	if err := errors.Join(a.Text(&text), a.JSON(&object)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Goal: goodput > 10Gbit, p99 < 200us", "Use wiring veth", "CHOICE", "Gb/s to ", "Not known:", "each is of 98.75%"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	var back map[string]any
	if err := json.Unmarshal([]byte(object.String()), &back); err != nil || strings.Contains(object.String(), "null") || back["goal"].([]any)[0].(map[string]any)["text"] != "goodput > 10Gbit" {
		t.Errorf("%v\n%s", err, object.String())
	}
}

// Names have what choices differ in and no more, and sentences name a few of many.
func TestManyChoicesAreNamedByWhatTheyDifferIn(t *testing.T) {
	var chains []chain
	for range 9 {
		chains = append(chains, fast)
	}
	s := steady.measure(13, chains...)
	for i := range s.Run.Conditions {
		s.Chains[i].MTU = 1500 + i/3
		s.Run.Conditions[i].Factors = trial.Map[any]{"wiring": "veth", "chain.tuning.gro": true, "mtu": 1500 + i/3}
	}
	c := advised(t, "goodput > 19Gbit", s).Cases[0]
	if len(c.Choices) != 9 || c.Choices[1].Name != "wiring veth, mtu=1501" || c.Choices[1].Settings["chain.tuning.gro"] != true {
		t.Fatalf("%+v", c.Choices[1])
	}
	if !strings.Contains(c.Alternatives, "4 more below") || strings.Count(c.Alternatives, "meets it too") != 4 {
		t.Error(c.Alternatives)
	}
	open := advised(t, "goodput > 20Gbit", s).Cases[0]
	if open.Verdict != CannotTell || !strings.Contains(open.Advice, "none of 9 choices surely meets the goal, and these may: wiring veth, mtu=1500; ") {
		t.Error(open.Advice)
	}
	if len(open.Unknown) != 1 || !strings.HasPrefix(open.Unknown[0], "goodput > 20Gbit: the interval lies on both sides") {
		t.Error(open.Unknown)
	}
}

// Chains whose file is not known are told apart by wiring and length.
func TestChainsOfUnknownFiles(t *testing.T) {
	s := steady.measure(14, fast, slow)
	s.Run.Setups = []trial.Setup{{Conditions: []int{0, 1, 2}, Wiring: "veth"}, {Conditions: []int{3, 4, 5}, Wiring: "bridge"}}
	s.Chains = nil
	c := advised(t, wanted, s).Cases
	if len(c) != 1 || c[0].Choice != "wiring veth" || len(c[0].Choices) != 2 {
		t.Errorf("%+v", c)
	}
	s.Run.Setups = nil
	if c := advised(t, wanted, s).Cases; len(c) != 1 || !strings.HasPrefix(c[0].Choices[0].Name, "a chain whose file cannot be read") {
		t.Errorf("%+v", c)
	}
}

// Throughput is what searches found, in bits where the size of frames is known.
func TestThroughputOfSearches(t *testing.T) {
	searched := func(metric string, pps float64, size int) Subject {
		s := steady.measure(15, fast)
		s.Run.Conditions, s.Run.Trials = s.Run.Conditions[:1], s.Run.Trials[:12]
		s.Run.Conditions[0].FrameSize = size
		s.Run.Conditions[0].Protocol = trial.UDP
		for i := range s.Run.Trials {
			s.Run.Trials[i].Metrics = trial.Map[float64]{metric: pps * (1 + .001*float64(i%3))}
		}
		return s
	}
	for _, metric := range []string{"throughput_pps", "ndr_conditional_throughput_pps"} {
		c := advised(t, "throughput > 10Gbit", searched(metric, 1e6, 1500)).Cases[0]
		if c.Verdict != Use || !strings.Contains(strings.Join(c.Unknown, "\n"), "throughput > 10Gbit is 833.3 kp/s of 1500 bytes") {
			t.Errorf("%s: %v", c.Advice, c.Unknown)
		}
	}
	if c := advised(t, "throughput > 10Gbit", searched("throughput_pps", 1e6, 512)).Cases[0]; c.Verdict != None {
		t.Error(c.Advice)
	}
	if c := advised(t, "throughput > 900kpps, packets > 900kpps", searched("throughput_pps", 1e6, 0)).Cases[0]; c.Verdict != Use {
		t.Error(c.Advice)
	}
	if c := advised(t, "throughput > 1Gbit", searched("throughput_pps", 1e6, 0)).Cases[0]; c.Verdict != CannotTell {
		t.Error(c.Advice)
	}
}

// A search for a load without loss answers a clause on loss, at the load that it found.
func TestLossOfSearches(t *testing.T) {
	at := func(found float64, lost ...float64) Subject {
		s := steady.measure(18, fast)
		s.Run.Conditions, s.Run.Trials = s.Run.Conditions[:1], nil
		s.Run.Conditions[0].FrameSize, s.Run.Conditions[0].Protocol = 64, trial.UDP
		s.Run.Conditions[0].Search = &trial.Search{Method: trial.RFC2544Throughput, MinPps: 1e5, MaxPps: 1e6,
			Goals: trial.List[trial.Goal]{{Name: "ndr", FinalDurationS: 1, DurationSumS: 1, WidthRatio: .05, InitialDurationS: 1}}}
		for k := range 3 {
			for step, load := range []float64{1e6, 5e5} {
				s.Run.Trials = append(s.Run.Trials, trial.Trial{Repeat: k + 1, Step: step + 1, Metrics: trial.Map[float64]{"loss_ratio": lost[step], "unsent_ratio": 0},
					Asked: &trial.Step{Kind: trial.StepLoad, LoadPps: load, DurationS: 1}})
			}
			metrics := trial.Map[float64]{"search_trials": 2}
			if found > 0 {
				metrics["throughput_pps"] = found
			}
			s.Run.Trials = append(s.Run.Trials, trial.Trial{Repeat: k + 1, Metrics: metrics})
		}
		return s
	}
	for name, c := range map[string]struct {
		goal    string
		subject Subject
		want    string
	}{
		"none lost":    {"throughput > 400kpps, loss <= 0", at(5e5, .2, 0), Use},
		"too slow":     {"throughput > 600kpps, loss <= 0", at(5e5, .2, 0), None},
		"by its name":  {"udp loss <= 0.1%", at(5e5, .2, 0), Use},
		"nothing kept": {"loss <= 0", at(0, .2, .1), CannotTell},
	} {
		if got := advised(t, c.goal, c.subject).Cases[0]; got.Verdict != c.want {
			t.Errorf("%s: %s: %s %v", name, got.Verdict, got.Advice, got.Unknown)
		}
	}
}

// What a search found because its generator could send no more says nothing of more.
func TestGeneratorLimitedSearchRefutesNothing(t *testing.T) {
	for unsent, want := range map[float64]string{0: None, .3: CannotTell} {
		s := steady.measure(16, fast)
		s.Run.Conditions, s.Run.Trials = s.Run.Conditions[:1], nil
		s.Run.Conditions[0].FrameSize = 64
		s.Run.Conditions[0].Search = &trial.Search{Method: trial.RFC2544Throughput, MinPps: 1e5, MaxPps: 1e6,
			Goals: trial.List[trial.Goal]{{Name: "ndr", FinalDurationS: 1, DurationSumS: 1, WidthRatio: .05, InitialDurationS: 1}}}
		for k := range 3 {
			for step, load := range []float64{1e6, 5e5, 7.5e5} {
				lost := 0.0
				if load > 5e5 {
					lost = .2
				}
				metrics := trial.Map[float64]{"loss_ratio": lost, "unsent_ratio": 0}
				if load > 5e5 && unsent > 0 {
					metrics = trial.Map[float64]{"loss_ratio": 0, "unsent_ratio": unsent}
				}
				s.Run.Trials = append(s.Run.Trials, trial.Trial{Repeat: k + 1, Step: step + 1, Metrics: metrics,
					Asked: &trial.Step{Kind: trial.StepLoad, LoadPps: load, DurationS: 1}})
			}
			s.Run.Trials = append(s.Run.Trials, trial.Trial{Repeat: k + 1, Metrics: trial.Map[float64]{"throughput_pps": 5e5}})
		}
		if c := advised(t, "throughput > 900kpps", s).Cases[0]; c.Verdict != want {
			t.Errorf("unsent %v: %s %v", unsent, c.Advice, c.Unknown)
		}
	}
}
