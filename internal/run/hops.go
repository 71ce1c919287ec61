package run

import (
	"cmp"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// HopState is what a forwarder sent from one node to the next, since the port is there.
type HopState struct {
	From string `json:"from"`
	// To is a node, or a function with replicas, one of which each packet was sent to; where paths
	// part, it is all of those that they lead to.
	To string `json:"to"`
	// Direct is the hop between the two ends, beside the chain.
	Direct  bool   `json:"direct,omitempty"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`
	// Ended packets got no further, because the node failed and may not be led past, or one behind it to which they would have
	// been led past it; they are not among these.
	Ended uint64 `json:"ended_packets,omitempty"`
	// Older are nodes that flows which stay on an older path are sent to instead; their packets are among these.
	Older []string `json:"older_to,omitempty"`
	// Marks are those of the packets that a branch leads this way; "" of what no branch has.
	Marks string `json:"marks,omitempty"`
	// Flows that are known to have come this way, so that answers go it; 0 where there is but one.
	Flows int `json:"flows,omitempty"`
	// Unknown packets went this way because it is the planned one, and where they belong was not known.
	Unknown uint64 `json:"unknown_packets,omitempty"`
	// LedPast are those of the packets that were led past the node while it failed, as far as they are counted: where ways
	// part or come together, and where they met functions that are inline beside it.
	LedPast uint64 `json:"led_past_packets,omitempty"`
	// Pass is what functions that are inline did on the hop; absent where there are none.
	Pass *PassState `json:"pass,omitempty"`
}

// hopsOf a chain over a forwarder, in path order, there and back; none of another. passes are
// those at its ports, and parted what the ports tell where ways part.
func hopsOf(p *plan.Plan, passes map[string]*PassState, parted *steer.Parted) ([]HopState, error) {
	all := []HopState{}
	ends := map[string]link.End{} // behind the forwarder's ports
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is && s.B.Namespace == p.Between() {
			ends[s.B.Device] = s.A
		}
	}
	var counted, ahead map[string]steer.Came
	var older map[string][]string
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is || strings.HasPrefix(s.Device, steer.Beside) {
			continue
		}
		if counted == nil {
			var err error
			if counted, ahead, older, err = countsIn(r.Namespace, p.Chain); err != nil {
				return all, err
			}
		}
		c, from := counted[s.Device], ends[s.Device]
		to := ends[s.To].Node
		switch {
		case s.Among != nil && s.To == "":
			to = s.Among.Of
		case s.Branch != nil:
			to = s.Branch.Ways[0].Node
		case s.Paths != nil && s.To == "":
			to = oneOf(s.Paths, ends)
		}
		direct := p.Direct != nil && (from.Device == p.Direct.Client.Device || from.Device == p.Direct.Server.Device)
		h := HopState{From: from.Node, To: to, Direct: direct, Packets: c.Packets, Bytes: c.Bytes, Older: older[s.Device],
			Pass: passes[resource.ID(pass.KindName, r.Namespace, s.Device)]}.without(c.Ended)
		h.Ended, h.LedPast = c.Ended.Packets, min(h.Packets, counted[pastBy(p, from, ends[s.To])].Packets)
		ways := h.without(ahead[s.Device].Counts).apart(s, p, parted)
		if on, before := h.ahead(s, ends, ahead[s.Device].Counts); before {
			ways = append(ways, on)
		}
		all = append(all, ways...)
	}
	return all, nil
}

// pastBy is the port by which packets come in again that were led past the node of an interface; "" where there is none, or where
// those of several replicas do.
func pastBy(p *plan.Plan, from, to link.End) string {
	for _, n := range p.Nodes {
		switch {
		case n.Name == from.Node && n.Replica != nil:
			return ""
		case n.Past == nil || n.Name != to.Node:
		case to.Device == n.West.Device:
			return n.Past.East
		case to.Device == n.East.Device:
			return n.Past.West
		}
	}
	return ""
}

// ahead is what went by paths other than that of branches, where there are such: the ways of the hop do not have it.
func (h HopState) ahead(s steer.Spec, ends map[string]link.End, c steer.Counts) (on HopState, is bool) {
	if s.Paths == nil || s.To == "" && s.Among == nil && s.Branch == nil {
		return on, false
	}
	on = HopState{From: h.From, To: oneOf(s.Paths, ends), Packets: c.Packets, Bytes: c.Bytes}
	return on, on.To != ""
}

// oneOf the nodes behind the ports that paths lead to.
func oneOf(p *steer.Paths, ends map[string]link.End) string {
	var names []string
	for _, w := range p.Ways {
		if w.Behind {
			continue
		}
		if name := cmp.Or(w.Of, ends[w.Port].Node); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// countsIn a forwarder's namespace, by port, what of it went other paths than that of branches, and the nodes that flows go to which stay on older paths; none where that
// is missing.
func countsIn(namespace, owner string) (counted, ahead map[string]steer.Came, older map[string][]string, err error) {
	counted = map[string]steer.Came{}
	if !netns.Exists(namespace) {
		return counted, nil, nil, nil
	}
	h, err := netns.Open(namespace)
	if err != nil {
		return counted, nil, nil, err
	}
	defer h.Close()
	at := resource.At(h, owner)
	if ahead, err = steer.CountAhead(at); err != nil {
		return counted, nil, nil, err
	}
	found, err := steer.Count(at) // later, so that it has what those have
	if err != nil || found == nil {
		return counted, nil, nil, err
	}
	ways, err := steer.OlderWays(at)
	if err != nil || len(ways) == 0 {
		return found, ahead, nil, err
	}
	ends, err := link.Behind(h, owner)
	for port := range ways {
		for i, to := range ways[port] {
			ways[port][i] = cmp.Or(ends[to].Node, to)
		}
	}
	return found, ahead, ways, err
}
