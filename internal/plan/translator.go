package plan

import (
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// A function without a namespace that translates has addresses as one with a namespace would in its place: from
// either side of its hop packets to one of them are sent over it, like those to a node behind. Nobody answers
// there but what it translates.

// translators are the functions without a namespace that give connections other addresses.
func (b *builder) translators() (all []*Inline) {
	for i := range b.inline {
		if b.inline[i].steps.NAT != nil {
			all = append(all, &b.inline[i])
		}
	}
	return all
}

// stands gives a function at a slot its addresses: to be reached from the west, and from the east.
func (f *Inline) stands(s space) {
	f.site.Node, f.site.Direction = f.Name, f.body.Direction
	for _, h := range s.families {
		f.site.WestAddresses = append(f.site.WestAddresses, offset(h.east.Addr(), s.slot[f.Name], 0))
		f.site.EastAddresses = append(f.site.EastAddresses, offset(h.west.Addr(), s.slot[f.Name], 0))
	}
	f.Addresses = slices.Concat(f.site.WestAddresses, f.site.EastAddresses)
}

// cross the hop behind a node on the way from the far end, by the functions there that have no namespace: s is
// where the far end is reached behind them, and becomes where it is before.
func (b *builder) cross(hop int, direction api.Direction, s *Service) error {
	var on []*Inline
	for _, f := range b.translators() {
		if f.hop == hop && (f.body.Direction == api.Reverse) == (direction == api.Reverse) {
			on = append(on, f)
		}
	}
	end := b.nodes[0]
	if direction == api.Forward {
		end = b.nodes[len(b.nodes)-1]
		slices.Reverse(on)
	}
	for _, f := range on {
		f.site.Target, f.site.Further = s.Addresses, end.further()
		kind := b.catalogue.Functions[f.Kind].(function.Translator)
		t := kind.Translates(f.site, settled(kind, f.body.Options, b.facts.Has))
		if err := s.behind(t); err != nil {
			return fmt.Errorf("function %s: %w", f.Name, err)
		}
		east := hop + 1
		if f.Stop {
			east = hop
		}
		b.published = append(b.published, published{f.Name, hop, east, f.Addresses, direction, t})
	}
	return nil
}

// translate adds what a function translates to a pass. The passes of both ways are to have one table of
// connections, as many on either.
func (f *Inline) translate(spec *pass.Spec, way int, slot uint32) error {
	if f.steps.NAT == nil {
		return nil
	}
	n := f.steps.NAT(f.site)
	n.Name, n.Slot, n.Answers = f.Name, slot, way != function.Opens(f.body.Direction)
	if len(n.Rules) == 0 {
		return fmt.Errorf("function %s: it would translate nothing: of the addresses that it is given and of those that it takes connections to, none are of one family", f.Name)
	}
	if err := n.Check(); err != nil {
		return fmt.Errorf("function %w", err)
	}
	spec.NATs = append(spec.NATs, n)
	spec.Connections = max(spec.Connections, f.steps.Connections)
	return nil
}

// over is a hop, and which way packets go.
type over struct{ hop, way int }

// hopsOver are all hops, either way, in the order in which passes for their packets are made. Those of answers to a translator come first: what
// connects the ends already is then known to be no connection of one that is put between them.
func (b *builder) hopsOver() (all []over) {
	for hop := range len(b.nodes) - 1 {
		all = append(all, over{hop, function.ForwardWay}, over{hop, function.ReverseWay})
	}
	byWay := b.translators() // of several at one hop those count that connections to the second endpoint go by
	slices.SortStableFunc(byWay, func(x, y *Inline) int {
		return function.Opens(y.body.Direction) - function.Opens(x.body.Direction)
	})
	for _, f := range byWay {
		opens, answers := over{f.hop, function.ForwardWay}, over{f.hop, function.ReverseWay}
		if f.Stop {
			answers.hop-- // they come out at its other port
		}
		if function.Opens(f.body.Direction) == function.ReverseWay {
			opens, answers = answers, opens
		}
		at := slices.Index(all, answers)
		if before := slices.Index(all, opens); before < at {
			all = slices.Insert(slices.Delete(all, at, at+1), before, answers)
		}
	}
	return all
}

// NAT gives what a function translates, and the pass where its connections are opened; nil for those that
// do not.
func (f Inline) NAT(p *Plan) (spec pass.Spec, n *pass.NAT) {
	for _, at := range []*Taken{f.Forward, f.Reverse} {
		for _, r := range p.Resources {
			if at == nil || r.ID != at.Pass {
				continue
			}
			spec = r.Spec.(pass.Spec)
			for i := range spec.NATs {
				if spec.NATs[i].Name == f.Name && !spec.NATs[i].Answers {
					return spec, &spec.NATs[i]
				}
			}
		}
	}
	return spec, nil
}
