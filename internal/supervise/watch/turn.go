package watch

import (
	"errors"
	"maps"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// turn packets past what has failed, and back to what has not. While ports are changed nothing is: who changes them says where packets go
// until they are watched (steer.Kind's detours), by an order of functions that is not known here. By the one that is, packets could be led
// back to where they were, to go round for ever; and what is written by turns, "instead" of a port, would be whoever's came last.
func (w *Watcher) turn() {
	if time.Now().Before(w.held) {
		w.unsure = true // it is read again, and turned then
		return
	}
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
	if w.parts() {
		w.turnWays(failed)
		return
	}
	functions, shares, courses := w.replicas(failed), map[*process.Watched]*steer.Shares{}, turned(w.path.Nodes, func(i int) bool { return failed[i] })
	w.unite(led(courses))
	w.keepFromLeft(courses)
	for name, p := range w.ports {
		to, is := courses[name]
		var err error
		switch {
		case p.steer == nil:
		case p.steer.ByPaths():
			err = w.turnAlike(p, to, functions, shares)
		case is:
			err = w.turnAll(p, to, shares)
		}
		w.doubt(p, err) // it is read again, and turned then
	}
	w.uniteAhead(anyFailed(failed))
}

// turnAll packets that come in at a port.
func (w *Watcher) turnAll(p *port, to course, shares map[*process.Watched]*steer.Shares) error {
	index, known := w.indexOf(p, to)
	if !known {
		return nil // where it goes is not worse
	}
	return p.turn(index, w.facedBy(p), to.failing, func() *steer.Shares { return w.sharesOf(to, shares) })
}

// turnAlike turns all packets that come in at a port but those of flows that stay on paths from before the chain had no classifier any more: away
// from replicas that fail whatever path leads to these. Where it has one by now, who watches next knows of the paths.
func (w *Watcher) turnAlike(p *port, to course, functions map[string]course, shares map[*process.Watched]*steer.Shares) error {
	err := w.keepFrom(p, true, functions, shares)
	alike, wrong := p.steer.Alike()
	if index, known := w.indexOf(p, to); known && alike {
		wrong = errors.Join(wrong, p.lead(index))
	}
	return errors.Join(err, wrong, w.keepFrom(p, false, functions, shares))
}

func anyFailed(failed map[int]bool) bool {
	return slices.Contains(slices.Collect(maps.Values(failed)), true)
}

// functions with replicas.
func (w *Watcher) functions() (all []string) {
	for _, n := range w.path.Nodes {
		if n.Of != "" && !slices.Contains(all, n.Of) {
			all = append(all, n.Of)
		}
	}
	return all
}

// replicas of each function, and which of them fail: that is so wherever packets may come to them, by older paths too, which lead
// from ports where no other does.
func (w *Watcher) replicas(failed map[int]bool) map[string]course {
	all := map[string]course{}
	for i, n := range w.path.Nodes {
		if n.Of != "" {
			c := all[n.Of]
			c.among = append(c.among, i)
			all[n.Of] = c
		}
	}
	for of, c := range all {
		c.failing = failing(w.path.Nodes, c.among, func(i int) bool { return failed[i] })
		all[of] = c
	}
	w.keepFromLeft(all)
	return all
}

// facedBy a port is the function to whose replicas packets may go from there, where paths are not told apart; "" where there
// is none.
func (w *Watcher) facedBy(p *port) string {
	for _, of := range w.functions() {
		if _, is := p.steer.Shared(of); is {
			return of
		}
	}
	return ""
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
		for name, to := range all[i] {
			all[i][name] = to.of(path)
		}
	}
	w.unite(led(all...))
	functions, shares := w.replicas(failed), map[*process.Watched]*steer.Shares{}
	for name, p := range w.ports {
		if p.steer != nil {
			w.doubt(p, w.turnPort(name, p, all, functions, shares)) // it is read again, and turned then
		}
	}
}

// of the nodes of a path are those that packets go to: by their places among all.
func (c course) of(path process.ServicePath) course {
	among := make([]int, len(c.among))
	for i, n := range c.among {
		among[i] = path.Nodes[n]
	}
	c.among = among
	return c
}

// turnPort turns the packets of each path at a port: away from replicas that fail before they may come there, and to those
// that are well again when they do.
func (w *Watcher) turnPort(name string, p *port, all []map[string]course, functions map[string]course, shares map[*process.Watched]*steer.Shares) error {
	err := w.keepFrom(p, true, functions, shares)
	for i, path := range w.path.Paths {
		if to, is := all[i][name]; is {
			if index, known := w.indexOf(p, to); known {
				err = errors.Join(err, p.turnOn(path, index))
			}
		}
	}
	return errors.Join(err, w.keepFrom(p, false, functions, shares))
}

// keepFrom replicas that fail what comes in at a port, of those functions of which some do, or of those of which none does.
func (w *Watcher) keepFrom(p *port, failing bool, functions map[string]course, shares map[*process.Watched]*steer.Shares) (err error) {
	for of, to := range functions {
		if (to.failing != 0) == failing {
			err = errors.Join(err, p.keepFrom(of, to.failing, func() *steer.Shares { return w.sharesOf(to, shares) }))
		}
	}
	return err
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

// indexOf what stands for the port that packets go to from another, unless that is not there.
func (w *Watcher) indexOf(from *port, to course) (index uint32, known bool) {
	switch to.to {
	case "":
		return 0, true
	case blocked:
		return steer.Nowhere, true
	case shared:
		return from.steer.Shared(w.path.Nodes[to.among[0]].Of)
	}
	p := w.ports[to.to]
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
