// Package host is the wiring without containers: both ends are in the host's own
// namespace and meet over its loopback interface, as programs on bare metal do.
// Nothing is made.
package host

import "nfchain.dev/nfchain/internal/wiring"

// Wiring is the host wiring.
type Wiring struct{}

// Options of a wiring that leaves nothing to choose.
type Options struct{}

var _ wiring.Bare = Wiring{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "host" }

// Bare implements wiring.Bare.
func (Wiring) Bare() {}

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{} }

// Join implements wiring.Wiring. The interface that joins the ends is there already.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	return wiring.Joined{
		Ends:     make([]wiring.Ends, len(n.Hops)),
		Settings: map[string]string{"interface": wiring.Loopback},
	}, nil
}
