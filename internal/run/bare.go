package run

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Offers refuses loads that a chain's wiring has no place for: over a bare one, frames
// that a tool makes would go past the host's own stack, by an interface that is not
// Ethernet.
func (h *Host) Offers(chain api.Chain, conditions []trial.Condition, tools []traffic.Tool) error {
	if !h.Catalogue.Bare(chain.Spec.Wiring) {
		return nil
	}
	for _, c := range conditions {
		for _, t := range tools {
			if t.Name() == c.Tool && makesFrames(t) {
				return fmt.Errorf("%s makes frames of its own, and wiring %s has the host's loopback alone, which carries packets between sockets; use a tool such as iperf3, or wiring: veth: %w",
					c.Tool, chain.Spec.Wiring, ErrInput)
			}
		}
	}
	return nil
}

// NeedsHops refuses to tell a chain's nodes apart where they are all the host.
func (h *Host) NeedsHops(wiring, command string) error {
	if !h.Catalogue.Bare(wiring) {
		return nil
	}
	return fmt.Errorf("wiring %s: both ends are in the host's own namespace, so %s cannot tell them and the rest of the host apart; use wiring: veth: %w",
		wiring, command, ErrInput)
}

// BareIsUp tells whether a chain of which no namespace would be there is up.
func (h *Host) BareIsUp(name string) bool {
	chain, err := h.Chain(name)
	return err == nil && h.Catalogue.Bare(chain.Spec.Wiring)
}
