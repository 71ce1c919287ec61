package watch

import (
	"fmt"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// add a node of the path.
func (w *Watcher) add(i int, spec process.Watched) error {
	for _, name := range []string{spec.West, spec.East} {
		if name == "" {
			continue
		}
		p := w.port(name, spec)
		if i == 0 || i == len(w.path.Nodes)-1 {
			w.ends = append(w.ends, p)
		}
	}
	for _, name := range []string{spec.PastWest, spec.PastEast} {
		if name != "" {
			w.port(name, process.Watched{}) // no probe comes by there
		}
	}
	if spec.OnFailure == "" {
		return nil
	}
	return w.watch(&node{spec: spec, number: i, since: time.Now()})
}

// port of a node.
func (w *Watcher) port(name string, of process.Watched) *port {
	p := &port{name: name, watched: of.OnFailure != ""}
	w.ports[name] = p
	return p
}

// watch over a node, whose ports are known.
func (w *Watcher) watch(n *node) error {
	spec := n.spec
	west, east := w.ports[spec.West], w.ports[spec.East]
	var seconds []*way
	for _, v := range []struct {
		name         string
		probe, other *process.Probe
		in, out      *port
	}{{eastward, spec.Eastward, spec.OtherEastward, west, east}, {westward, spec.Westward, spec.OtherWestward, east, west}} {
		if spec.OneWay && v.in == east {
			continue
		}
		if v.probe == nil || v.in == nil || v.out == nil {
			return fmt.Errorf("there is no way %s through function %s", v.name, n.spec.Node)
		}
		first, err := w.way(v.name, v.in, v.out, *v.probe)
		if err != nil {
			return fmt.Errorf("function %s: %w", n.spec.Node, err)
		}
		n.ways = append(n.ways, first)
		if v.other == nil {
			continue
		}
		second, err := w.way(v.name, v.in, v.out, *v.other)
		if err != nil {
			return fmt.Errorf("function %s: %w", spec.Node, err)
		}
		first.twin, second.twin, second.second = second, first, true
		seconds = append(seconds, second)
	}
	n.ways = append(n.ways, seconds...) // by turns, two that follow each other tell of both directions
	for _, v := range n.ways {
		if len(spec.Programs) > 0 { // it is told when these are ready
			v.tries = seldom
		}
	}
	w.nodes = append(w.nodes, n)
	return nil
}

// The directions of ways.
const eastward, westward = "eastward", "westward"

// way through a function, for what is like a probe.
func (w *Watcher) way(name string, in, out *port, like process.Probe) (*way, error) {
	f, err := newFrame(like)
	if err != nil {
		return nil, err
	}
	v := &way{name: name, in: in, out: out, frame: f, row: w.rows}
	w.rows++
	out.rows = append(out.rows, v.row)
	return v, nil
}
