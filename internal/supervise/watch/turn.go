package watch

import (
	"slices"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// turn packets past what has failed, and back to what has not.
func (w *Watcher) turn() {
	failed := map[int]bool{}
	for _, n := range w.nodes {
		if !n.leaving {
			failed[n.number] = n.failed
		}
	}
	if len(w.path.Paths) > 0 {
		w.turnPaths(failed)
		return
	}
	shares, courses := map[*process.Watched]*steer.Shares{}, turned(w.path.Nodes, func(i int) bool { return failed[i] })
	w.unite(courses)
	w.keepFromLeft(courses)
	for name, to := range courses {
		p := w.ports[name]
		if p.steer == nil || p.steer.ByPaths() {
			continue // who watches next knows of the paths
		}
		index, known := w.indexOf(to.to)
		if !known {
			continue // where it goes is not worse
		}
		others := func() *steer.Shares { return w.sharesOf(to, shares) }
		if p.turn(index, to.failing, others) != nil {
			w.unsure = true // it is read again, and turned then
		}
	}
}

// keepFromLeft replicas that were taken out and have failed the flows that they have still.
func (w *Watcher) keepFromLeft(courses map[string]course) {
	for name, c := range courses {
		if len(c.among) > 0 {
			c.failing |= w.left[w.path.Nodes[c.among[0]].Of]
			courses[name] = c
		}
	}
}

// turnPaths turns the packets of each path, where a classifier chooses.
func (w *Watcher) turnPaths(failed map[int]bool) {
	all := make([]map[string]course, len(w.path.Paths))
	for i, path := range w.path.Paths {
		all[i] = turned(along(w.path, path), func(i int) bool { return failed[path.Nodes[i]] })
	}
	w.unite(all...)
	for i, path := range w.path.Paths {
		for name, to := range all[i] {
			index, known := w.indexOf(to.to)
			if p := w.ports[name]; p.steer != nil && known && p.turnOn(path, index) != nil {
				w.unsure = true // it is read again, and turned then
			}
		}
	}
}

// lines of nodes that packets go along: the whole path, or several where a classifier chooses.
func (w *Watcher) lines() []process.ServicePath {
	if len(w.path.Paths) > 0 {
		return w.path.Paths
	}
	var whole process.ServicePath
	for i := range w.path.Nodes {
		whole.Nodes = append(whole.Nodes, i)
	}
	return []process.ServicePath{whole}
}

// along a service path are these nodes.
func along(p process.Path, path process.ServicePath) (nodes []process.Watched) {
	for _, n := range path.Nodes {
		node := p.Nodes[n]
		if len(p.Paths) > 0 {
			node.OneWay = path.Back != nil && !slices.Contains(path.Back, n)
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// indexOf what stands for a port, unless that is not there.
func (w *Watcher) indexOf(port string) (index uint32, known bool) {
	switch port {
	case "":
		return 0, true
	case blocked:
		return steer.Nowhere, true
	case shared:
		return steer.Replicas, true
	}
	p := w.ports[port]
	if p.steer == nil {
		return 0, false
	}
	return p.steer.Number, true
}

// sharesOf new flows that replicas get which have not failed, worked out once for all ports that
// face them.
func (w *Watcher) sharesOf(c course, known map[*process.Watched]*steer.Shares) *steer.Shares {
	var all []steer.Replica
	for _, i := range c.among {
		n := w.path.Nodes[i]
		all = append(all, steer.Replica{Number: n.Number, Weight: n.Weight})
	}
	first := &w.path.Nodes[c.among[0]]
	if known[first] == nil {
		known[first] = steer.SharesWithout(c.failing, all)
	}
	return known[first]
}
