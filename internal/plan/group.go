package plan

import (
	"fmt"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
)

// GroupKind is the kind of a node that several functions share.
const GroupKind = "group"

// Member is one of the functions that share a node.
type Member struct {
	Name string `json:"name"`
	Kind string `json:"kind"`

	body   api.FunctionBody
	beside string
	// made are the IDs of what it contributed.
	made []string
	// forward and reverse are its places among those that are asked at the same stage
	// for packets of a direction.
	forward, reverse int
}

// members are the functions of a node: those that share it, or the one that it is for.
func (n Node) members() []Member {
	switch n.Kind {
	case GroupKind:
		return n.Functions
	case StopKind:
		return nil // they are inline
	}
	return []Member{{Name: n.Name, Kind: n.Kind, body: n.body}}
}

// Has tells whether a node, or one of the functions that share it, has a name.
func (n Node) Has(name string) bool {
	return n.Name == name || slices.ContainsFunc(n.Functions, func(m Member) bool { return m.Name == name })
}

// Maker is the function of those that share a node which contributed a resource, nil
// where none did.
func (n Node) Maker(id string) *Member {
	for i, m := range n.Functions {
		if slices.Contains(m.made, id) {
			return &n.Functions[i]
		}
	}
	return nil
}

// KindText is the node's kind, and of a group also those of its functions, as "group of
// 2 firewall, shaper".
func (n Node) KindText() string {
	if n.Kind != GroupKind {
		return n.Kind
	}
	var kinds []string
	for i := 0; i < len(n.Functions); {
		same := 1
		for i+same < len(n.Functions) && n.Functions[i+same].Kind == n.Functions[i].Kind {
			same++
		}
		kinds = append(kinds, map[bool]string{true: n.Functions[i].Kind, false: fmt.Sprintf("%d %s", same, n.Functions[i].Kind)}[same == 1])
		i += same
	}
	return GroupKind + " of " + strings.Join(kinds, ", ")
}

// sites are the member's places in the order of its site: two where packets of both
// directions ask it at different ones.
func (m Member) sites(site function.Site) []function.Site {
	site.Order = m.forward
	if m.body.Direction == api.Reverse {
		site.Order = m.reverse
	}
	if m.forward == m.reverse || m.body.Direction == api.Forward || m.body.Direction == api.Reverse {
		return []function.Site{site}
	}
	back := site
	site.Direction, site.Beside = api.Forward, m.beside+"-"+string(api.Forward)
	back.Direction, back.Beside, back.Order = api.Reverse, m.beside+"-"+string(api.Reverse), m.reverse
	return []function.Site{site, back}
}

// group is the node of functions that share one, if the kernel comes by them in their
// order in one namespace.
func (b *builder) group(seat api.Seat, before []Node) (Node, error) {
	n := Node{Name: seat.Name, Kind: GroupKind, Namespace: b.namespaceOf(seat.Name), Made: true, OneWay: b.chain.Spec.OneWay(seat.Functions[0])}
	if slices.ContainsFunc(before, func(o Node) bool { return o.Name == seat.Name }) {
		return n, fmt.Errorf("group %s: its functions are not next to each other, with %s between; name another group", seat.Name, before[len(before)-1].Name)
	}
	for _, f := range seat.Functions {
		n.Functions = append(n.Functions, Member{Name: f.Name, Kind: f.Kind, body: f.FunctionBody, beside: f.Name})
	}
	spans := map[api.Direction][]function.Span{}
	for _, way := range []api.Direction{api.Forward, api.Reverse} {
		for _, m := range n.Functions {
			span, err := b.span(m, way)
			if err != nil {
				return n, fmt.Errorf("group %s: function %s: %w", seat.Name, m.Name, err)
			}
			spans[way] = append(spans[way], span)
		}
		if err := inOrder(n.Functions, way, spans[way]); err != nil {
			return n, fmt.Errorf("group %s: %w", seat.Name, err)
		}
	}
	for i := range n.Functions {
		n.Functions[i].forward, n.Functions[i].reverse = place(spans[api.Forward], i), -place(spans[api.Reverse], i)
	}
	return n, nil
}

// span is where a member acts on packets of a direction.
func (b *builder) span(m Member, way api.Direction) (function.Span, error) {
	kind, can := b.catalogue.Functions[m.Kind].(function.Grouped)
	if !can {
		return function.Span{}, fmt.Errorf("a %s needs a namespace of its own; leave its group out", m.Kind)
	}
	if b.transparent(m.body) {
		return function.Span{}, fmt.Errorf("a %s without addresses needs a namespace of its own; leave its group out", m.Kind)
	}
	_, translates := kind.(function.Translator)
	opens := api.Forward
	if m.body.Direction == api.Reverse {
		opens = api.Reverse
	}
	oneWay := m.body.Direction == api.Forward || m.body.Direction == api.Reverse
	if way != opens && oneWay && !translates {
		return function.Span{}, nil
	}
	return kind.Acts(way != opens, settled(kind, m.body.Options, b.facts.Has)), nil
}

// inOrder refuses functions that packets of a direction would not meet in the chain's
// order.
func inOrder(all []Member, way api.Direction, spans []function.Span) error {
	for j := range all {
		for i := range j {
			first, then := i, j
			if way == api.Reverse {
				first, then = j, i
			}
			if err := follows(way, all[first].Name, all[then].Name, spans[first], spans[then]); err != nil {
				return err
			}
		}
	}
	return nil
}

// follows refuses a function of which a packet would not have met another before.
func follows(way api.Direction, first, then string, a, z function.Span) error {
	switch {
	case a.Nowhere() || z.Nowhere() || a.Last < z.First || a.Last == z.First && (a.Ordered || z.Ordered):
		return nil
	case a.Last == z.First || a.First == z.First || a.First == z.Last:
		return fmt.Errorf("%s and %s both take %s on the way %s, of which a namespace has one; give one of them another group", first, then, stages[max(a.First, z.First)], ways[way])
	}
	return fmt.Errorf("on the way %s packets would meet %s before %s, since in one namespace %s comes before %s; give one of them another group, or direction: %s",
		ways[way], then, first, stages[z.First], stages[a.Last], other[way])
}

// stages and ways as a person calls them.
var (
	stages = map[function.Stage]string{
		function.Arriving: "the translation of destinations", function.Passing: "the list of rules", function.Classing: "the telling of classes",
		function.Leaving: "the translation of sources", function.Queueing: "an interface's queue",
	}
	other = map[api.Direction]api.Direction{api.Forward: api.Reverse, api.Reverse: api.Forward}
	ways  = map[api.Direction]string{api.Forward: "there", api.Reverse: "back"}
)

// place of a member among those at its stage: 0 is that of the first, or of the one that
// takes no order.
func place(spans []function.Span, i int) int {
	if !spans[i].Ordered {
		return 0
	}
	at := func(k int) (n int) {
		for _, s := range spans[:k] {
			if s.First == spans[i].First {
				n++
			}
		}
		return n
	}
	fixed := slices.IndexFunc(spans, func(s function.Span) bool { return s.First == spans[i].First && !s.Ordered })
	return at(i) - at(max(fixed, 0))
}
