package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// system is a simulated system under test: the loss ratio of a trial that starts
// at a time. It may keep state between trials.
type system func(r *rand.Rand, now float64, step trial.Step) float64

// cliff loses what is above its capacity and nothing below.
func cliff(capacity float64) system {
	return func(_ *rand.Rand, _ float64, s trial.Step) float64 { return max(0, 1-capacity/s.LoadPps) }
}

// ramp loses frames at random ever more often, half a per cent of them at the load
// given, besides what is above twice that.
func ramp(half, steep float64) system {
	return func(r *rand.Rand, _ float64, s trial.Step) float64 {
		loss := min(1, 0.005*math.Pow(s.LoadPps/half, steep))
		frames := s.LoadPps * s.DurationS
		lost := frames * loss
		lost = max(0, math.Round(lost+r.NormFloat64()*math.Sqrt(lost)))
		return min(1, max(lost/frames, 1-2*half/s.LoadPps))
	}
}

// noisy has another capacity each trial, logistic in the logarithm.
func noisy(capacity, slope float64) system {
	return func(r *rand.Rand, now float64, s trial.Step) float64 {
		u := r.Float64()
		return cliff(capacity*math.Exp(slope*math.Log(u/(1-u))))(r, now, s)
	}
}

// bimodal is slow in a share of its trials.
func bimodal(capacity, slow, share float64) system {
	return func(r *rand.Rand, now float64, s trial.Step) float64 {
		if r.Float64() < share {
			return cliff(slow)(r, now, s)
		}
		return cliff(capacity)(r, now, s)
	}
}

// drifting gets slower by a share each hour.
func drifting(capacity, perHour float64) system {
	return func(r *rand.Rand, now float64, s trial.Step) float64 {
		return cliff(capacity*math.Exp(-perHour*now/3600))(r, now, s)
	}
}

// remembering is slower in the trial after an overload.
func remembering(capacity, by float64) system {
	hurt := false
	return func(r *rand.Rand, now float64, s trial.Step) float64 {
		c := capacity
		if hurt {
			c *= 1 - by
		}
		hurt = s.LoadPps > capacity*1.2
		return cliff(c)(r, now, s)
	}
}

// collapsing forwards ever less the more it is overloaded.
func collapsing(capacity float64) system {
	return func(_ *rand.Rand, _ float64, s trial.Step) float64 {
		if s.LoadPps <= capacity {
			return 0
		}
		return 1 - math.Pow(capacity/s.LoadPps, 3)
	}
}

// bench runs a search against a system, by a generator that sends at most so much,
// which varies from trial to trial.
type bench struct {
	system
	most, varies float64
	r            *rand.Rand
	now          float64
}

func (b *bench) trial(s trial.Step) Outcome {
	sent := s
	most := b.most
	if b.varies > 0 {
		most *= 1 - b.varies*b.r.Float64()
	}
	sent.LoadPps = min(s.LoadPps, most)
	loss := b.system(b.r, b.now, sent)
	b.now += s.DurationS + s.ThenS + s.LearnS + s.DrainS + s.SettleS
	return Outcome{Step: s, OfferedPps: sent.LoadPps, LossRatio: loss, ForwardingRatePps: sent.LoadPps * (1 - loss)}
}

// search to its end; every step must be one that may be asked for.
func (b *bench) search(t testing.TB, spec trial.Search) Result {
	t.Helper()
	m, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec = Complete(spec)
	var history []Outcome
	for {
		step, more := m.Next(history)
		if !more {
			return m.Result(history)
		}
		checkStep(t, spec, step)
		if history = append(history, b.trial(step)); len(history) > spec.MaxTrials {
			t.Fatalf("%d trials, and still not at an end", len(history))
		}
	}
}

func checkStep(t testing.TB, s trial.Search, step trial.Step) {
	t.Helper()
	low, high := s.MinPps*(1-1e-6), s.MaxPps*(1+1e-6)
	if !(step.LoadPps >= low && step.LoadPps <= high) || !positive(step.DurationS) || step.Why == "" || step.Kind == "" {
		t.Fatalf("asked for %+v, with loads from %v to %v", step, s.MinPps, s.MaxPps)
	}
	if step.ThenPps != 0 && !(step.ThenPps >= low && step.ThenPps <= high) || !wait(step.DrainS) {
		t.Fatalf("asked for %+v", step)
	}
}

func newBench(s system, seed uint64) *bench {
	return &bench{system: s, most: math.Inf(1), r: rand.New(rand.NewPCG(seed, 1))}
}

// capacities are drawn evenly from a tenth of the highest load up to it.
func capacity(seed uint64) float64 {
	return 1e6 * (0.1 + 0.85*rand.New(rand.NewPCG(seed, 2)).Float64())
}
