package plan

import (
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// Where ways part, a service path is no whole way from end to end: what a port knows is where packets are, and not by which functions they
// came. So the planned way is one, and so is each other as far as it is apart from all before it; whoever sends packets on from one to
// another classifies them anew (RFC 7665 §4.8), and the index is the place on the path that they are on from there.

// way is one service path of those.
type serviceWay struct {
	// number that its identifier is higher than the planned one's, whose own is 0.
	number int
	// places of the nodes on it, and the functions there and between them, in path order.
	at        []int
	functions []string
}

// serviceWays are the service paths of a chain whose ways part: the planned way first, and others in the order of their first functions,
// to which marks alone lead. Each ends before the first function that is on an earlier one.
func (b *builder) serviceWays() (ways []serviceWay) {
	g, taken := graphOf(b.nodes), make([]bool, len(b.nodes))
	for first := range b.nodes {
		if taken[first] {
			continue
		}
		var w serviceWay
		for at := first; !taken[at]; at = g.Onward[at][0] {
			taken[at], w.at = true, append(w.at, at)
			if len(g.Onward[at]) == 0 {
				break
			}
		}
		for _, f := range b.chain.Spec.Functions {
			if slices.Contains(w.at, b.placeOfFunction(f.Name)) {
				w.functions = append(w.functions, f.Name)
			}
		}
		ways = append(ways, w)
	}
	b.numberWays(ways)
	return ways
}

// placeOfFunction is where the node of a function is; of one that is inline where the node before it is.
func (b *builder) placeOfFunction(name string) int {
	if i := slices.IndexFunc(b.inline, func(f Inline) bool { return f.Name == name }); i >= 0 {
		return b.inline[i].hop
	}
	return slices.IndexFunc(b.nodes, func(n Node) bool { return n.Has(name) || n.Function() == name })
}

// Numbers of ways are above those of a classifier's paths.
const (
	firstWay = 256
	mostWays = 4096
)

// numberWays behind the planned one. Numbers follow from the names of their first functions, so that ways keep theirs while others come and
// go, as far as can be.
func (b *builder) numberWays(ways []serviceWay) {
	taken := map[int]bool{}
	for i := range ways[1:] {
		w := &ways[i+1]
		n := int(hash("way", b.nodes[w.at[0]].Function()) % mostWays)
		for taken[n] {
			n = (n + 1) % mostWays
		}
		taken[n], w.number = true, firstWay+n
	}
}

// headWays says which headers frames have where ways part.
func (b *builder) headWays() error {
	for _, w := range b.serviceWays() {
		for _, at := range w.at {
			n := &b.nodes[at]
			if n.NSH == nil {
				continue
			}
			forward, reverse, err := b.hopsOf(n.Function(), w.functions, servicePath(n.NSH.Forward.Path, w.number), false)
			if err != nil {
				return fmt.Errorf("function %s: %w", n.Function(), err)
			}
			n.NSH.Forward, n.NSH.Reverse, n.NSH.Way = forward, reverse, w.text()
		}
	}
	return nil
}

func (w serviceWay) text() string { return strings.Join(w.functions, " → ") }

// wayAt is the service path that the node of a place is on, of those of the path of a classifier on which packets go as branches lead: the
// planned way is called as that.
func (b *builder) wayAt(place int, p Path) serviceWay {
	ways := b.serviceWays()
	ways[0].number = p.Number
	return ways[slices.IndexFunc(ways, func(w serviceWay) bool { return slices.Contains(w.at, place) })]
}

// headsOnWays tells whether packets may go on from a place, or back, to a function that gets headers, as branches lead and whichever fail.
func (b *builder) headsOnWays(g Graph, from int, back bool) bool {
	return slices.ContainsFunc(b.beyondWays(g, from, back), func(to int) bool { return b.nodes[to].NSH != nil })
}

// nameWays has the ports that lead packets to functions that get headers as branches lead tell on which path of a classifier all of that is.
func (b *builder) nameWays(c *Classifier) {
	branched := slices.IndexFunc(c.Paths, func(p Path) bool { return p.Branched })
	if branched < 0 {
		return
	}
	g := graphOf(b.nodes)
	for i, r := range b.resources {
		s, is := r.Spec.(steer.Spec)
		if !is || s.Branch == nil {
			continue
		}
		if on := *s.Branch; b.headsOnWays(g, seatOf(b.nodes, on.Node), on.Back) {
			on.Path = uint32(c.Paths[branched].Number)
			s.Branch = &on
			b.resources[i].Spec = s
		}
	}
}

// ServiceWays are the service paths of a chain whose ways part, of those with functions that get headers, in words: by what headers call
// them on the way there.
func (p *Plan) ServiceWays() map[uint32]string {
	all := map[uint32]string{}
	for _, n := range p.Nodes {
		if n.NSH != nil && n.NSH.Way != "" {
			all[n.NSH.Forward.Path] = n.NSH.Way
		}
	}
	return all
}

// serviceWays for a person, in the order of their first functions that get headers.
func (p *Plan) serviceWays() (lines []string) {
	for _, n := range p.Nodes {
		if n.NSH == nil || n.NSH.Way == "" {
			continue
		}
		line := fmt.Sprintf("%d, and %d back: %s", n.NSH.Forward.Path, n.NSH.Forward.Path|nsh.Back, n.NSH.Way)
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
