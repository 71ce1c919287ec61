package run

import (
	"encoding/json"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/trial"
)

// left is how long the trials that are to do should take, by what those that are done
// took, set-up between chains included.
func (m *Measurement) left(todo []experiment.Slot, r *trial.Run) time.Duration {
	on := m.Course(r.Conditions, r.Repeats, r.Redeploy)
	up := -1
	if m.up != nil {
		up = on.Chain[m.upFor]
	}
	seconds := experiment.CostOf(r.Trials, on).Seconds(on, todo, up)
	return time.Duration(seconds * float64(time.Second)).Round(time.Second)
}

// ChainOf each condition, as numbers from 0: conditions that need the same have the same.
func (m *Measurement) ChainOf() []int {
	if m.chainOf != nil {
		return m.chainOf
	}
	seen := map[string]int{}
	for _, chain := range m.Chains {
		text, _ := json.Marshal(chain)
		if _, known := seen[string(text)]; !known {
			seen[string(text)] = len(seen)
		}
		m.chainOf = append(m.chainOf, seen[string(text)])
	}
	return m.chainOf
}

// Course is what the conditions of [Measurement.Cells] are measured on, so many repeats of each; redeploy is of the load.
func (m *Measurement) Course(conditions []trial.Condition, repeats, redeploy int) experiment.Course {
	on := experiment.Course{Conditions: conditions, Chain: m.ChainOf()}
	for _, chain := range m.Chains {
		on.Containers = append(on.Containers, chain.Spec.Containers())
	}
	if redeploy > 1 {
		on.Each = experiment.RepeatsEach(trial.Run{Repeats: repeats, Redeploy: redeploy})
	}
	return on
}

// Only keeps the chains of some conditions, in the order of what [Measurement.Cells] gave.
func (m *Measurement) Only(kept []int) {
	chains := make([]api.Chain, len(kept))
	for at, i := range kept {
		chains[at] = m.Chains[i]
	}
	m.Chains, m.chainOf = chains, nil
}
