package steer_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"nfchain.dev/nfchain/bpf/branch"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// detouring is the program of a port that leads to one node alone, for tests that run it on frames.
func detouring(t testing.TB, own, to, joint, back uint32) *branch.ProgramObjects {
	t.Helper()
	spec, err := branch.LoadProgram()
	if err != nil {
		t.Fatal(err)
	}
	ways := [steer.MostWays]branch.ProgramWay{{Node: to, Port: 1000 + to, Joint: joint}}
	if err := errors.Join(spec.Variables["ways"].Set(ways), spec.Variables["own"].Set(own), spec.Variables["back"].Set(back)); err != nil {
		t.Fatal(err)
	}
	spec.Maps["joints"].MaxEntries = 1 << 16
	var o branch.ProgramObjects
	if err := spec.LoadAndAssign(&o, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return &o
}

// led is what a program led past nodes, by their numbers.
func led(t testing.TB, o *branch.ProgramObjects) map[uint32]uint64 {
	t.Helper()
	all := map[uint32]uint64{}
	var node uint32
	var each []branch.ProgramCount
	entries := o.Past.Iterate()
	for entries.Next(&node, &each) {
		for _, c := range each {
			all[node] += c.Packets
		}
	}
	if err := entries.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// line of nodes from 2 to the one before the last, each of which leads to the next, or back to the one before, and some of which fail.
// The last is well.
func (l line) put(t testing.TB, o *branch.ProgramObjects, back bool) {
	t.Helper()
	err := o.Instead.Put(uint32(0), uint32(steer.Replicas))
	for i := range l {
		n, number := l[i], uint32(i+2)
		made := branch.ProgramNode{Port: 1000 + number, Fails: uint32(n.fails), Next: number + 1}
		if n.joint {
			made.Joint = 1
		}
		if back {
			made.Next = number - 1
		}
		err = errors.Join(err, o.Nodes.Put(number, made))
	}
	if err = errors.Join(err, o.Nodes.Put(uint32(1), branch.ProgramNode{Port: 1001})); err != nil {
		t.Fatal(err)
	}
}

type line []struct {
	fails steer.Fails
	joint bool
}

// TestAnyFrameIsLedPast nodes that fail, as many as there are in a row, is counted at each and unchanged, and what has a flow is noted
// for each joint on the way: so that what goes back comes by the same nodes, and past those that fail.
func TestAnyFrameIsLedPast(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	random := rand.New(rand.NewPCG(6, 6))
	for range 4 {
		nodes := make(line, 2+random.IntN(14))
		for i := range nodes[:len(nodes)-1] {
			nodes[i].fails = []steer.Fails{steer.Past, steer.Past, steer.Past, steer.Past, steer.Past, steer.Past, steer.Well, steer.Ends}[random.IntN(8)]
			nodes[i].joint = random.IntN(2) == 0
		}
		nodes[len(nodes)-1].joint = true
		joint := uint32(0)
		if nodes[0].joint {
			joint = 2
		}
		there := detouring(t, 1, 2, joint, 0)
		nodes.put(t, there, false)
		reached, verdict, joints := len(nodes)-1, uint32(goesOn), 0
		for i, n := range nodes {
			if n.fails == steer.Ends {
				verdict = ends
			}
			if n.joint && n.fails != steer.Ends {
				joints++
			}
			if n.fails != steer.Past {
				reached = i
				break
			}
		}
		frames := uint64(0)
		anyFrames(func(frame []byte) {
			if got := steered(t, there.Branch, frame); got != verdict {
				t.Fatalf("%+v: verdict %d of\n%x", nodes, int32(got), frame)
			}
			frames++
		})
		past := led(t, there)
		for i := range nodes {
			if want := frames; i < reached && past[uint32(i+2)] != want || i >= reached && past[uint32(i+2)] != 0 {
				t.Errorf("%+v: of %d packets led past %v", nodes, frames, past)
			}
		}
		froms := map[uint32]map[uint32]int{}
		var f branch.ProgramFlow
		var from uint32
		for all := there.Joints.Iterate(); all.Next(&f, &from); {
			if froms[f.Slot] == nil {
				froms[f.Slot] = map[uint32]int{}
			}
			froms[f.Slot][from]++
		}
		for joint, from := range froms {
			if n := nodes[joint-2]; len(from) != 1 || from[joint-1] < 50 || !n.joint || int(joint)-2 > reached || n.fails == steer.Ends {
				t.Errorf("%+v: flows came to %d from %v", nodes, joint, from)
			}
		}
		if len(froms) != joints {
			t.Errorf("%+v: flows are noted for %d joints, want %d", nodes, len(froms), joints)
		}

		// Back: what is not known goes as planned, and that is counted at each joint.
		last := uint32(len(nodes) + 1)
		back := detouring(t, last, last-1, 0, 1)
		nodes.put(t, back, true)
		verdict, reached = goesOn, 0
		for number := last - 1; number > 1; number-- {
			if n := nodes[number-2]; n.fails != steer.Past {
				if reached = int(number); n.fails == steer.Ends {
					verdict = ends
				}
				break
			}
		}
		frames = 0
		anyFrames(func(frame []byte) {
			if got := steered(t, back.Branch, frame); got != verdict {
				t.Fatalf("back: %+v: verdict %d of\n%x", nodes, int32(got), frame)
			}
			frames++
		})
		past = led(t, back)
		for number := uint32(2); number < last; number++ {
			if want := frames; int(number) > reached && past[number] != want || int(number) <= reached && past[number] != 0 {
				t.Errorf("back to %d: %+v: of %d packets led past %v", reached, nodes, frames, past)
			}
		}
	}
}

// TestManyFail: a packet is led past as many nodes as fail in a row.
func TestManyFail(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	for _, many := range []int{64, 1000} {
		nodes := make(line, many+1)
		for i := range many {
			nodes[i].fails, nodes[i].joint = steer.Past, true
		}
		for _, back := range []uint32{0, 1} {
			o := detouring(t, 1, 2, 2*(1-back), back)
			nodes.put(t, o, false)
			if got := steered(t, o.Branch, flow{}.packet(1)); got != goesOn {
				t.Errorf("past %d nodes: verdict %d", many, int32(got))
			}
		}
	}
}

// detoured are ports where the first node leads to the second, to the third and to the last, the second to the third, and that one to the
// last: ways come together at the third, and at the last.
func detoured(hook string) (all []steer.Spec) {
	for i, ways := range [][]steer.BranchWay{{way(1, false), way(2, true), way(3, true)}, {way(2, true)}, {way(3, true)}, {way(2, false), way(0, false)}} {
		b := &steer.Branch{Node: parted[i], Number: uint32(100 + i), Back: i == 3, Ways: ways, Flows: 1 << 14}
		all = append(all, steer.Spec{Device: parted[i], To: ways[0].Port, Branch: b, Hook: hook})
	}
	return all
}

// failing has ports know which nodes fail.
func (p *parter) failing(t testing.TB, failing ...uint32) {
	t.Helper()
	for back, at := range map[bool]string{false: "tell", true: "out"} {
		p.port(t, at, func(port *steer.Port) error {
			nodes := map[uint32]steer.Node{}
			for i, name := range parted {
				n := steer.Node{Joint: i > 1, Next: []uint32{101, 102, 103, 0}[i]}
				if back {
					n.Next = []uint32{0, 100, 101, 102}[i]
				}
				p.port(t, name, func(other *steer.Port) error { n.Port = other.Number; return nil })
				if slices.Contains(failing, uint32(100+i)) {
					n.Fails = steer.Past
				}
				nodes[uint32(100+i)] = n
			}
			return port.SetNodes(nodes)
		})
	}
}

// TestLedPast: while nodes fail, packets go past them to their planned next, and answers back to where their flow came to those from,
// whatever else fails. When they are well again, both go by them at once.
func TestLedPast(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p := newParter(t, detoured(hook))
		p.labels(t, label.Rule{Mark: 2, Mask: 0xff, Node: "two", Label: 102}, label.Rule{Mark: 3, Mask: 0xff, Node: "out", Label: 103})
		at := uint16(0)
		for _, c := range []struct {
			failing []uint32
			goes    [3]int // what has no mark, mark 2 and mark 3, and where answers go back to
			back    [3]int
		}{
			{nil, [3]int{1, 2, 3}, [3]int{-1, -1, 0}},
			{[]uint32{101}, [3]int{2, 2, 3}, [3]int{-1, -1, 0}},
			{[]uint32{102}, [3]int{1, 3, 3}, [3]int{-1, 0, 0}},
			{[]uint32{101, 102}, [3]int{3, 3, 3}, [3]int{0, 0, 0}},
		} {
			p.failing(t, c.failing...)
			for mark, f := range flows(100*at, 100*at+2)[:3] {
				if mark > 0 {
					mark++
				}
				i := max(0, mark-1)
				if got := p.sends(t, 0, mark, f.packet); got != c.goes[i] {
					t.Errorf("while %v fail, mark %d leads to %s, want %s", c.failing, mark, parted[got], parted[c.goes[i]])
				}
				f.back = true
				for name, packet := range map[string]func(uint32) []byte{"an answer": f.packet, "a fragment": func(n uint32) []byte { return fragmentOf(f, n) }} {
					if c.back[i] < 0 {
						continue // it does not come to the last before the nodes between send it on
					}
					if got := p.sends(t, 3, 0, packet); got != c.back[i] {
						t.Errorf("while %v fail, %s to mark %d goes back to %s, want %s", c.failing, name, mark, parted[got], parted[c.back[i]])
					}
				}
			}
			at++
		}
		all := flows(300, 302)[:3] // what began while both failed
		back := func(what string, want ...int) {
			t.Helper()
			for i, f := range all {
				f.back = true
				if got := p.sends(t, 3, 0, f.packet); got != want[i] {
					t.Errorf("%s, flow %d goes back to %s, want %s", what, i, parted[got], parted[want[i]])
				}
			}
		}
		back("while both fail", 0, 0, 0)
		p.failing(t, 102)
		back("when one is well again", 1, 0, 0)
		p.failing(t, 101)
		back("when the other one is", 2, 2, 0)
		p.failing(t)
		back("when both are", 2, 2, 0)
		unknown := flow{id: 999, back: true}
		p.failing(t, 102)
		if got := p.sends(t, 3, 0, unknown.packet); got != 1 {
			t.Errorf("what nobody knows goes back to %s", parted[got])
		}
		p.port(t, "tell", func(port *steer.Port) error { return port.TurnBack() })
		if nodes := p.knows(t, "tell"); len(nodes) > 0 {
			t.Errorf("turned back, the port knows of %+v", nodes)
		}
		now, err := steer.PartedAt(resource.At(p.Handle, p.Owner), detoured(hook))
		if err != nil || now.Past["tell"][101].Packets < 2 || now.Past["tell"][102].Packets < 3 || now.Past["out"][102].Packets < 3 || now.Moved != 0 || now.Known[102][101] == 0 || now.Known[103][102] == 0 || now.Known[103][100] == 0 {
			t.Errorf("%+v, error %v", now, err)
		}
	})
}

func (p *parter) knows(t testing.TB, port string) (nodes map[uint32]steer.Node) {
	t.Helper()
	p.port(t, port, func(open *steer.Port) (err error) { nodes, err = open.Nodes(); return })
	return nodes
}

// TestDetoursAreFollowed by a program of another sort at a port: packets go past what fails, or end before it, until who watches says more.
func TestDetoursAreFollowed(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		specs := detoured(hook)
		p := newParter(t, specs)
		order := map[string]int{"tell": 0, "one": 1, "two": 2, "out": 3}
		plain := steer.Spec{Device: "tell", To: "one", Hook: hook}
		var f flow
		check := func(what string, to int) {
			t.Helper()
			if to < 0 {
				if !p.ends(t, 0, 0, f.packet) {
					t.Errorf("%s: packets go on", what)
				}
			} else if got := p.sends(t, 0, 0, f.packet); got != to {
				t.Errorf("%s: packets go to %s, want %s", what, parted[got], parted[to])
			}
		}
		p.failing(t, 101, 102)
		p.port(t, "out", func(port *steer.Port) error { return port.TurnBack() }) // here a node has one port for both ways
		check("past two", 3)
		p.turned(t, order, plain)
		check("a plain program behind it", 3)
		p.turned(t, order, specs[0])
		check("and the other again", 3)
		p.failing(t)
		check("none fails", 1)
		p.turned(t, order, plain)
		check("none fails by a plain program", 1)
		p.port(t, "tell", func(port *steer.Port) error { return port.SetInstead(steer.Nowhere) })
		check("a plain program has them end", -1)
		p.turned(t, order, specs[0])
		check("and the one behind it", -1)
		p.turned(t, order, plain)
		check("and a plain one again", -1)
		p.port(t, "tell", func(port *steer.Port) error { return port.SetInstead(0) })
		check("well again", 1)
		p.port(t, "tell", func(port *steer.Port) error { return port.SetInstead(uint32(p.index(t, "two"))) })
		other := specs[0]
		b := *other.Branch
		b.Ways = slices.Clone(b.Ways[1:])
		other.Branch, other.To = &b, b.Ways[0].Port
		p.turned(t, order, other)
		check("a program that does not lead to what failed", 2)
		if nodes := p.knows(t, "tell"); len(nodes) > 0 {
			t.Errorf("it knows of %+v", nodes)
		}
	})
}

// TestNodesInTurn: who is led past nodes in a row comes to none that fails while they are written, whichever way they change.
func TestNodesInTurn(t *testing.T) {
	row := func(fails ...steer.Fails) map[uint32]steer.Node {
		nodes := map[uint32]steer.Node{}
		for i, f := range fails {
			nodes[uint32(i+1)] = steer.Node{Port: uint32(i + 101), Fails: f, Next: uint32(i + 2)}
		}
		return nodes
	}
	const well, past, ends = steer.Well, steer.Past, steer.Ends
	for _, c := range []struct {
		was, now map[uint32]steer.Node
		want     []uint32
	}{
		{row(past, past, past, well), row(well, well, well, well), []uint32{1, 2, 3}},
		{row(past, past, ends), row(well, well, well), []uint32{1, 2, 3}},
		{row(well, past, past, ends, well), row(past, well, well, well, well), []uint32{2, 3, 4, 1}}, // the second is, and the others may fail
		{row(well, well, well, well), row(past, past, past, well), []uint32{3, 2, 1}},
		{nil, row(past, past, well), []uint32{3, 2, 1}},
	} {
		for range 20 { // whichever order maps have
			got := slices.DeleteFunc(steer.InTurn(c.was, c.now), func(n uint32) bool { return c.was[n] == c.now[n] })
			if !slices.Equal(got, c.want) {
				t.Fatalf("from %v to %v: %v, want %v", c.was, c.now, got, c.want)
			}
		}
	}
}
