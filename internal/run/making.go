package run

import (
	"context"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trial"
)

// stopwatch notes when bringing a chain up began, and when it was planned, made and ready.
type stopwatch []time.Time

// lap notes that a phase ended. Nobody asks where w is nil.
func (w *stopwatch) lap() {
	if w != nil {
		*w = append(*w, time.Now())
	}
}

// phase is how long the one of that number took, s.
func (w stopwatch) phase(n int) float64 { return w[n].Sub(w[n-1]).Seconds() }

// laps of a chain that came up: its beginning and the ends of three phases.
const laps = 4

// raise brings a chain up, the one that is measured or one beside it, and notes how long
// that took if nothing of it was there.
func (m *Measurement) raise(ctx context.Context, chain api.Chain, o UpOptions, beside bool) (*plan.Plan, error) {
	name := chain.Metadata.Name
	there, unlisted := deploy.Nodes(name)
	w := stopwatch{}
	o.watch = &w
	p, _, err := m.Host.Up(ctx, chain, o)
	if err != nil && ctx.Err() != nil { // the terminal's interrupt ends programs that it ran, too
		return p, deploy.Interrupted(ctx.Err())
	}
	if err != nil {
		return p, unmadeBy("the chain could not be made", err)
	}
	if unlisted == nil && len(there) == 0 && len(w) == laps {
		m.making = append(m.making, trial.Making{Chain: name, Beside: beside, PlanS: w.phase(1), MakeS: w.phase(2), ReadyS: w.phase(3)})
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
