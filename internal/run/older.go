package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/resource/through"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/words"
)

// leavingNodes are such nodes, as they are there, and replicas that are taken out and have flows yet.
func leavingNodes(p *plan.Plan) (all []trace.Node, err error) {
	if !forwards(p) || !netns.Exists(p.Between()) {
		return nil, nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return nil, err
	}
	defer h.Close()
	ends, err := link.Behind(h, p.Chain)
	if err != nil {
		return nil, err
	}
	left, err := leaving(p)
	for _, ns := range left {
		_, name, _ := namespace.Split(ns)
		n := trace.Node{Name: name, Kind: trace.LeavingKind, Namespace: ns, Of: replicaOf(p, name), Aside: true, Handed: map[string]bool{}}
		for _, end := range ends {
			if end.Node == name {
				n.Interfaces, n.Handed[end.Device] = append(n.Interfaces, end.Device), true
			}
		}
		if slices.Sort(n.Interfaces); len(n.Interfaces) == 0 {
			continue
		}
		if n.Hands, err = handsOn(p.Chain, n); err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, err
}

// handsOn tells whether programs hand packets on in a node that is no longer planned.
func handsOn(chain string, n trace.Node) (bool, error) {
	h, err := netns.Open(n.Namespace)
	if err != nil {
		return false, err
	}
	defer h.Close()
	_, found, err := through.CountAt(resource.At(h, chain), n.Interfaces[0])
	return found, err
}

// replicaOf is the function of the plan whose replica a node of that name was; "" where it was none.
func replicaOf(p *plan.Plan, name string) string {
	for _, n := range p.Nodes {
		if n.Replica == nil {
			continue
		}
		if number, is := strings.CutPrefix(name, n.Replica.Of+"-"); is && strings.Trim(number, "0123456789") == "" {
			return n.Replica.Of
		}
	}
	return ""
}

// amid nodes are put those that leave: replicas behind the last of their function, where that is among them, and others, if they are
// wanted, before the last.
func amid(nodes, left []trace.Node, others bool) []trace.Node {
	nodes = slices.Clone(nodes)
	for _, n := range left {
		at, last := -1, len(nodes)-1
		for i, in := range nodes {
			if n.Of != "" && in.Of == n.Of {
				at = i + 1
			}
		}
		switch {
		case at > 0:
			nodes = slices.Insert(nodes, at, n)
		case others:
			nodes = slices.Insert(nodes, last, n)
		}
	}
	return nodes
}

// withReplicas of the functions among the nodes that are taken out, as flows that they had stay with them.
func withReplicas(p *plan.Plan, nodes []trace.Node) ([]trace.Node, error) {
	left, err := leavingNodes(p)
	left = slices.DeleteFunc(left, func(n trace.Node) bool {
		return slices.ContainsFunc(nodes, func(in trace.Node) bool { return in.Name == n.Name })
	})
	all := amid(nodes, left, false)
	if len(all) > len(nodes) {
		seenThere(all)
	}
	return all, err
}

// seenThere is what comes in at each of the nodes, since what is beside one is not known before.
func seenThere(nodes []trace.Node) {
	for i, n := range nodes {
		nodes[i].Arrivals, nodes[i].Handed = nil, map[string]bool{}
		for _, device := range n.Interfaces {
			nodes[i].Handed[device] = true
		}
	}
}

// forwards tells whether the chain has a forwarder, at which flows can stay.
func forwards(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Resources, func(r resource.Resource) bool { return r.Kind == steer.KindName })
}

// leaving are the namespaces of a chain that its plan does not have.
func leaving(p *plan.Plan) ([]string, error) {
	nodes, err := deploy.Nodes(p.Chain)
	wanted := p.Namespaces()
	return slices.DeleteFunc(nodes, func(n string) bool { return slices.Contains(wanted, n) }), err
}

// olderPath is a chain as packets of a flow see it that stays on an older path, or may do so; false where it goes the newest.
func olderPath(p *plan.Plan, f trace.Flow) (c trace.Chain, may bool, err error) {
	if !forwards(p) || !netns.Exists(p.Between()) {
		return c, false, nil
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		return c, false, err
	}
	defer h.Close()
	at := resource.At(h, p.Chain)
	if may, err = steer.MayStay(at); err != nil || !may {
		return c, false, err
	}
	left, err := leavingNodes(p)
	if err != nil {
		return c, false, err
	}
	course, err := steer.StaysBy(at, firstOf(f))
	switch {
	case err != nil:
		return c, false, err
	case course == nil:
		return eitherPath(p, left), p.Classifier == nil, nil
	}
	ends, err := link.Behind(h, p.Chain)
	if err != nil {
		return c, false, err
	}
	w := walk{plan: p, left: left, ends: ends, ways: course.Ways}
	nodes, arrives := w.from(f.Reverse)
	if !arrives {
		return eitherPath(p, left), true, nil // it is being changed
	}
	c = Traced(p)
	c.Nodes = nodes
	c.Path = fmt.Sprintf("path: %s, from before the chain was changed; the flow stays on it until it has had no packet for %v", pathBy(nodes), course.Idle)
	return c, true, nil
}

// eitherPath is a chain as packets see it of which it is not known on which path they are, the newest or one from before: a flow is known by
// the headers that it has where the two part, and functions before may give it those.
func eitherPath(p *plan.Plan, left []trace.Node) trace.Chain {
	c := Traced(p)
	seenThere(c.Nodes)
	c.Nodes, c.ByTime = amid(c.Nodes, left, true), true
	return c
}

// pathBy are the functions of nodes in words.
func pathBy(nodes []trace.Node) string {
	var names []string
	for _, n := range nodes[1 : len(nodes)-1] {
		if name := cmp.Or(n.Of, n.Name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return plan.Path{}.Text()
	}
	return strings.Join(names, " → ")
}

// walk along the ports of a forwarder.
type walk struct {
	plan *plan.Plan
	left []trace.Node
	// ends behind ports, and ways from them.
	ends map[string]link.End
	ways map[string][]string
}

// from one end to the other, the second first if it is reverse; false where the ways do not lead there.
func (w walk) from(reverse bool) (nodes []trace.Node, arrives bool) {
	first, last := w.portOf(w.plan.Client().Name, w.plan.Client().East.Device), w.portOf(w.plan.Server().Name, w.plan.Server().West.Device)
	if reverse {
		first, last = last, first
	}
	begins, port := w.enter(first)
	nodes = append(nodes, begins)
	ends, _ := w.enter(last)
	for ports := []string{port}; len(ports) > 0; ports = ports[1:] {
		for _, next := range w.ways[ports[0]] {
			n, out := w.enter(next)
			switch been := func(o trace.Node) bool { return o.Name == n.Name && slices.Equal(o.Interfaces, n.Interfaces) }; {
			case n.Name != "" && n.Name != ends.Name && !slices.ContainsFunc(nodes, been):
				n.Aside = w.arrives(port, ends.Name, next)
				nodes, ports = append(nodes, n), append(ports, out)
			}
		}
	}
	arrives = w.arrives(port, ends.Name, "")
	if nodes = append(nodes, ends); reverse {
		slices.Reverse(nodes)
		for _, n := range nodes {
			slices.Reverse(n.Interfaces)
		}
	}
	return nodes, arrives
}

// arrives tells whether there is a way from a port to a node that does not go by another port.
func (w walk) arrives(from, to, barred string) bool {
	been := map[string]bool{barred: true}
	for ports := []string{from}; len(ports) > 0; ports = ports[1:] {
		for _, next := range w.ways[ports[0]] {
			n, out := w.enter(next)
			switch {
			case n.Name == to:
				return true
			case n.Name != "" && !been[next]:
				been[next] = true
				ports = append(ports, out)
			}
		}
	}
	return false
}

// portOf a node's interface.
func (w walk) portOf(node, device string) string {
	for port, end := range w.ends {
		if end.Node == node && end.Device == device {
			return port
		}
	}
	return ""
}

// enter the node behind a port, and tell by which port packets leave it.
func (w walk) enter(port string) (n trace.Node, out string) {
	end := w.ends[port]
	at := func(n trace.Node) bool { return n.Name == end.Node }
	if i := slices.IndexFunc(w.left, at); i >= 0 {
		n = w.left[i]
		leaves := partner(n.Interfaces, end.Device)
		n.Interfaces = slices.Compact([]string{end.Device, leaves})
		return n, w.portOf(n.Name, leaves)
	}
	for _, in := range w.plan.Nodes {
		side, other := in.West, in.East
		if side == nil || side.Device != end.Device {
			side, other = in.East, in.West
		}
		if in.Name != end.Node || side == nil || side.Device != end.Device {
			continue
		}
		if n = tracedNode(in); other == nil {
			other = side
		}
		n.Interfaces = slices.Compact([]string{end.Device, other.Device})
		n.Handed = map[string]bool{end.Device: true, other.Device: true}
		return n, w.portOf(n.Name, other.Device)
	}
	return n, ""
}

// partner of an interface, by which packets leave a node that came in by it: they are named in pairs.
func partner(devices []string, device string) string {
	if i := slices.Index(devices, device); i >= 0 && i^1 < len(devices) {
		return devices[i^1]
	}
	return device
}

// Whole is a chain as its own traffic is looked at, with the nodes that only flows go by which stay on an older path, and what is to be said of these.
func Whole(p *plan.Plan) (c trace.Chain, warnings []string, err error) {
	c = Traced(p)
	left, err := leavingNodes(p)
	if err != nil || len(left) == 0 {
		return c, nil, err
	}
	c.Nodes = amid(c.Nodes, left, true)
	var names []string
	for _, n := range left {
		names = append(names, n.Name)
	}
	return c, []string{fmt.Sprintf("%s: the chain no longer has that, and it is there until flows from before are idle; `nfchain show` tells how many they are", words.Few(names, mostLeaving, ", "))}, nil
}

// mostLeaving are named.
const mostLeaving = 5
