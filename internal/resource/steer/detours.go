package steer

import (
	"errors"
	"maps"
	"slices"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// detoured is what a chain's ports know of nodes that fail: others that are turned while these do begin with it, until who watches
// has seen the new ways. None leads back to where packets have been: without the order of the ports there are none, and packets go
// to the nodes that fail until then. A function with replicas has a seat at each port, of a number of
// its own there: here the port of its first replica stands for it (seated).
type detoured struct {
	// nodes that ports know of where ways part or come together, by whether packets go back.
	nodes map[bool]map[uint32]Node
	// instead of ports packets go to others, or end.
	instead map[uint32]uint32
	// replicas are the ports that are behind seats somewhere: no port leads to one of them alone.
	replicas map[uint32]bool
	// order of the ports by their names, and of those that there are by their numbers.
	order  map[string]int
	places map[uint32]int
	// there are the ports that there are, by their numbers.
	there map[uint32]bool
}

// detoursAt all ports, where some are turned. Those that would lead back go.
func (k Kind) detoursAt(p resource.Place, changes []resource.Change) (d detoured, err error) {
	d = detoured{nodes: map[bool]map[uint32]Node{false: {}, true: {}}, instead: map[uint32]uint32{}, replicas: map[uint32]bool{}, places: map[uint32]int{}}
	mine, err := p.Mine()
	if err != nil || len(changes) >= len(mine) && !slices.ContainsFunc(changes, func(c resource.Change) bool { return c.Op != resource.Create }) {
		return d, err // none leads anywhere yet
	}
	if d.there, err = numbers(p); err != nil || k.Order == nil || len(changes) == 0 {
		return d, err
	}
	links, err := p.Links()
	if err != nil {
		return d, err
	}
	d.order = k.Order
	for _, l := range links {
		if at, is := d.order[l.Attrs().Name]; is {
			d.places[number(l)] = at
		}
	}
	return d, d.gather(p, k.Turn != nil)
}

// ahead tells whether a port is further on than another one, whose node sends packets there.
func (d detoured) ahead(from string, to uint32) bool {
	at, is := d.order[from]
	place, known := d.places[to]
	return is && known && at+place > 0
}

func (d detoured) gather(p resource.Place, turning bool) error {
	all, err := portsThat(p, func(a *attached) bool { return a.Maps[insteadMap] != nil })
	defer held.CloseAll(all)
	for _, a := range all {
		if err != nil {
			break
		}
		var led bool
		if led, err = a.ledPast(); led && err == nil {
			if turning {
				err = d.straighten(a)
			}
			err = errors.Join(err, d.learn(a))
		}
	}
	for _, nodes := range d.nodes {
		for _, n := range nodes {
			if to := insteadOf(n, nodes); n.Fails != Well && n.Port != 0 && to != 0 {
				d.instead[n.Port] = to
			}
		}
	}
	return err
}

// straighten a port that leads packets past what fails, so that it leads none back. One that is no longer wanted leads where it led.
func (d detoured) straighten(a *attached) error {
	if _, wanted := d.order[a.port]; !wanted {
		return nil
	}
	if a.Maps[nodesMap] != nil {
		nodes, err := a.nodes()
		if err != nil {
			return err
		}
		t, err := d.seated(a.seats())
		if err != nil {
			return err
		}
		if on := t.local(d.onward(a.port, t.common(nodes))); !maps.Equal(on, nodes) {
			return (&Port{at: a}).SetNodes(on)
		}
		return nil
	}
	var to uint32
	err := a.Maps[insteadMap].Lookup(uint32(0), &to)
	if _, shared := seatOf(to); err != nil || to == 0 || to == Nowhere || shared || d.ahead(a.port, to) {
		return err
	}
	return a.Maps[insteadMap].Put(uint32(0), uint32(0))
}

// onward from a port are those of some nodes to which packets are led on. Others that fail are as if they were well.
func (d detoured) onward(port string, nodes map[uint32]Node) map[uint32]Node {
	on := map[uint32]Node{}
	for number, n := range nodes {
		if n.Fails == Past && !d.ahead(port, nodes[n.Next].Port) {
			n.Fails = Well
		}
		if n.Fails != Well || d.ahead(port, n.Port) {
			on[number] = n
		}
	}
	return on
}

// learn what a port knows.
func (d detoured) learn(a *attached) error {
	if a.Name != BranchName && a.Name != SpreadName && a.Name != Name {
		return nil
	}
	t, err := d.seated(a.seats())
	if err != nil {
		return err
	}
	if a.Name == BranchName {
		return d.learnWays(a, t)
	}
	next, err := a.next()
	if err != nil {
		return err
	}
	var to uint32
	if err := a.Maps[insteadMap].Lookup(uint32(0), &to); err != nil || to == Replicas && a.Name == Name {
		return err
	}
	if next, to = t.of(next), t.of(to); next != 0 && to != 0 { // else it is straight by now
		d.instead[next] = to
	}
	return nil
}

// learnWays is it where ways part or come together.
func (d detoured) learnWays(a *attached, t seated) error {
	if a.Maps[nodesMap] == nil {
		return nil
	}
	made, err := a.parting()
	if err != nil {
		return err
	}
	nodes, err := a.nodes()
	nodes, known := t.common(nodes), d.nodes[made.back != 0]
	for number, n := range nodes {
		switch {
		case number > most:
		case n.Fails == Past && n.Next > most: // it began with what a plain port knew
			if to := nodes[n.Next].Port; to != 0 && n.Port != 0 {
				d.instead[n.Port] = to
			}
		case known[number].Fails == Well:
			known[number] = n
		}
	}
	return err
}

// insteadOf a node packets go to this port, or end.
func insteadOf(n Node, nodes map[uint32]Node) (to uint32) {
	for range nodes {
		switch n.Fails {
		case Ends:
			return Nowhere
		case Past:
			n = nodes[n.Next]
			to = n.Port
		case Well:
			return to
		}
	}
	return to
}

// most is the highest number that a node has. Those above stand for nodes of which only the port is known behind which they are.
const most = 1<<16 - 1

// around are the nodes that a program with some ways, and functions at seats, begins with at a port.
func (d detoured) around(port string, p parting, t seated) map[uint32]Node {
	nodes := map[uint32]Node{}
	for number, n := range d.nodes[p.back != 0] {
		nodes[number] = n
	}
	for i, w := range p.ways {
		at := t.of(w.Port)
		to, is := d.instead[at]
		switch _, known := nodes[w.Node]; {
		case known || !is || at == 0:
		case to == Nowhere:
			nodes[w.Node] = Node{Port: at, Fails: Ends}
		default:
			beyond := uint32(most + 1 + i)
			nodes[w.Node], nodes[beyond] = Node{Port: at, Fails: Past, Next: beyond}, Node{Port: to}
		}
	}
	for number, n := range nodes {
		if d.replicas[n.Port] && t.seat[n.Port] == 0 { // nothing here tells which replica has a flow
			n.Port = 0
			nodes[number] = n
		}
	}
	return t.local(d.onward(port, nodes))
}

// tell a program of ways that was loaded for a port what it does not know. What was told to the one there, whose maps it took, stays:
// who watches may have said so just now.
func (d detoured) tell(port string, p parting, loaded *branch.ProgramObjects, t seats, took bool) error {
	if len(d.instead) == 0 && len(d.nodes[p.back != 0]) == 0 {
		return nil
	}
	at, err := d.seated(t)
	if err != nil {
		return err
	}
	nodes := d.around(port, p, at)
	if !anyFails(nodes) {
		return nil
	}
	if !took {
		return putNodes(loaded.Nodes, loaded.Instead, nil, nodes)
	}
	more := false
	for _, failing := range []bool{false, true} {
		for number, n := range nodes {
			if (n.Fails != Well) != failing {
				continue
			}
			err := loaded.Nodes.Update(number, n.made(), ebpf.UpdateNoExist)
			if err != nil && !errors.Is(err, ebpf.ErrKeyExist) {
				return err
			}
			more = more || failing && err == nil
		}
	}
	var looks uint32
	if err := loaded.Instead.Lookup(uint32(0), &looks); err != nil || looks != 0 || !more {
		return err
	}
	return loaded.Instead.Put(uint32(0), uint32(Replicas))
}

// past what fails behind a port that another leads to, packets go on to this one, or end; 0 where they do not, or to replicas, which a plain
// port does not know.
func (d detoured) past(from string, to uint32) uint32 {
	if instead := d.instead[to]; instead == Nowhere || d.ahead(from, instead) && !d.replicas[instead] {
		return instead
	}
	return 0
}

// followWays has a program that was loaded for a port with replicas, where ways parted or came together, lead past what fails as others do.
func (d detoured) followWays(port string, old *attached, instead *ebpf.Map, at dealing) error {
	if old == nil || old.Maps[nodesMap] == nil || len(d.instead) == 0 {
		return nil
	}
	t, err := d.seated(seats{replicas: at.replicas, taken: map[string]uint32{"": 0}})
	if err != nil {
		return err
	}
	var next uint32
	if err := at.next.Lookup(uint32(0), &next); err != nil {
		return err
	}
	return instead.Put(uint32(0), d.pastShared(port, next, t))
}

// pastShared is past where a port faces a function's replicas, or has them where packets are led past what it faces.
func (d detoured) pastShared(from string, to uint32, t seated) uint32 {
	instead := d.instead[t.of(to)]
	switch {
	case instead == Nowhere:
		return instead
	case !d.ahead(from, instead):
		return 0
	case t.seat[instead] != 0:
		return t.seat[instead]
	case d.replicas[instead]:
		return 0
	}
	return instead
}

// lead a plain program that was there at a port to another one, or past what fails behind it. Two entries change one after the other, and
// who watches writes the second one as well: it is held back meanwhile (watch.Watcher.Hold), and writes none before it watches the chain
// as it is to be. Where it does so already, because an `up` that was killed had come as far as that, it is not: what it says of a function
// that fails while this one turns the port may be lost then, and is said again when it next reads the ports, which is within a second while
// any function fails.
func (d detoured) lead(port string, a *attached, to uint32) error {
	if instead := d.past(port, to); instead != 0 {
		if err := a.Maps[insteadMap].Put(uint32(0), instead); err != nil {
			return err
		}
		return a.Maps[nextMap].Put(uint32(0), to)
	}
	was, err := a.next()
	if err != nil {
		return err
	}
	// Where the port has gone to which it led, the node there was made anew: packets are led past that, too.
	if err := a.Maps[nextMap].Put(uint32(0), to); err != nil || was == to || d.order != nil && !d.there[was] {
		return err
	}
	return a.Maps[insteadMap].Put(uint32(0), uint32(0))
}
