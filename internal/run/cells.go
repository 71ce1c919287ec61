package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trial"
)

// Cells are the conditions of a sweep's points, with the chain of each in m.Chains, and
// the points that cannot be measured here with the reason: the words refuse them, a
// feature is missing, a wiring or a function cannot do it, a frame does not fit. Where
// none can be measured, the first reason is the error.
func (m *Measurement) Cells(ctx context.Context, name string, points []experiment.Point) ([]trial.Condition, []trial.Infeasible, error) {
	var all []trial.Condition
	var infeasible []trial.Infeasible
	var first error
	planned := map[string]error{}
	for _, p := range points {
		chain := api.Chain{APIVersion: api.Version, Kind: api.KindChain, Metadata: api.Metadata{Name: name}, Spec: p.Chain}
		conditions, err := m.cell(ctx, chain, p, planned)
		if ctx.Err() != nil {
			return nil, nil, deploy.Interrupted(ctx.Err())
		}
		if err != nil {
			infeasible = append(infeasible, trial.Infeasible{Factors: p.Factors, Reason: reason(err)})
			first = errors.Join(first, err)
			continue
		}
		for range conditions {
			m.Chains = append(m.Chains, chain)
		}
		all = append(all, conditions...)
	}
	if len(all) == 0 && first != nil {
		return nil, infeasible, nothing(first, infeasible)
	}
	return all, infeasible, nil
}

// reason of what cannot be measured, in one line: a plan may be refused for several things.
func reason(err error) string {
	return strings.ReplaceAll(strings.TrimSuffix(err.Error(), ": "+ErrInput.Error()), "\n", "; ")
}

// nothing can be measured: of several points the first tells why, and the kind of all
// errors decides the exit code.
func nothing(all error, infeasible []trial.Infeasible) error {
	if len(infeasible) == 1 {
		return all
	}
	return refusal{fmt.Sprintf("none of %d combinations can be measured here; the first, %s, because: %s",
		len(infeasible), experiment.Describe(infeasible[0].Factors), infeasible[0].Reason), all}
}

// refusal says one thing of many errors.
type refusal struct {
	text string
	all  error
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.all }

// cell is one point's conditions. What plans came to is kept by chain.
func (m *Measurement) cell(ctx context.Context, chain api.Chain, p experiment.Point, planned map[string]error) ([]trial.Condition, error) {
	if p.Lacking {
		return nil, feature.Lacking(fmt.Errorf("%s: %w", p.Infeasible, ErrInput))
	}
	if p.Infeasible != "" {
		return nil, fmt.Errorf("%s: %w", p.Infeasible, ErrInput)
	}
	load, err := Placed(chain, p.Load)
	if err != nil {
		return nil, err
	}
	conditions, err := Conditions(load, chain.Spec.Length(), p.Factors, m.Tools, m.Host.Features)
	if err != nil {
		return nil, err
	}
	if err := m.Host.Offers(chain, conditions, m.Tools); err != nil {
		return nil, err
	}
	if err := m.mayStandBeside(chain, p.Load, conditions); err != nil {
		return nil, err
	}
	if err := m.mayBeHarmed(chain, p.Load, conditions); err != nil {
		return nil, err
	}
	beside, err := m.Host.beside(chain, conditions[0].Beside)
	if err != nil {
		return nil, err
	}
	direct := slices.ContainsFunc(conditions, func(c trial.Condition) bool { return c.Path == trial.PathDirect })
	for _, c := range append([]companion{{chain: chain}}, beside...) {
		if err := m.feasibleOnce(ctx, c.chain, direct, planned); err != nil {
			return nil, err
		}
	}
	return conditions, nil
}

// feasibleOnce plans a chain, with the direct path or without, unless it was planned before.
func (m *Measurement) feasibleOnce(ctx context.Context, chain api.Chain, direct bool, planned map[string]error) error {
	text, err := json.Marshal(chain)
	if err != nil {
		return err
	}
	key := fmt.Sprint(direct, string(text))
	err, known := planned[key]
	if !known {
		err = m.feasible(ctx, chain, direct)
		planned[key] = err
	}
	return err
}

// feasible plans a chain as it would be made.
func (m *Measurement) feasible(ctx context.Context, chain api.Chain, direct bool) error {
	if err := m.Host.CheckFunctions(ctx, chain, m.Alone); err != nil {
		return err
	}
	p, err := m.Host.Plan(chain, m.Alone, plan.Options{Direct: direct})
	if err != nil {
		return err
	}
	return m.Host.check(p, chain)
}
