package run

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/trace"
)

// Captured is a chain as package capture looks at it: all of its hops, or one of them, by
// its name or that of a function that shares it; of a function with replicas, all of these. A function
// that is inline has no interfaces: packets come to it and leave it at those beside it. Where there are several paths, each packet tells its own.
func Captured(p *plan.Plan, hop string) (capture.Chain, error) {
	c := capture.Chain{Name: p.Chain, Wiring: p.Wiring, Back: p.Back(), Names: map[string][]netip.Addr{}}
	if p.Classifier != nil {
		on := &onPath{plan: p}
		c.PathOf, c.Done = on.of, on.close
	}
	places := map[string]int{}
	for i, n := range p.Nodes {
		if !n.Again() && n.Kind != plan.StopKind { // which has the name of the first function at it
			c.Path = append(c.Path, n.Function())
		}
		for _, f := range p.InlineAfter(i) {
			c.Path = append(c.Path, f.Name)
		}
		places[n.Name] = slices.Index(c.Path, n.Function())
		addNames(c.Names, n)
		named := n.Means(hop)
		if n.Hook == through.XDP && named {
			return c, fmt.Errorf("chain %s: packets pass %s in the driver, where nothing captures them; name the hop before or behind it, or none: %w", p.Chain, hop, ErrInput)
		}
		if hop == "" || named {
			c.Points = append(c.Points, pointsOf(n)...)
		}
		for _, f := range p.Inline {
			if f.Name == hop && !named {
				c.Points = append(c.Points, beside(f, n)...)
			}
		}
	}
	c.ServicePaths = servicePaths(p)
	for i := range c.Points {
		c.Points[i].Place = places[c.Points[i].Hop]
	}
	left, err := leavingNodes(p)
	if err != nil {
		return c, err
	}
	for _, n := range left {
		if hop == "" || hop == n.Name || hop == n.Of {
			c.Points = append(c.Points, pointsLeaving(n)...)
		}
	}
	if len(c.Points) == 0 {
		return c, fmt.Errorf("chain %s has no hop %q; %s: %w", p.Chain, hop, Meant(hop, "it has", c.Path), ErrInput)
	}
	return c, nil
}

// servicePaths are the several paths of a chain, or its ways where these part, by what headers call them, either way.
func servicePaths(p *plan.Plan) map[uint32]string {
	all := p.ServiceWays()
	for path, text := range maps.Clone(all) {
		all[path|nsh.Back] = text
	}
	if p.Classifier == nil {
		return all
	}
	for _, path := range p.Classifier.Paths {
		if path.ServicePath != 0 {
			all[path.ServicePath], all[path.ServicePath|nsh.Back] = path.Text(), path.Text()
		}
	}
	return all
}

// addNames of a node and of the functions that share it.
func addNames(names map[string][]netip.Addr, n plan.Node) {
	addresses := addressesOf(n)
	if len(addresses) == 0 {
		return
	}
	names[n.Name], names[n.InFile()] = addresses, addresses
	for _, m := range n.Functions {
		names[m.Name] = addresses
	}
}

// addressesOf a node, each once. A shared function has none in the chain.
func addressesOf(n plan.Node) (all []netip.Addr) {
	for _, i := range []*plan.Interface{n.West, n.East} {
		if i == nil || n.Apart != 0 {
			continue
		}
		for _, a := range i.Addresses {
			if !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}

// pointsOf a node are its interfaces, in and out. What comes in from the west goes
// forward; where both sides are one interface, packets of both ways pass it.
func pointsOf(n plan.Node) []capture.Point {
	if n.Hook != "" {
		return seenAt(n)
	}
	if n.West != nil && n.East != nil && n.West.Device == n.East.Device {
		return sideOf(n, n.West, "", "")
	}
	return append(sideOf(n, n.West, api.Forward, api.Reverse), sideOf(n, n.East, api.Reverse, api.Forward)...)
}

// pointsLeaving are those of a node that only flows from before go by, which has no place in the path.
func pointsLeaving(n trace.Node) (all []capture.Point) {
	for _, device := range n.Interfaces {
		p := capture.Point{Hop: n.Name, Kind: n.Kind, Place: capture.NoPlace, Namespace: n.Namespace, Device: device}
		q := p
		q.Out = true
		all = append(all, p, q)
	}
	return all
}

// seenAt are the points of a node that hands packets on: what leaves it is seen where it comes
// in next.
func seenAt(n plan.Node) []capture.Point {
	if n.Hook == through.XDP {
		return nil // no socket sees what is a frame
	}
	return append(sideOf(n, n.West, api.Forward, "")[:1], sideOf(n, n.East, api.Reverse, "")[:1]...)
}

// sideOf a node is one of its interfaces, with the ways of what comes in there and goes
// out; none where there is no such interface.
func sideOf(n plan.Node, i *plan.Interface, in, out api.Direction) []capture.Point {
	if i == nil {
		return nil
	}
	p := capture.Point{Hop: n.Name, Kind: n.Kind, Namespace: n.Namespace, Device: i.Device, Way: string(in), Headed: n.NSH != nil}
	q := p
	q.Out, q.Way = true, string(out)
	return []capture.Point{p, q}
}

// beside a function that is inline are the interfaces of a node that face it, of each of several replicas; none where
// the node is not next to it.
func beside(f plan.Inline, n plan.Node) []capture.Point {
	var points []capture.Point
	if f.Stop && n.Function() == f.West {
		return pointsOf(n)
	}
	switch n.Function() {
	case f.West:
		points = sideOf(n, n.East, api.Reverse, api.Forward)
	case f.East:
		points = sideOf(n, n.West, api.Forward, api.Reverse)
	}
	if n.Hook != "" && len(points) > 0 {
		return points[:1]
	}
	return points
}
