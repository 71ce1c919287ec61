package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/tuning"
	"nfchain.dev/nfchain/internal/wiring"
)

// NSH is what a function reads in the headers of what it gets (RFC 8300), by the direction
// of packets.
type NSH struct {
	Forward nsh.Hop `json:"forward"`
	Reverse nsh.Hop `json:"reverse"`
}

// mostMTU that an interface can have.
const mostMTU = 65535

// encapsulate notes that a function gets frames whole, behind a header. It is no hop of IP then.
func (b *builder) encapsulate(n *Node, f api.Function) error {
	if f.Encapsulation == "" {
		return nil
	}
	w, can := b.wiring.(wiring.Encapsulating)
	_, takes := b.catalogue.Functions[n.Kind].(function.Framed)
	switch {
	case !can:
		return fmt.Errorf("encapsulation: wiring %s puts no header before packets; use wiring: %s, or leave it out", b.wiring.Name(), able[wiring.Encapsulating](b.catalogue.Wirings))
	case !takes:
		return fmt.Errorf("encapsulation: a %s is the kernel's own, which does not read %s; kinds whose programs can are %s", n.Kind, f.Encapsulation, able[function.Framed](b.catalogue.Functions))
	case b.chain.Spec.Classifier != nil:
		return errors.New("encapsulation: a chain with a classifier has several paths, and headers tell of one; leave one of the two out")
	case b.chain.Spec.Parts():
		return errors.New("encapsulation: functions of the chain have branches or a next, and headers tell of one path; leave one of the two out")
	case b.chain.Spec.MTU+nsh.Length > mostMTU:
		return fmt.Errorf("encapsulation: packets of %d bytes with %d bytes of headers are longer than an interface takes; use mtu: %d", b.chain.Spec.MTU, nsh.Length, mostMTU-nsh.Length)
	}
	all := b.chain.Spec.Functions
	place := slices.IndexFunc(all, func(o api.Function) bool { return o.Name == f.Name })
	if at := max(place, len(all)-1-place) + 1; at >= nsh.FirstIndex {
		return fmt.Errorf("encapsulation: it is function %d of a direction, and the service index, which begins with %d and is one less behind each, would be 0 there (RFC 8300 §2.3); at most %d functions can be up to it", at, nsh.FirstIndex, nsh.FirstIndex-1)
	}
	path := w.ServicePath(b.wiringOptions())
	if path == 0 {
		path = uint32(1 + hash("service path", b.chain.Metadata.Name)%nsh.MostPath)
	}
	back := 0 // of the functions behind it, those that packets have been to on their way back
	for _, o := range all[place+1:] {
		if !b.chain.Spec.OneWay(o) {
			back++
		}
	}
	n.NSH = &NSH{
		Forward: nsh.Hop{Path: path, Index: uint8(nsh.FirstIndex - place)},
		Reverse: nsh.Hop{Path: path | nsh.Back, Index: uint8(nsh.FirstIndex - back)},
	}
	return nil
}

// headers are how many bytes come before the frames at the interfaces of nodes, by node.
func (b *builder) headers() map[string]int {
	all := map[string]int{}
	for _, n := range b.nodes {
		if n.NSH != nil {
			all[n.Name] = nsh.Length
		}
	}
	return all
}

// headersOn contributes what puts headers on at the interfaces of functions that want them, and
// takes them off at the ports behind these.
func (b *builder) headersOn() {
	for i, n := range b.nodes {
		if n.NSH == nil {
			continue
		}
		b.requires[feature.BPFXDP] = true
		west, east := b.ports[i-1].B, b.ports[i].A
		needs := b.ends[i-1].B
		b.add(resource.New(n.Namespace, nsh.Push{Device: n.West.Device, Hop: n.NSH.Forward, From: b.facing(Interface{}, false).MAC, To: n.West.MAC}, needs))
		b.add(resource.New(west.Namespace, nsh.Pop{Device: west.Device, Hop: n.NSH.Reverse}, needs))
		needs = b.ends[i].A
		b.add(resource.New(n.Namespace, nsh.Push{Device: n.East.Device, Hop: n.NSH.Reverse, From: b.facing(Interface{}, true).MAC, To: n.East.MAC}, needs))
		b.add(resource.New(east.Namespace, nsh.Pop{Device: east.Device, Hop: n.NSH.Forward}, needs))
	}
}

// complete are the settings of a port that sends to a function which gets frames whole: nothing is
// left for its device to do, so that each is as it would be on a wire before a header comes on.
func complete(settings []tuning.Setting) []tuning.Setting {
	for _, knob := range []string{tuning.VLAN, "checksum", "scatter_gather", "tso", "gso"} {
		settings = slices.DeleteFunc(settings, func(s tuning.Setting) bool { return s.Knob == knob })
		settings = append(settings, tuning.Setting{Knob: knob, Value: "false"})
	}
	return settings
}

// sends tells whether an interface is a port that sends to its node itself.
func sends(i resource.Interface) bool { return strings.HasPrefix(i.Device, steer.Sending) }
