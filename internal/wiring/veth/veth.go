// Package veth joins neighbours by one virtual Ethernet pair each, with nothing
// in between.
package veth

import "nfchain.dev/nfchain/internal/wiring"

// Wiring is the veth wiring.
type Wiring struct{}

// Options of a wiring that leaves nothing to choose.
type Options struct{}

// Name implements wiring.Wiring.
func (Wiring) Name() string { return "veth" }

// PassesOthers implements wiring.Clear.
func (Wiring) PassesOthers() {}

// Options implements wiring.Wiring.
func (Wiring) Options() any { return &Options{} }

// Join implements wiring.Wiring.
func (Wiring) Join(n wiring.Network) (wiring.Joined, error) {
	j := wiring.Joined{Requires: []string{"veth"}}
	for _, h := range n.Hops {
		pair := n.Pair(h)
		j.Resources = append(j.Resources, pair)
		j.Ends = append(j.Ends, wiring.Ends{A: pair.ID, B: pair.ID})
	}
	return j, nil
}
