package run

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/trial"
)

// stopwatch notes when bringing a chain up began, and when it was planned, made and ready; and when each
// of its programs began and was ready.
type stopwatch struct {
	laps []time.Time

	mu     sync.Mutex
	starts map[string]*start
	// alone is how long each node's container took by itself.
	alone map[string]time.Duration
}

// start of one node's program: when its container's engine was asked for that and had started it, if it has one, when the
// program began, and when it was ready.
type start struct{ asked, started, began, ready time.Time }

// lap notes that a phase ended. Nobody asks where w is nil.
func (w *stopwatch) lap() {
	if w != nil {
		w.laps = append(w.laps, time.Now())
	}
}

// begin notes that the first phase begins, and nothing of one before.
func (w *stopwatch) begin() {
	if w != nil {
		w.laps = append(w.laps[:0], time.Now())
	}
}

// contain notes a container that runs.
func (w *stopwatch) contain(node string, asked, started time.Time) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(node)
	s.asked, s.started = asked, started
}

// ready notes the programs that are.
func (w *stopwatch) ready(programs []process.Status) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	now, clock := time.Now(), process.Clock()
	at := func(ns int64) time.Time { return now.Add(time.Duration(ns - clock)) }
	for _, p := range programs {
		if p.BeganNs > 0 && p.ReadyNs >= p.BeganNs {
			s := w.of(p.Node)
			s.began, s.ready = at(p.BeganNs), at(p.ReadyNs)
		}
	}
}

func (w *stopwatch) of(node string) *start {
	if w.starts == nil {
		w.starts = map[string]*start{}
	}
	if w.starts[node] == nil {
		w.starts[node] = &start{}
	}
	return w.starts[node]
}

// phase is how long the one of that number took, s.
func (w *stopwatch) phase(n int) float64 { return w.laps[n].Sub(w.laps[n-1]).Seconds() }

// laps of a chain that came up: its beginning and the ends of three phases.
const laps = 4

// making of a chain that came up.
func (w *stopwatch) making(chain string, beside bool) trial.Making {
	m := trial.Making{Chain: chain, Beside: beside, PlanS: w.phase(1), MakeS: w.phase(2), ReadyS: w.phase(3)}
	var first time.Time // that an engine was asked for a container
	for _, s := range w.starts {
		if !s.asked.IsZero() && (first.IsZero() || s.asked.Before(first)) {
			first = s.asked
		}
	}
	for node, s := range w.starts {
		if s.ready.IsZero() {
			continue
		}
		one := trial.Start{Node: node, BeganS: s.began.Sub(w.laps[0]).Seconds(), ReadyS: s.ready.Sub(w.laps[0]).Seconds()}
		if !s.asked.IsZero() {
			one.AskedS, one.EngineS = first.Sub(w.laps[0]).Seconds(), s.started.Sub(first).Seconds()
			one.AloneS = w.alone[node].Seconds()
		}
		m.Starts = append(m.Starts, one)
	}
	slices.SortFunc(m.Starts, func(a, b trial.Start) int { return cmp.Compare(a.Node, b.Node) })
	return m
}

// raise brings a chain up, the one that is measured or one beside it, and notes how long
// that took if nothing of it was there, beside how long its containers had taken by themselves.
func (m *Measurement) raise(ctx context.Context, chain api.Chain, o UpOptions, beside bool, alone map[string]time.Duration) (*plan.Plan, error) {
	name := chain.Metadata.Name
	there, unlisted := deploy.Nodes(name)
	w, before, peak := &stopwatch{alone: alone}, spent(), freshPeak()
	o.watch = w
	p, _, err := m.Host.Up(ctx, chain, o)
	if err != nil && ctx.Err() != nil { // the terminal's interrupt ends programs that it ran, too
		return p, deploy.Interrupted(ctx.Err())
	}
	if err != nil {
		return p, unmadeBy("the chain could not be made", err)
	}
	if unlisted == nil && len(there) == 0 && len(w.laps) == laps {
		made := w.making(name, beside)
		made.CPUS, made.MemoryBytes = spent()-before, peak()
		m.making = append(m.making, made)
	}
	return p, nil
}

// proof notes how long it took of a chain that just came up. Of several, for TCP and for
// UDP, the first counts.
func (m *Measurement) proof(chain string, took time.Duration) {
	for i := range m.making {
		if made := &m.making[i]; made.Chain == chain && made.ProofS == 0 {
			made.ProofS = took.Seconds()
		}
	}
}
