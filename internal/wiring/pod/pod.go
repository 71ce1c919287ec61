// Package pod is the wiring of two ends that share one network namespace, as containers of a pod do: they meet over its
// loopback interface. What it joins by is there with the namespace, and nothing else is made.
package pod

import "nfchain.dev/nfchain/internal/wiring"

// Wiring is the wiring within a pod.
type Wiring struct{}

// Options of a wiring that leaves nothing to choose.
type Options struct{}

var _ wiring.Within = Wiring{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "pod" }

// Within implements wiring.Within.
func (Wiring) Within() {}

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{} }

// Join implements wiring.Wiring. The interface that joins the ends comes with their namespace.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	joined := wiring.Joined{Settings: map[string]string{"interface": wiring.Loopback}}
	for _, h := range n.Hops {
		joined.Ends = append(joined.Ends, wiring.Ends{A: h.Needs[0], B: h.Needs[1]})
	}
	return joined, nil
}
