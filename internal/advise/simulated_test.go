package advise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// chain is one that was measured in a simulation: how it is made and what it does.
type chain struct {
	wiring    string
	functions []string // "fw", or "fw+dpi" for two that share a namespace
	goodput   float64  // of TCP, bit/s
	p99       float64  // of single messages, ns
	loss      float64  // of UDP, a share
}

// machine measures chains with noise, as a share of the value.
type machine struct {
	noise   float64
	repeats int
}

// spec of a chain.
func (c chain) spec() api.ChainSpec {
	s := api.ChainSpec{Wiring: c.wiring}
	for g, names := range c.functions {
		group := ""
		for _, name := range splitPlus(names) {
			if name != names {
				group = fmt.Sprintf("g%d", g)
			}
			s.Functions = append(s.Functions, api.Function{Name: name, Group: group, FunctionBody: api.FunctionBody{Kind: name}})
		}
	}
	return s
}

func splitPlus(s string) (out []string) {
	word := ""
	for _, r := range s + "+" {
		if r == '+' {
			out, word = append(out, word), ""
		} else {
			word += string(r)
		}
	}
	return out
}

// measure every chain under TCP, single messages and UDP, as far as it has a truth.
func (m machine) measure(seed uint64, chains ...chain) Subject {
	r := rand.New(rand.NewPCG(seed, 9))
	s := Subject{Run: trial.Run{ID: fmt.Sprintf("run%d", seed), State: trial.Done, Repeats: m.repeats}}
	add := func(c chain, protocol, metric string, truth float64) {
		if truth < 0 {
			return
		}
		i := len(s.Run.Conditions)
		s.Chains = append(s.Chains, c.spec())
		s.Run.Conditions = append(s.Run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: protocol, Tool: "sim", Flows: 1, Length: len(c.functions) + 2,
			Factors: trial.Map[any]{"wiring": c.wiring}})
		for k := range m.repeats {
			x := truth * math.Exp(m.noise*r.NormFloat64())
			s.Run.Trials = append(s.Run.Trials, trial.Trial{Condition: i, Repeat: k + 1, Metrics: trial.Map[float64]{metric: x}})
		}
	}
	for _, c := range chains {
		add(c, trial.TCP, "goodput_bps", c.goodput)
		add(c, trial.Latency, "latency_p99_ns", c.p99)
		add(c, trial.UDP, "loss_ratio", c.loss)
	}
	return s
}

func goalOf(t *testing.T, text string) Goal {
	t.Helper()
	g, err := ParseGoal(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func advised(t *testing.T, goal string, subjects ...Subject) Advice {
	t.Helper()
	a, err := Make(subjects, Options{Goal: goalOf(t, goal)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}
