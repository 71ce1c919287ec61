package watch

import (
	"errors"
	"maps"
	"slices"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// parts tells whether ways part at nodes of the path.
func (w *Watcher) parts() bool {
	return slices.ContainsFunc(w.path.Nodes, func(n process.Watched) bool { return n.Onward != nil })
}

// facing are the ports at which packets go to a node, on their way from the first end and back, where ways part.
func (w *Watcher) facing(node int) (ports []string) {
	n := w.path.Nodes[node]
	for _, before := range w.path.Nodes {
		if slices.Contains(before.Onward, node) {
			ports = append(ports, before.East)
		}
	}
	for _, next := range n.Onward {
		ports = append(ports, w.path.Nodes[next].West)
	}
	return ports
}

// turnWays has packets that go to functions which have failed end before them, or led past them, and those of replicas which have go
// to others.
func (w *Watcher) turnWays(failed map[int]bool) {
	w.unite(anyFailed(failed))
	functions, shares, lost := w.replicas(failed), map[*process.Watched]*steer.Shares{}, lostOf(w.path.Nodes, failed)
	labelled := labelledOf(w.path.Nodes)
	for _, n := range w.path.Nodes {
		for _, back := range []bool{false, true} {
			p, to := w.ports[portOf(n, back)], goals(n, back)
			if len(to) == 0 || p == nil || p.steer == nil || p.steer.ByPaths() { // the chain is another's by now
				continue
			}
			err := w.keepFrom(p, true, functions, shares)
			behind := func(n process.Watched, back bool) uint32 { return w.behind(p, n, back) }
			known := around(w.path.Nodes, to, back, lost, behind)
			also := func(label uint32) (made steer.Node, is bool) {
				if i, is := labelled[label]; is {
					return told(w.path.Nodes, i, back, nil, behind), true
				}
				return made, false
			}
			if p.again = strays(known); p.again {
				w.unsure = true // where packets go is not worse until it is read again
			} else {
				err = errors.Join(err, p.divert(w.path.Nodes[to[0]].Label, known, also))
			}
			w.doubt(p, errors.Join(err, w.keepFrom(p, false, functions, shares))) // it is read again, and turned then
		}
	}
	w.uniteAhead(anyFailed(failed))
}

// strays tells whether packets would be led past what fails to where a port leads nowhere.
func strays(known map[uint32]steer.Node) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(known)), func(n steer.Node) bool {
		to := known[n.Next]
		return n.Fails == steer.Past && to.Fails == steer.Well && to.Port == 0
	})
}

// lostOf the functions of some nodes are those of which all nodes have failed, by their labels.
func lostOf(nodes []process.Watched, failed map[int]bool) map[uint32]bool {
	lost := map[uint32]bool{}
	for i, n := range nodes {
		so, known := lost[n.Label]
		lost[n.Label] = failed[i] && (so || !known)
	}
	return lost
}

// joint tells whether packets come to a node from several functions.
func joint(nodes []process.Watched, n process.Watched) bool {
	return slices.ContainsFunc(n.Back, func(i int) bool { return nodes[i].Label != nodes[n.Back[0]].Label })
}

// number by which packets are sent to the node behind a port; 0 where it is not there.
func (w *Watcher) number(port string) uint32 {
	if p := w.ports[port]; p != nil && p.steer != nil {
		return p.steer.Number
	}
	return 0
}

// behind is what stands at a port for where packets go to a node, on their way from the first end or back: the port that it is behind, or of
// a function with replicas these; 0 where it is not there, or the port has no seat for it yet.
func (w *Watcher) behind(at *port, n process.Watched, back bool) uint32 {
	if n.Of != "" {
		number, is := at.steer.Shared(n.Of)
		if !is {
			return 0
		}
		return number
	}
	return w.number(portOf(n, !back))
}

// portOf a node, by which packets leave it, onward or back.
func portOf(n process.Watched, back bool) string {
	if back {
		return n.West
	}
	return n.East
}

// goals of what leaves a node, the planned one first.
func goals(n process.Watched, back bool) []int {
	if back {
		return n.Back
	}
	return n.Onward
}

// labelledOf nodes are their places, by their labels; of replicas that of the first.
func labelledOf(nodes []process.Watched) map[uint32]int {
	all := map[uint32]int{}
	for i, n := range nodes {
		if _, is := all[n.Label]; !is {
			all[n.Label] = i
		}
	}
	return all
}

// told of a node is where it is, and what becomes of packets to it.
func told(nodes []process.Watched, i int, back bool, lost map[uint32]bool, behind func(n process.Watched, back bool) uint32) steer.Node {
	n := nodes[i]
	made := steer.Node{Port: behind(n, back), Joint: joint(nodes, n)}
	if n.OnFailure == process.Bypass {
		made.Next = nodes[goals(n, back)[0]].Label
	}
	if lost[n.Label] {
		made.Fails = map[string]steer.Fails{process.Bypass: steer.Past, process.Block: steer.Ends}[n.OnFailure]
	}
	return made
}

// around a port, from which packets go to some nodes, are those nodes and others to which they are led past what fails, by their labels:
// not those to which they would be if more did. So what ports are told when one of a row of functions fails, or is well again, is as much
// as there are functions around it, and not as all of the row before it times all behind it.
func around(nodes []process.Watched, to []int, back bool, lost map[uint32]bool, behind func(n process.Watched, back bool) uint32) map[uint32]steer.Node {
	known := map[uint32]steer.Node{}
	for to = slices.Clone(to); len(to) > 0; to = to[1:] {
		n := nodes[to[0]]
		if _, is := known[n.Label]; is {
			continue
		}
		made := told(nodes, to[0], back, lost, behind)
		known[n.Label] = made
		if made.Fails != steer.Past {
			continue
		}
		past := goals(n, back)
		if !back {
			past = past[:1]
		}
		to = append(to, past...)
	}
	return known
}

// divert packets from nodes that fail, unless they are. A port that leads to one node alone leads there, or elsewhere, or nowhere. What else
// a port where ways part has been told of nodes, that there are still, stays there as it is also now, as of such that are well: nothing leads
// to them, and to have the port forget them would take until no packet can be on its way there.
func (p *port) divert(planned uint32, around map[uint32]steer.Node, also func(label uint32) (steer.Node, bool)) error {
	if !p.steer.Parts() {
		return p.lead(instead(planned, around))
	}
	fails := slices.ContainsFunc(slices.Collect(maps.Values(around)), func(n steer.Node) bool { return n.Fails != steer.Well })
	looks, err := p.looks()
	if err != nil || !fails && !looks {
		return err
	}
	was, err := p.steer.Nodes()
	if err != nil {
		return err
	}
	wanted := maps.Clone(around)
	for label := range was {
		if _, is := around[label]; is {
			continue
		}
		if n, is := also(label); is {
			wanted[label] = n
		}
	}
	if looks == fails && maps.Equal(was, wanted) {
		return nil
	}
	return p.steer.SetNodes(wanted)
}

// instead of a node packets go to this port, or end; 0 where they go to it.
func instead(node uint32, around map[uint32]steer.Node) (port uint32) {
	for {
		n := around[node]
		switch n.Fails {
		case steer.Well:
			return port
		case steer.Ends:
			return steer.Nowhere
		case steer.Past:
			node, port = n.Next, around[n.Next].Port
		}
	}
}

// fails tells whether packets that come in and go to a node end, or are led past it.
func (p *port) fails(node uint32) bool {
	if p == nil || p.steer == nil || p.steer.ByPaths() {
		return false
	}
	looks, err := p.looks()
	if err != nil || !looks || !p.steer.Parts() {
		return err == nil && looks
	}
	nodes, err := p.steer.Nodes()
	return err == nil && nodes[node].Fails != steer.Well
}

// looks tells whether packets are not just led as planned at a port: where ways part, whether what is known of nodes that fail is
// looked at. Who was killed while it wrote both may have left one without the other.
func (p *port) looks() (bool, error) {
	to, err := p.steer.Instead()
	return to != 0, err
}
