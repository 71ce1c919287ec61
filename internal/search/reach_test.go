package search

import (
	"math"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// shared is a chain on its generator's core: it loses nothing, and what it takes to
// carry a frame is missing for the next one. What can be sent varies by a share.
func shared(most, by float64) *bench {
	b := newBench(cliff(1e9), 1)
	b.most, b.varies = most, by
	return b
}

// Every search of such a chain comes to a result, which says whose limit it is, in
// loads that could be sent, and in far fewer trials than loads between it and the
// ceiling.
func TestSharedCore(t *testing.T) {
	for _, method := range trial.Methods() {
		for _, by := range []float64{0, 0.02} {
			b := shared(5e4, by)
			r := b.search(t, trial.Search{Method: method, MaxPps: 4.4e6, Reach: true, Repeats: 2})
			if r.Irregular && by == 0 && r.Recovery == nil && r.Latency == nil {
				t.Errorf("%s: %s", method, r.Why)
			}
			if r.Reached == nil || r.Reached.CeilingPps != 4.4e6 || r.Reached.HighestPps > 6e4 || r.Reached.HighestPps < 4e4 || r.Reached.Trials > mostProbes {
				t.Errorf("%s reached %+v", method, r.Reached)
			}
			for _, g := range r.Goals {
				if by == 0 && (!g.GeneratorLimited || *g.LowerPps > 5.1e4 || *g.LowerPps < 4.4e4) {
					t.Errorf("%s: %v to %v", method, *g.LowerPps, *g.UpperPps)
				}
			}
			if r.Trials > 120 {
				t.Errorf("%s: %d trials", method, r.Trials)
			}
		}
	}
}

func TestFrameLossSaysWhatWasNotSent(t *testing.T) {
	r := shared(5e4, 0).search(t, trial.Search{Method: trial.RFC2544FrameLoss, MaxPps: 4.4e6, Reach: true})
	for _, p := range r.Loads {
		if unsent := max(0, 1-5e4/p.LoadPps); math.Abs(p.UnsentRatio-unsent) > 1e-9 || math.Abs(p.LossRatio-unsent) > 1e-9 {
			t.Errorf("%+v, where %v goes unsent", p, unsent)
		}
	}
	if len(r.Loads) != 3 {
		t.Errorf("loads %+v", r.Loads)
	}
}

// What can be sent may turn out to be more: then the search goes on above.
func TestMoreCanBeSent(t *testing.T) {
	for _, method := range []string{trial.RFC2544Throughput, trial.RFC2544StepDown, trial.TST009, trial.MLRsearch} {
		m, err := New(trial.Search{Method: method, MaxPps: 1e6, Reach: true})
		if err != nil {
			t.Fatal(err)
		}
		b := shared(2e5, 0)
		var history []Outcome
		for step, more := m.Next(nil); more; step, more = m.Next(history) {
			if step.Kind == trial.StepLoad {
				b.most = 2.5e5
			}
			if r := m.Result(history); r.Finished || r.Trials != len(history) {
				t.Fatalf("%s before its end: %+v", method, r)
			}
			history = append(history, b.trial(step))
		}
		r := m.Result(history)
		if g := r.Goals[0]; r.Irregular || !g.GeneratorLimited || *g.LowerPps > 2.503e5 || *g.LowerPps < 2.4e5 {
			t.Errorf("%s: %s, %v", method, r.Why, *g.LowerPps)
		}
	}
}

// A chain that has cores of its own is tried up to the ceiling.
func TestNothingToReach(t *testing.T) {
	b := newBench(cliff(5e5), 1)
	r := b.search(t, trial.Search{Method: trial.RFC2544FrameLoss, MaxPps: 1e6, Reach: true})
	if r.Reached.HighestPps != 1e6 || r.Reached.Trials != 1 || r.Loads[len(r.Loads)-1].LoadPps != 1e6 {
		t.Errorf("%+v", r.Reached)
	}
}

// A generator that was held up once says nothing of the chain: the load is offered
// again, and what was sent whole counts.
func TestHeldUpOnce(t *testing.T) {
	for _, method := range []string{trial.RFC2544Throughput, trial.RFC2544FrameLoss, trial.TST009} {
		m, err := New(trial.Search{Method: method, MaxPps: 1e6})
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(cliff(4.05e5), 1)
		var history []Outcome
		held := map[float64]bool{}
		for {
			step, more := m.Next(history)
			if !more {
				break
			}
			o := b.trial(step)
			if !held[step.LoadPps] {
				held[step.LoadPps], o.OfferedPps = true, 0.99*step.LoadPps
			}
			history = append(history, o)
		}
		r := m.Result(history)
		if r.Irregular || slices.ContainsFunc(r.Goals, func(g GoalResult) bool { return g.GeneratorLimited || *g.LowerPps < 4e5 || *g.LowerPps > 4.05e5 }) {
			t.Errorf("%s: %s %+v", method, r.Why, r.Goals)
		}
		for _, p := range r.Loads {
			if p.LoadPps < 4e5 && p.UnsentRatio > 0 {
				t.Errorf("%s: %+v", method, p)
			}
		}
	}
}
