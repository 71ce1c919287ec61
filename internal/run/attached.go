package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/wiring"
)

// filesOf a chain's wiring that its options name, their texts by their paths: as they are remembered, or where nothing is, as they are now.
func (h *Host) filesOf(chain api.Chain, r *Remembered) (map[string]string, error) {
	of, is := chain.Spec.WiringOptions[chain.Spec.Wiring].(api.Filed)
	if !is {
		return nil, nil
	}
	if r != nil {
		return r.Files, nil
	}
	field, path := of.File()
	if api.Inline(*path) {
		if err := of.CheckFile([]byte(*path)); err != nil {
			return nil, fmt.Errorf("spec.%s.%s: %w: %w", chain.Spec.Wiring, field, err, ErrInput)
		}
		return map[string]string{*path: *path}, nil
	}
	at := fmt.Sprintf("spec.%s.%s: %s", chain.Spec.Wiring, field, *path)
	if !filepath.IsAbs(*path) {
		return nil, fmt.Errorf("%s is from nowhere here; write an absolute path: %w", at, ErrInput)
	}
	text, err := os.ReadFile(*path)
	if err == nil {
		err = of.CheckFile(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", at, err, ErrInput)
	}
	return map[string]string{*path: string(text)}, nil
}

// asAttached is the plan of a chain whose interfaces others made, with these as they are now.
func (h *Host) asAttached(chain api.Chain, through []api.StandaloneFunction, r Remembered, o plan.Options) (*plan.Plan, error) {
	facts, err := h.facts(chain, through, &r)
	if err != nil {
		return nil, err
	}
	p, err := h.make(chain, facts, o)
	if err != nil {
		return nil, err
	}
	if err := p.Unlike(facts.Attached, chain.Spec.MTU); err != nil {
		return p, fmt.Errorf("chain %s: %w", p.Chain, err)
	}
	return p, nil
}

// driverOf the engine's network that a chain's wiring names; "" where there is none, or the engine does not tell.
func (h *Host) driverOf(chain api.Chain) string {
	options := chain.Spec.WiringOptions[chain.Spec.Wiring]
	w, is := h.Catalogue.Wirings[chain.Spec.Wiring].(wiring.OfEngine)
	if !is || options == nil || w.Named(options) == "" {
		return ""
	}
	n := container.Network{Engine: chain.Spec.Endpoints[1].Runtime, Name: w.Named(options)}
	driver, _ := n.Drives(context.Background()) // its lack is told where it is needed
	return driver
}
