package plan

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/address"
	"nfchain.dev/nfchain/internal/wiring"
)

// Service is where the first endpoint reaches the second, and how that sees it.
type Service struct {
	// Addresses that connections go to, one a family.
	Addresses []netip.Addr `json:"addresses"`
	// Served are the second endpoint's, where they arrive: one a family, unless
	// connections are shared out.
	Served []netip.Addr `json:"served"`
	// Source is what they come from there, one a family.
	Source []netip.Addr `json:"source"`
	// Protocol and ports that alone get there; zero is all, of the protocols those that have ports where there is one. ToPort is what the one port
	// becomes; 0 is itself.
	Protocol  string `json:"protocol,omitempty"`
	FirstPort uint16 `json:"first_port,omitempty"`
	LastPort  uint16 `json:"last_port,omitempty"`
	ToPort    uint16 `json:"to_port,omitempty"`
}

// limited tells that not everything that goes to the addresses gets to the endpoint.
func (s Service) limited() bool { return s.Protocol != "" || s.FirstPort != 0 }

// Reached is the chain's Service, or what it is where no function translates.
func (p *Plan) Reached() Service {
	if p.Service != nil {
		return *p.Service
	}
	server := p.Server().West.Addresses
	return Service{Addresses: server, Served: server, Source: p.Client().East.Addresses}
}

// text says for each family what a connection between the ends goes to and becomes.
func (s Service) text(client, server string) string {
	var b strings.Builder
	for _, a := range s.Addresses {
		fmt.Fprintf(&b, "%s reaches %s at %s", client, server, a)
		if s.limited() {
			b.WriteString(",")
		}
		if s.Protocol != "" {
			b.WriteString(" " + s.Protocol)
		}
		if s.FirstPort != 0 {
			fmt.Fprintf(&b, " port %d", s.FirstPort)
		}
		if s.LastPort != s.FirstPort {
			fmt.Fprintf(&b, " to %d", s.LastPort)
		}
		from, _ := function.OfFamily(a, s.Source)
		fmt.Fprintf(&b, "; it arrives from %s at %s", from, joined(function.AllOfFamily(a, s.Served)))
		if s.ToPort != 0 {
			fmt.Fprintf(&b, " port %d", s.ToPort)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func joined(list []netip.Addr) string {
	words := make([]string, len(list))
	for i, a := range list {
		words[i] = a.String()
	}
	return strings.Join(words, ", ")
}

// services follows connections from each end to the other, beginning at the other: at
// each node it is known where the end is reached from there.
func (b *builder) services() error {
	last := len(b.nodes) - 1
	client, server := b.nodes[0].East.Addresses, b.nodes[last].West.Addresses
	there := Service{Addresses: server, Served: server}
	for i := last; i >= 0; i-- {
		if err := errors.Join(b.cross(i, api.Forward, &there), b.pass(i, api.Forward, &there)); err != nil {
			return err
		}
	}
	back := Service{Addresses: client, Served: client}
	for i := range b.nodes {
		if err := errors.Join(b.pass(i, api.Reverse, &back), b.cross(i, api.Reverse, &back)); err != nil {
			return err
		}
	}
	translated := len(there.Source) > 0 || !slices.Equal(there.Addresses, server)
	there.Source = instead(there.Source, client)
	if translated {
		b.service = &there
	}
	return nil
}

// pass goes by a node on the way from the far end: s is where that is reached behind the
// node, and becomes where it is before.
func (b *builder) pass(i int, direction api.Direction, s *Service) error {
	n := &b.nodes[i]
	to, from := &n.toServer, &n.fromWest
	if direction == api.Reverse {
		to, from = &n.toClient, &n.fromEast
	}
	*to = s.Addresses
	defer func() { *from = s.Addresses }()
	if n.shared {
		return nil
	}
	for _, m := range n.members() { // at most one of them takes connections elsewhere
		kind, translates := b.catalogue.Functions[m.Kind].(function.Translator)
		if !translates || (m.body.Direction == api.Reverse) != (direction == api.Reverse) {
			continue
		}
		t := kind.Translates(b.site(i, m), settled(kind, m.body.Options, b.facts.Has))
		if err := s.behind(t); err != nil {
			return fmt.Errorf("function %s: %w", m.Name, err)
		}
		b.published = append(b.published, published{m.Name, i, i, n.own(), direction, t})
	}
	return nil
}

// behind is where the end is reached in front of a function that translates.
func (s *Service) behind(t function.Translation) error {
	served := slices.Clone(s.Served)
	for _, service := range t.Service {
		if to := function.AllOfFamily(service, t.Served); !slices.Equal(to, function.AllOfFamily(service, s.Addresses)) {
			served = append(slices.DeleteFunc(served, func(a netip.Addr) bool { return a.Is4() == service.Is4() }), to...)
		}
	}
	s.Served, s.Addresses, s.Source = served, instead(t.Service, s.Addresses), instead(s.Source, t.Source)
	if t.Protocol == "" {
		return nil
	}
	if s.limited() {
		return errors.New("a function behind it translates certain ports only, too; leave protocol and port out of one of them")
	}
	s.Protocol, s.FirstPort, s.LastPort, s.ToPort = t.Protocol, t.Ports.First, t.Ports.Last, t.ToPort
	return nil
}

// instead gives addresses, and the others in families that they lack.
func instead(of, others []netip.Addr) []netip.Addr {
	out := slices.Clone(of)
	for _, a := range others {
		if _, has := function.OfFamily(a, of); !has {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return out
}

// published is what a function translates for connections of one direction: that of a node, which is both
// the western and the eastern, or one between two. Its own are addresses that lead there anyway.
type published struct {
	by         string
	west, east int
	own        []netip.Addr
	direction  api.Direction
	t          function.Translation
}

// publish routes addresses to the functions that translate them, where these are not
// addresses of their own: those that connections go to from one side, and those that
// they come from from the other.
func (b *builder) publish() error {
	if err := b.further(); err != nil {
		return err
	}
	for _, p := range b.published {
		east, west := lead{b.toEast, p.east}, lead{b.toWest, p.west}
		before, behind := east, west
		if p.direction == api.Reverse {
			before, behind = west, east
		}
		for _, a := range p.t.Service {
			if err := b.lead(p.by, p.own, a, before); err != nil {
				return err
			}
		}
		for _, a := range p.t.Source {
			if err := b.lead(p.by, p.own, a, behind); err != nil {
				return err
			}
		}
	}
	return nil
}

// lead is how packets are led to a node from one side.
type lead struct {
	from func(node int, a netip.Addr)
	node int
}

// lead to an address of somebody's, unless that is one that the plan gave him.
func (b *builder) lead(who string, given []netip.Addr, a netip.Addr, by lead) error {
	if slices.Contains(given, a) {
		return nil
	}
	if err := b.foreign(who, a); err != nil {
		return err
	}
	by.from(by.node, a)
	return nil
}

// further addresses of an end.
func (n Node) further() []netip.Addr { return function.Addresses(n.endpoint.Addresses).Parse() }

// further gives the ends the addresses that they have besides, and leads there.
func (b *builder) further() error {
	last := len(b.nodes) - 1
	for _, a := range b.nodes[0].further() {
		if err := b.lead(b.nodes[0].Name, b.nodes[0].own(), a, lead{b.toWest, 0}); err != nil {
			return err
		}
		b.has(b.nodes[0], *b.nodes[0].East, *b.nodes[b.next(0)].West, a, b.ends[0].A)
	}
	for _, a := range b.nodes[last].further() {
		if err := b.lead(b.nodes[last].Name, b.nodes[last].own(), a, lead{b.toEast, last}); err != nil {
			return err
		}
		b.has(b.nodes[last], *b.nodes[last].West, *b.nodes[b.previous(last)].East, a, b.ends[last-1].B)
	}
	return nil
}

// has gives a node one more address at an interface.
func (b *builder) has(n Node, own, peer Interface, a netip.Addr, needs string) {
	via, _ := function.OfFamily(a, peer.Addresses)
	if b.plain(a) {
		via = netip.Addr{}
	}
	b.add(resource.New(n.Namespace, address.Spec{Device: own.Device, Address: a, Peer: via}, needs))
}

// plain tells whether the wiring's devices may have an address with no peer alone.
func (b *builder) plain(a netip.Addr) bool {
	_, plain := b.wiring.(wiring.Plain)
	return plain && a.Is4()
}

// toEast leads to an address of a node's from all that are west of it.
func (b *builder) toEast(node int, a netip.Addr) {
	for i := 0; i < node; i = b.next(i) {
		via, _ := function.OfFamily(a, b.facing(*b.nodes[b.next(i)].West, true).Addresses)
		b.routeTo(b.nodes[i], *b.nodes[i].East, netip.PrefixFrom(a, a.BitLen()), via, b.ends[i].A)
	}
}

// toWest leads to an address of a node's from all that are east of it.
func (b *builder) toWest(node int, a netip.Addr) {
	for i := node; i+1 < len(b.nodes); {
		i = b.next(i)
		via, _ := function.OfFamily(a, b.facing(*b.nodes[b.previous(i)].East, false).Addresses)
		b.routeTo(b.nodes[i], *b.nodes[i].West, netip.PrefixFrom(a, a.BitLen()), via, b.ends[i-1].B)
	}
}

// own are the addresses that the plan gave a node.
func (n Node) own() (all []netip.Addr) {
	for _, port := range []*Interface{n.West, n.East} {
		if port != nil {
			all = append(all, port.Addresses...)
		}
	}
	return all
}

// foreign is an error that says why an address cannot be somebody's to whom the plan did not give it. Others of
// the chain's blocks may become a node's.
func (b *builder) foreign(who string, a netip.Addr) error {
	for _, h := range b.space.families {
		if h.block.Contains(a) {
			return fmt.Errorf("%s: %s is in the chain's own block %s; choose one outside", who, a, h.block)
		}
	}
	if _, has := function.OfFamily(a, b.nodes[0].East.Addresses); !has {
		return fmt.Errorf("%s: the chain has no addresses of the family of %s; give it a pool under addresses", who, a)
	}
	return nil
}
