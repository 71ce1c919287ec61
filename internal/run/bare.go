package run

import (
	"fmt"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Offers refuses loads that a chain has no place for: frames that do not fit through its
// links, and over a loopback all that a tool makes itself, which would go past the host's
// own stack, by an interface that is not Ethernet.
func (h *Host) Offers(chain api.Chain, conditions []trial.Condition, tools []traffic.Tool) error {
	for _, c := range conditions {
		if err := mayAsk(chain, c); err != nil {
			return err
		}
		t := framerOf(c, tools)
		if t == nil {
			continue
		}
		if h.Catalogue.Loops(chain.Spec.Wiring) {
			return fmt.Errorf("%s makes frames of its own, and wiring %s has a loopback alone, which carries packets between sockets; use a tool such as iperf3, or wiring: veth: %w",
				c.Tool, chain.Spec.Wiring, ErrInput)
		}
		if h.Catalogue.OnMachine(chain.Spec) {
			return fmt.Errorf("%s makes frames of its own, and wiring %s has this machine for its first end, whose own stack makes them; use a tool such as iperf3, or wiring: veth: %w",
				c.Tool, chain.Spec.Wiring, ErrInput)
		}
		if err := fits(chain.Spec, c, t); err != nil {
			return err
		}
	}
	return nil
}

// framerOf a condition is its tool, if that makes its own frames.
func framerOf(c trial.Condition, tools []traffic.Tool) traffic.Framer {
	for _, t := range tools {
		if f, is := t.(traffic.Framer); is && t.Name() == c.Tool {
			return f
		}
	}
	return nil
}

// NeedsHops refuses to tell a chain's nodes apart where they are all the host.
func (h *Host) NeedsHops(wiring string, onMachine bool, command string) error {
	if onMachine {
		return fmt.Errorf("wiring %s: the first end is this machine, so %s cannot tell it and the rest of the machine apart; use wiring: veth: %w", wiring, command, ErrInput)
	}
	if !h.Catalogue.Loops(wiring) {
		return nil
	}
	if h.Catalogue.Within(wiring) {
		return fmt.Errorf("wiring %s: both ends are in one namespace and meet over its loopback, so %s cannot tell them apart; use wiring: veth: %w",
			wiring, command, ErrInput)
	}
	return fmt.Errorf("wiring %s: both ends are in the host's own namespace, so %s cannot tell them and the rest of the host apart; use wiring: veth: %w",
		wiring, command, ErrInput)
}

// BareIsUp tells whether a chain of which no namespace would be there is up.
func (h *Host) BareIsUp(name string) bool {
	chain, err := h.Chain(name)
	return err == nil && (h.Catalogue.Bare(chain.Spec.Wiring) || h.Catalogue.Hosted(chain.Spec))
}
