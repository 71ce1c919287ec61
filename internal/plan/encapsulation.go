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
	// MDType is 1 where the header has a context header, all 0; absent where it has no metadata.
	MDType int `json:"md_type,omitempty"`
	// Paths are what it reads on each of several, of which the first is above too; none where there is one.
	Paths []NSHPath `json:"paths,omitempty"`
	// Way is the functions of the service path, in words, where ways part: each is one as far as it is apart from others.
	Way string `json:"way,omitempty"`
}

// NSHPath is what a function reads on one of several paths.
type NSHPath struct {
	// Path is the functions that it goes by.
	Path string `json:"path"`
	// Number by which ports know it.
	Number  int     `json:"number"`
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
	var refused []error
	if !can {
		refused = append(refused, fmt.Errorf("encapsulation: wiring %s puts no header before packets; use wiring: %s, or leave it out", b.wiring.Name(), able[wiring.Encapsulating](b.catalogue.Wirings)))
	}
	if !takes {
		refused = append(refused, fmt.Errorf("encapsulation: a %s is the kernel's own, which does not read %s; kinds whose programs can are %s", n.Kind, f.Encapsulation, able[function.Framed](b.catalogue.Functions)))
	}
	if length := nsh.RoomFor(f.MDType); b.chain.Spec.MTU+length > mostMTU {
		refused = append(refused, fmt.Errorf("encapsulation: packets of %d bytes with %d bytes of headers and tags are longer than an interface takes; use mtu: %d", b.chain.Spec.MTU, length, mostMTU-length))
	}
	if len(refused) > 0 {
		return errors.Join(refused...)
	}
	path := w.ServicePath(b.wiringOptions())
	if path == 0 {
		path = uint32(1 + hash("service path", b.chain.Metadata.Name)%nsh.MostPath)
	}
	if n.NSH = (&NSH{Forward: nsh.Hop{Path: path}}); f.MDType == nsh.FixedContext {
		n.NSH.MDType = f.MDType
	}
	if b.chain.Spec.Classifier != nil || b.chain.Spec.Parts() {
		return nil // places are those on paths or ways, which are not known yet
	}
	var all []string
	for _, o := range b.chain.Spec.Functions {
		all = append(all, o.Name)
	}
	forward, reverse, err := b.hopsOf(f.Name, all, path, false)
	n.NSH.Forward, n.NSH.Reverse = forward, reverse
	return err
}

// hopsOf a function on a service path by some functions: there, and back unless packets go straight back.
func (b *builder) hopsOf(name string, functions []string, path uint32, oneWay bool) (forward, reverse nsh.Hop, err error) {
	place := slices.Index(functions, name)
	if at := max(place, len(functions)-1-place) + 1; at >= nsh.FirstIndex {
		return forward, reverse, fmt.Errorf("encapsulation: it is function %d of a direction, and the service index, which begins with %d and is one less behind each, would be 0 there (RFC 8300 §2.3); at most %d functions can be up to it", at, nsh.FirstIndex, nsh.FirstIndex-1)
	}
	back := 0 // of the functions behind it, those that packets have been to on their way back
	for _, f := range b.chain.Spec.Functions {
		if slices.Index(functions, f.Name) > place && !oneWay && !b.chain.Spec.OneWay(f) {
			back++
		}
	}
	return nsh.Hop{Path: path, Index: uint8(nsh.FirstIndex - place)}, nsh.Hop{Path: path | nsh.Back, Index: uint8(nsh.FirstIndex - back)}, nil
}

// headPaths says which headers frames have on each of several paths.
func (b *builder) headPaths(c *Classifier) error {
	for i := range b.nodes {
		n := &b.nodes[i]
		if n.NSH == nil {
			continue
		}
		if b.chain.Spec.Parts() && graphOf(b.nodes).Line() {
			return fmt.Errorf("function %s: encapsulation: the chain has a classifier, and branches or a next of which none leads anywhere but to the function behind; leave these out", n.Function())
		}
		path := n.NSH.Forward.Path
		n.NSH.Reverse, n.NSH.Forward.Index = nsh.Hop{Path: path | nsh.Back, Index: nsh.FirstIndex}, nsh.FirstIndex // where no path goes by it
		for j, p := range c.Paths {
			if !p.by(i) {
				continue
			}
			on := NSHPath{Path: p.Name, Number: p.Number}
			c.Paths[j].ServicePath = servicePath(path, p.Number)
			functions, called := p.Functions, c.Paths[j].ServicePath
			if p.Branched {
				w := b.wayAt(i, p)
				functions, called, n.NSH.Way = w.functions, servicePath(path, w.number), w.text()
			}
			var err error
			if on.Forward, on.Reverse, err = b.hopsOf(n.Function(), functions, called, p.OneWay); err != nil {
				return fmt.Errorf("function %s: %w", n.Function(), err)
			}
			if n.NSH.Paths = append(n.NSH.Paths, on); p.Name == c.first(i).Name {
				n.NSH.Forward, n.NSH.Reverse = on.Forward, on.Reverse
			}
		}
	}
	return nil
}

// servicePath is what one of several paths is called in headers, of a chain that calls its own so. No two of a chain's are
// called the same, and each keeps what it is called while others come and go.
func servicePath(own uint32, number int) uint32 {
	return (own-1+uint32(number))%nsh.MostPath + 1
}

// headsBeyond tells whether packets may go on from a node to a function that gets them behind headers, which say their path.
func (b *builder) headsBeyond(c *Classifier, node int, east bool) bool {
	return slices.ContainsFunc(c.Paths, func(p Path) bool {
		return p.by(node) && slices.ContainsFunc(b.beyond(p, node, east), func(goal int) bool { return b.nodes[goal].NSH != nil })
	})
}

// headers are how many bytes more packets may have at the interfaces of nodes, by node, whose frames have headers before them.
func (b *builder) headers() map[string]int {
	all := map[string]int{}
	for _, n := range b.nodes {
		if n.NSH != nil {
			all[n.Name] = nsh.RoomFor(n.NSH.MDType)
		}
	}
	return all
}

// on are the hops of several paths in a direction.
func (n *NSH) on(way api.Direction) (all []nsh.OnPath) {
	for _, p := range n.Paths {
		hop := p.Forward
		if way == api.Reverse {
			hop = p.Reverse
		}
		all = append(all, nsh.OnPath{Number: p.Number, Hop: hop})
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
		b.add(resource.New(n.Namespace, nsh.Push{Device: n.West.Device, Hop: n.NSH.Forward, MDType: n.NSH.MDType, On: n.NSH.on(api.Forward), From: b.facing(Interface{}, false).MAC, To: n.West.MAC}, needs))
		b.add(resource.New(west.Namespace, nsh.Pop{Device: west.Device, Hop: n.NSH.Reverse, On: n.NSH.on(api.Reverse)}, needs))
		needs = b.ends[i].A
		b.add(resource.New(n.Namespace, nsh.Push{Device: n.East.Device, Hop: n.NSH.Reverse, MDType: n.NSH.MDType, On: n.NSH.on(api.Reverse), From: b.facing(Interface{}, true).MAC, To: n.East.MAC}, needs))
		b.add(resource.New(east.Namespace, nsh.Pop{Device: east.Device, Hop: n.NSH.Forward, On: n.NSH.on(api.Forward)}, needs))
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
