package search

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// systems by name, each with one drawn by a seed.
var systems = map[string]func(seed uint64) system{
	"cliff":       func(s uint64) system { return cliff(capacity(s)) },
	"ramp":        func(s uint64) system { return ramp(capacity(s), 20) },
	"noisy":       func(s uint64) system { return noisy(capacity(s), 0.01) },
	"bimodal":     func(s uint64) system { return bimodal(capacity(s), 0.9*capacity(s), 0.2) },
	"drifting":    func(s uint64) system { return drifting(capacity(s), 0.5) },
	"remembering": func(s uint64) system { return remembering(capacity(s), 0.05) },
	"collapsing":  func(s uint64) system { return collapsing(capacity(s)) },
	"lossless":    func(uint64) system { return cliff(1e9) },
	"dead":        func(uint64) system { return cliff(1) },
	"random": func(uint64) system {
		return func(r *rand.Rand, _ float64, _ trial.Step) float64 { return max(0, r.Float64()*2-1) }
	},
}

// Whatever the system does, every search ends by itself, asks for nothing that it
// may not, and says the same whenever it is asked; no number is none.
func TestEverySearchEnds(t *testing.T) {
	for name, make := range systems {
		for _, method := range trial.Methods() {
			for seed := range uint64(3) {
				b := newBench(make(seed), seed)
				if seed == 2 {
					b.most, b.varies = 4e5, 0.3
				}
				// Bounds as a generator that was measured has them.
				spec := trial.Search{Method: method, MaxPps: 1e6 - 0.0123456 + float64(seed)/3, MinPps: 1234.56751, Repeats: 3, Reach: seed > 0}
				r := b.search(t, spec)
				if _, err := json.Marshal(r); err != nil {
					t.Errorf("%s, %s: %v", method, name, err)
				}
				if !r.Finished {
					t.Errorf("%s, %s, seed %d: not at its end after %d trials", method, name, seed, r.Trials)
				}
			}
		}
	}
}

// A search that is killed goes on as if it had not been: the history is all there
// is, and it is left as it was.
func TestNothingIsRemembered(t *testing.T) {
	for _, method := range trial.Methods() {
		spec := trial.Search{Method: method, MaxPps: 1e6, Repeats: 2, Reach: true}
		one, _ := New(spec)
		b := newBench(noisy(5e5, 0.01), 3)
		b.most, b.varies = 4e5, 0.3
		var history []Outcome
		for {
			before := append([]Outcome{}, history...)
			step, more := one.Next(history)
			one.Result(history)
			another, _ := New(Complete(spec))
			if again, still := another.Next(history); again != step || still != more {
				t.Fatalf("%s after %d trials: %+v, then %+v", method, len(history), step, again)
			}
			if !reflect.DeepEqual(before, append([]Outcome{}, history...)) {
				t.Fatalf("%s changes the history", method)
			}
			if !more {
				break
			}
			history = append(history, b.trial(step))
		}
	}
}

// critical is the load at which half of the trials of a goal lose too much.
type critical func(seed uint64, g trial.Goal) (from, to float64)

func exactly(seed uint64, g trial.Goal) (float64, float64) {
	c := capacity(seed) / (1 - g.LossRatio)
	return c, c
}

// A search for both drop rates holds the truth in its bounds, as wide as asked, in
// a bounded number of trials.
func TestBoundsHoldTheTruth(t *testing.T) {
	for _, c := range []struct {
		system string
		truth  critical
		least  int // of 80 bounds
		trials int
	}{
		{"cliff", exactly, 80, 150},
		{"collapsing", collapsed, 80, 150},
		{"remembering", exactly, 80, 150},
		{"bimodal", exactly, 76, 250},
		{"drifting", drifted, 78, 250},
		{"ramp", ramped, 56, 600},
	} {
		held := 0
		for seed := range uint64(40) {
			r := newBench(systems[c.system](seed), seed).search(t, trial.Search{Method: trial.MLRsearch, MaxPps: 1e6})
			if r.Trials > c.trials {
				t.Errorf("%s, seed %d: %d trials", c.system, seed, r.Trials)
			}
			for _, g := range r.Goals {
				if from, to := c.truth(seed, g.Goal); g.Regular && *g.LowerPps <= to && *g.UpperPps >= from {
					held++
				}
			}
		}
		if held < c.least {
			t.Errorf("%s: %d of 80 bounds hold the truth", c.system, held)
		}
		t.Logf("%s: %d of 80 bounds hold the truth", c.system, held)
	}
}

// collapsed: 1 − (c/x)³ = loss.
func collapsed(seed uint64, g trial.Goal) (float64, float64) {
	c := capacity(seed) / math.Cbrt(1-g.LossRatio)
	return c, c
}

// drifted is where the capacity was while the search ran, which takes less than
// a quarter of an hour.
func drifted(seed uint64, g trial.Goal) (float64, float64) {
	c, _ := exactly(seed, g)
	return c * math.Exp(-0.5/4), c
}

// ramped: half the trials lose nothing where 0.69 lost frames are expected.
func ramped(seed uint64, g trial.Goal) (float64, float64) {
	c := capacity(seed)
	if g.LossRatio > 0 {
		return c, c
	}
	expected := func(x float64) float64 { return 0.005 * math.Pow(x/c, 20) * x * g.FinalDurationS }
	low, high := 0.0, c
	for range 100 {
		if mid := (low + high) / 2; expected(mid) > math.Ln2 {
			high = mid
		} else {
			low = mid
		}
	}
	return low * 0.98, low * 1.02
}

// The confidence that is stated, and the interval of 95%, are kept by systems of
// the kind they suppose, be they cliffs or ramps.
func TestStatedConfidenceIsKept(t *testing.T) {
	for _, goal := range []trial.Goal{NDR(), RFC2544Goal(), TST009Goal()} {
		var n, inside, stated, covered float64
		for _, slope := range []float64{0.0003, 0.001, 0.003, 0.01, 0.03, 0.1} {
			for seed := range uint64(30) {
				c := capacity(seed + uint64(slope*1e6))
				spec := trial.Search{Method: trial.MLRsearch, MaxPps: 1e6, Goals: []trial.Goal{goal}}
				g := newBench(noisy(c, slope), seed).search(t, spec).Goals[0]
				if g.Confidence == nil {
					continue
				}
				n, stated = n+1, stated+*g.Confidence
				inside += one(*g.LowerPps <= c && c <= *g.UpperPps)
				covered += one(g.CriticalCI95[0] <= c && c <= g.CriticalCI95[1])
			}
		}
		t.Logf("%s: the truth lies within the bounds in %.2f of %v searches, %.2f stated; in the interval of 95%% in %.3f",
			goal.Name, inside/n, n, stated/n, covered/n)
		if n < 170 || inside < stated-2*math.Sqrt(n)/2 || covered/n < 0.92 {
			t.Errorf("%s: stated more than is kept", goal.Name)
		}
	}
}

func one(so bool) float64 {
	if so {
		return 1
	}
	return 0
}

// FuzzSearch lets a history say anything.
func FuzzSearch(f *testing.F) {
	f.Add(uint64(1), uint8(0), 1e6, 0.005, 0.5, 1.0)
	f.Add(uint64(2), uint8(6), 1e3, 0.0, 0.0, 60.0)
	f.Fuzz(func(t *testing.T, seed uint64, method uint8, most, loss, exceed, final float64) {
		all := trial.Methods()
		spec := trial.Search{
			Method: all[int(method)%len(all)], MaxPps: most, Repeats: 2, MaxTrials: 100,
			Goals: []trial.Goal{{Name: "g", LossRatio: loss, ExceedRatio: exceed, FinalDurationS: final}},
		}
		m, err := New(spec)
		if err != nil {
			return
		}
		fuzzed(t, m, Complete(spec), rand.New(rand.NewPCG(seed, 3)))
	})
}

func fuzzed(t *testing.T, m Method, spec trial.Search, r *rand.Rand) {
	var history []Outcome
	for range spec.MaxTrials + 1 {
		step, more := m.Next(history)
		if !more || r.IntN(10) == 0 {
			if _, err := json.Marshal(m.Result(history)); err != nil {
				t.Fatalf("%v after %d trials", err, len(history))
			}
		}
		if !more {
			return
		}
		checkStep(t, spec, step)
		history = append(history, rubbish(r, step))
	}
	t.Fatal("no end")
}

// rubbish is any outcome, now and then of a trial that nobody asked for.
func rubbish(r *rand.Rand, step trial.Step) Outcome {
	odd := []float64{0, 0, 0, 1e-9, 0.5, 1, 2, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, 5e-324}
	draw := func() float64 { return odd[r.IntN(len(odd))] }
	o := Outcome{Step: step, LossRatio: draw(), EffectiveDurationS: draw(), OfferedPps: draw() * step.LoadPps,
		ForwardingRatePps: draw(), Metrics: map[string]float64{TagLatency: draw(), Recovery: draw()}}
	switch r.IntN(20) {
	case 0:
		o.LoadPps = draw() * 1e6
	case 1:
		o.DurationS = draw()
	case 2:
		o.Kind = fmt.Sprint(r.Int())
	case 3:
		o.BurstFrames = r.Uint64()
	}
	return o
}
