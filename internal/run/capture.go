package run

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/plan"
)

// Captured is a chain as package capture looks at it: all of its hops, or one of them, by
// its name or that of a function that shares it.
func Captured(p *plan.Plan, hop string) (capture.Chain, error) {
	c := capture.Chain{Name: p.Chain, Wiring: p.Wiring, Names: map[string][]netip.Addr{}}
	for i, n := range p.Nodes {
		c.Path = append(c.Path, n.Name)
		addNames(c.Names, n)
		if hop == "" || n.Has(hop) {
			c.Points = append(c.Points, pointsOf(n, i)...)
		}
	}
	if len(c.Points) == 0 {
		return c, fmt.Errorf("chain %s has no hop %q; it has %s: %w", p.Chain, hop, strings.Join(c.Path, ", "), ErrInput)
	}
	return c, nil
}

// addNames of a node and of the functions that share it.
func addNames(names map[string][]netip.Addr, n plan.Node) {
	var addresses []netip.Addr
	for _, i := range []*plan.Interface{n.West, n.East} {
		if i == nil || n.Apart != 0 { // a shared function has none in the chain
			continue
		}
		for _, a := range i.Addresses {
			if !slices.Contains(addresses, a) {
				addresses = append(addresses, a)
			}
		}
	}
	if len(addresses) == 0 {
		return
	}
	names[n.Name] = addresses
	for _, m := range n.Functions {
		names[m.Name] = addresses
	}
}

// pointsOf a node are its interfaces, in and out. What comes in from the west goes
// forward; where both sides are one interface, packets of both ways pass it.
func pointsOf(n plan.Node, place int) (all []capture.Point) {
	point := func(device string, out bool, way api.Direction) {
		all = append(all, capture.Point{Hop: n.Name, Kind: n.Kind, Place: place, Namespace: n.Namespace, Device: device, Out: out, Way: string(way)})
	}
	if n.West != nil && n.East != nil && n.West.Device == n.East.Device {
		point(n.West.Device, false, "")
		point(n.West.Device, true, "")
		return all
	}
	if n.West != nil {
		point(n.West.Device, false, api.Forward)
		point(n.West.Device, true, api.Reverse)
	}
	if n.East != nil {
		point(n.East.Device, false, api.Reverse)
		point(n.East.Device, true, api.Forward)
	}
	return all
}
