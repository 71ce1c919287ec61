package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// watch has somebody watch over the functions of which the chain says what is to become of packets
// when they fail, if there are any.
func (b *builder) watch() error {
	path := process.Path{Forwarder: b.namespaceOf(WiringNode)}
	ports, any, place := b.portsOf(), false, -1
	at := make([][]int, len(b.nodes)) // among the nodes of the path, by places
	var refused []error
	for _, n := range b.everyNode() {
		if !n.Again() {
			place++
		}
		at[place] = append(at[place], len(path.Nodes))
		w := process.Watched{Node: n.Name, OnFailure: n.onFailure, OneWay: !b.returns(n)}
		if r := n.Replica; r != nil {
			w.Of, w.Number, w.Weight = r.Of, r.Number, r.weight()
		}
		if n.West != nil {
			w.West = ports[resource.Interface{Namespace: n.Namespace, Device: n.West.Device}]
		}
		if n.East != nil {
			w.East = ports[resource.Interface{Namespace: n.Namespace, Device: n.East.Device}]
		}
		if n.Past != nil {
			w.PastWest, w.PastEast = n.Past.West, n.Past.East
		}
		if n.onFailure != "" {
			any = true
			refused = append(refused, about(b.watched(place, n, &w), "function "+n.Function()+": onFailure"))
		}
		path.Nodes = append(path.Nodes, w)
	}
	if err := errors.Join(refused...); err != nil || !any {
		return err
	}
	if g := graphOf(b.nodes); b.chain.Spec.Parts() && !g.Line() {
		numbers := numbered(b.nodes)
		for place, n := range b.nodes {
			for _, i := range at[place] {
				path.Nodes[i].Onward, path.Nodes[i].Back, path.Nodes[i].Label = allAt(at, g.Onward[place]), allAt(at, g.Back[place]), numbers[n.Function()]
			}
		}
	}
	if b.classifier != nil && !b.chain.Spec.Parts() {
		for _, p := range b.classifier.Paths {
			path.Paths = append(path.Paths, process.ServicePath{Name: p.Name, Number: p.Number, Nodes: allAt(at, p.at), Back: allAt(at, p.places())})
		}
	}
	b.requires[feature.BPFIngress] = true
	b.add(resource.New(path.Forwarder, health.Spec{Path: path}, b.steering()...))
	return nil
}

// allAt places are the numbers of all that are there; nil where there are no places.
func allAt(at [][]int, places []int) (all []int) {
	for _, place := range places {
		all = append(all, at[place]...)
	}
	return all
}

// portsOf the forwarder, by the interface that each is in front of.
func (b *builder) portsOf() map[resource.Interface]string {
	ports := map[resource.Interface]string{}
	for _, r := range b.resources {
		if s, is := r.Spec.(link.Spec); is && s.B.Namespace == b.namespaceOf(WiringNode) {
			ports[resource.Interface{Namespace: s.A.Namespace, Device: s.A.Device}] = s.B.Device
		}
	}
	return ports
}

// steering are the resources that steer packets at the ports, and the programs.
func (b *builder) steering() (ids []string) {
	for _, r := range b.resources {
		if r.Kind == steer.KindName {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// watched is how a node at a place of the path is watched: what runs in it, and the probes that are sent
// through it.
func (b *builder) watched(i int, n Node, w *process.Watched) error {
	if _, translates := b.catalogue.Functions[n.Kind].(function.Translator); translates && n.onFailure == process.Bypass {
		return fmt.Errorf("what passes by a %s has addresses that the ends do not know; use block, or leave it out", n.Kind)
	}
	sum := sha256.New()
	for _, r := range b.resources {
		s, runs := r.Spec.(process.Spec)
		if runs = runs && s.Netns == n.Namespace; runs {
			if s.Restart == "never" {
				return fmt.Errorf("its program is started once, so that it would never be well again once that ended; use restart: always, or leave onFailure out")
			}
			w.Programs = append(w.Programs, s.Node)
		}
		if runs || r.Namespace == n.Namespace {
			_, _ = fmt.Fprintln(sum, r.ID, r.Spec.Fingerprint())
		}
	}
	w.Version = hex.EncodeToString(sum.Sum(nil)[:8])
	slices.Sort(w.Programs)
	west, east := b.facing(Interface{}, false).MAC, b.facing(Interface{}, true).MAC
	intoWest, intoEast := n.West.MAC, n.East.MAC
	if n.Transparent { // it passes on what is for the one behind it
		intoWest, intoEast = east, west
	}
	w.Eastward, w.OtherEastward = probes(process.Probe{FromMAC: west, ToMAC: intoWest}, n.toClient, n.fromWest)
	if w.OneWay {
		return nil
	}
	w.Westward, w.OtherWestward = probes(process.Probe{FromMAC: east, ToMAC: intoEast}, n.toServer, n.fromEast)
	return nil
}

// probes from one end to the other: in the first family of addresses that both have, and in the other one, if
// they have that, too.
func probes(of process.Probe, from, to []netip.Addr) (first, other *process.Probe) {
	for _, destination := range to {
		source, has := function.OfFamily(destination, from)
		if !has || first != nil && first.To.Is4() == destination.Is4() {
			continue
		}
		p := of
		p.From, p.To = source, destination
		if first != nil {
			return first, &p
		}
		first = &p
	}
	return first, nil
}
