package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trial"
)

// companion is a chain that is up beside the one that is measured. Its lock is held as
// long.
type companion struct {
	chain api.Chain
	plan  *plan.Plan
	lock  *deploy.Lock
	// active ones carry the load too.
	active bool
}

// accompany makes sure that what a condition has beside its chain is up, and nothing
// else.
func (m *Measurement) accompany(ctx context.Context, slot experiment.Slot, c trial.Condition) error {
	wanted, err := m.Host.beside(m.Chains[slot.Condition], c.Beside)
	if err != nil {
		return err
	}
	if slices.EqualFunc(wanted, m.companions, func(w, is companion) bool { return is.plan != nil && alike(w.chain, is.chain) }) {
		return nil
	}
	if err := m.dismiss(); err != nil {
		return err
	}
	for _, w := range wanted {
		if err := m.join(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// join brings a companion up. What was made before an error is removed too.
func (m *Measurement) join(ctx context.Context, w companion) (err error) {
	name := w.chain.Metadata.Name
	if w.lock, err = m.Host.Lock(ctx, name); err != nil {
		return err
	}
	if nodes, err := deploy.Nodes(name); err != nil || len(nodes) > 0 && !Temporary(name) {
		w.lock.Release()
		return errors.Join(err, fmt.Errorf("%s is up already and would be needed beside the chain that is measured; `nfchain down %s` removes it: %w", name, name, ErrInput))
	}
	at := len(m.companions)
	m.companions = append(m.companions, w)
	o := plan.Options{}
	if w.active { // it is as the one that is measured
		o.Direct, o.Runtimes = m.up.Direct != nil, m.up.Runtimes
	}
	m.companions[at].plan, err = m.raise(ctx, w.chain, UpOptions{
		Options: o, Alone: m.Alone, Temporary: true, Wait: true,
	}, true, nil)
	return err
}

// dismiss removes the companions.
func (m *Measurement) dismiss() error {
	var failed []error
	for _, c := range m.companions {
		_, err := m.Host.remove(context.Background(), c.chain.Metadata.Name)
		c.lock.Release()
		failed = append(failed, err)
	}
	if len(m.companions) > 0 {
		m.companions, m.proven = nil, map[string]bool{}
	}
	return errors.Join(failed...)
}

// clear removes what a killed run left beside its chain: perhaps nothing that is still to be
// measured needs it.
func (m *Measurement) clear(ctx context.Context, r *trial.Run) error {
	for i, c := range r.Conditions {
		if c.Beside == (trial.Beside{}) {
			continue
		}
		left, err := m.Host.beside(m.Chains[i], c.Beside)
		if err != nil {
			return err
		}
		for _, l := range left {
			if !Temporary(l.chain.Metadata.Name) {
				continue
			}
			if err := m.clearOne(ctx, l.chain.Metadata.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *Measurement) clearOne(ctx context.Context, name string) error {
	lock, err := m.Host.Lock(ctx, name)
	if err != nil {
		return err
	}
	defer lock.Release()
	_, err = m.Host.remove(ctx, name)
	return err
}

// active are the plans of the companions that carry load.
func (m *Measurement) active() (all []*plan.Plan) {
	for _, c := range m.companions {
		if c.active {
			all = append(all, c.plan)
		}
	}
	return all
}

// beside are the chains that a condition has beside its own. They are named after it.
func (h *Host) beside(chain api.Chain, b trial.Beside) (all []companion, err error) {
	for n := 2; n <= b.ActiveChains; n++ {
		another := chain
		another.Metadata.Name = fmt.Sprintf("%s-beside-%d", chain.Metadata.Name, n)
		if chain.Spec.Tenant != "" { // each is another's, so that they may go through one function
			another.Spec.Tenant = fmt.Sprintf("%s-%d", chain.Spec.Tenant, n)
		}
		all = append(all, companion{chain: another, active: true})
	}
	if b.IdleContainers > 0 {
		idle, err := h.idle(chain, b.IdleContainers)
		if err != nil {
			return nil, err
		}
		all = append(all, companion{chain: idle})
	}
	return all, nil
}

// idle is a chain of forwarders, wired like another.
func (h *Host) idle(like api.Chain, length int) (api.Chain, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "apiVersion: %s\nkind: %s\nmetadata: {name: %s-beside-idle}\nspec:\n  functions: [", api.Version, api.KindChain, like.Metadata.Name)
	for n := range length - 2 {
		fmt.Fprintf(&text, "{name: f%d, kind: %s}, ", n+1, experiment.ForwardKind)
	}
	text.WriteString("]\n")
	file, err := h.Words.Decode("what is beside", []byte(text.String()))
	if err != nil {
		return api.Chain{}, err
	}
	chain := file.Chains[0]
	chain.Spec.Wiring, chain.Spec.WiringOptions, chain.Spec.MTU, chain.Spec.Addresses = like.Spec.Wiring, like.Spec.WiringOptions, like.Spec.MTU, like.Spec.Addresses
	return chain, nil
}

// mayStandBeside refuses what there cannot be several of.
func (m *Measurement) mayStandBeside(chain api.Chain, l api.Load, conditions []trial.Condition) error {
	if l.ActiveChains <= 1 && l.IdleContainers == 0 {
		return nil
	}
	switch {
	case m.Host.Catalogue.Bare(chain.Spec.Wiring):
		return fmt.Errorf("wiring %s makes no namespaces, so there is nothing to have beside it: %w", chain.Spec.Wiring, ErrInput)
	case l.IdleContainers == 1:
		return fmt.Errorf("idle_containers: 1 cannot be had: they are a chain, which has two ends; give 0, 2 or more: %w", ErrInput)
	case l.IdleContainers > 2 && !m.Host.Catalogue.TakesFunctions(chain.Spec.Wiring):
		return fmt.Errorf("idle_containers: %d cannot be had: they are a chain by the same wiring, and %s has two ends with no functions between; give 0 or 2: %w", l.IdleContainers, chain.Spec.Wiring, ErrInput)
	}
	if l.ActiveChains <= 1 {
		return nil
	}
	for _, c := range conditions {
		if tool := m.tool(c.Tool); c.Search != nil || tool != nil && makesFrames(tool) {
			return fmt.Errorf("active_chains: %s makes frames of its own, or searches, and does so on one chain at a time; iperf3 loads several: %w", c.Tool, ErrInput)
		}
	}
	return severalOf(chain)
}

// severalOf refuses a chain with something that only one can have.
func severalOf(chain api.Chain) error {
	if p := chain.Spec.Placement; p.Functions.Exclusive || p.Load.Exclusive || p.Softirqs.Exclusive {
		return fmt.Errorf("active_chains: with placement exclusive each chain needs CPUs to itself, and whether there are as many is not known before all are up; give shared ones: %w", ErrInput)
	}
	for _, e := range chain.Spec.Endpoints {
		if e.Namespace != "" || e.Interface != "" {
			return fmt.Errorf("active_chains: endpoint %s exists already and cannot be the end of several chains: %w", e.Name, ErrInput)
		}
	}
	for _, f := range chain.Spec.Functions {
		if f.Ref != "" && chain.Spec.Tenant == "" {
			return fmt.Errorf("active_chains: function %s stands alone, and chains that are nobody's cannot go through it together; give the chain a tenant, and each of them is another's: %w", f.Name, ErrInput)
		}
	}
	return nil
}
