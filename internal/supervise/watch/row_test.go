package watch

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// row of functions that are led past, one behind the other, at ports as where ways part, and who watches over it.
type row struct {
	*Watcher
	place   func() resource.Place
	changes []resource.Change
}

// newRow of so many functions, from a first end to a second one.
func newRow(t testing.TB, many int) *row {
	t.Helper()
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	texts := []string{"client - f1"}
	for i := 1; i < many; i++ {
		texts = append(texts, fmt.Sprintf("f%d bypass f%d", i, i+1))
	}
	nodes := graph(append(texts, fmt.Sprintf("f%d bypass server", many))...)
	owner, h := nstest.Owner(t), nstest.Open(t, nstest.Namespace(t))
	r := &row{&Watcher{path: process.Path{Nodes: nodes}, ports: map[string]*port{}}, func() resource.Place { return resource.At(h, owner) }, nil}
	for _, n := range nodes {
		for _, back := range []bool{false, true} {
			device := portOf(n, back)
			link := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: device}, PeerName: device + "far"}
			if err := errors.Join(h.LinkAdd(link), h.LinkSetAlias(link, resource.Mark(owner)+device)); err != nil {
				t.Fatal(err)
			}
			r.ports[device] = &port{name: device}
			if to := goals(n, back); len(to) > 0 {
				next := nodes[to[0]]
				way := steer.BranchWay{Node: next.Node, Number: next.Label, Port: portOf(next, !back)}
				s := steer.Spec{Device: device, To: way.Port, Hook: steer.Clsact,
					Branch: &steer.Branch{Node: n.Node, Number: n.Label, Back: back, Ways: []steer.BranchWay{way}, Flows: 1 << 12}}
				r.changes = append(r.changes, resource.Change{Op: resource.Create, Key: device, Spec: s})
			}
		}
	}
	if err := (steer.Kind{}).Apply(r.place(), r.changes); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	r.open(t)
	return r
}

func (r *row) open(t testing.TB) {
	t.Helper()
	for _, p := range r.ports {
		if err := p.open(r.place(), nil); err != nil {
			t.Fatal(err)
		}
	}
}

// told are how many nodes each port knows of that it looks at, and how many any other does.
func (r *row) told(t testing.TB) (looking map[string]int, others int) {
	t.Helper()
	looking = map[string]int{}
	for name, p := range r.ports {
		if p.steer == nil {
			continue
		}
		nodes, err := p.steer.Nodes()
		looks, wrong := p.looks()
		if err = errors.Join(err, wrong); err != nil {
			t.Fatal(err)
		}
		if looks {
			looking[name] = len(nodes)
		} else {
			others += len(nodes)
		}
	}
	return looking, others
}

// TestRowIsToldWhatFails and what is around that alone, however long a row is: ports that do not lead to a function which fails are told
// nothing, and those that do are led past it at once wherever it was told before.
func TestRowIsToldWhatFails(t *testing.T) {
	const many = 12
	r := newRow(t, many)
	before, behind := map[string]int{}, 0
	for _, c := range []struct {
		failed  []int
		looking map[string]int
		others  int
	}{
		{nil, before, behind},
		{[]int{6}, map[string]int{"f5>": 2, "<f7": 2}, 0},
		{[]int{6, 7}, map[string]int{"f5>": 3, "f6>": 2, "<f7": 2, "<f8": 3}, 0},
		{[]int{7}, map[string]int{"f6>": 2, "<f8": 3}, 5},
		{[]int{6, 7}, map[string]int{"f5>": 3, "f6>": 2, "<f7": 2, "<f8": 3}, 0},
		{nil, before, 10},
		{[]int{12}, map[string]int{"f11>": 2, "<server": 2}, 10},
	} {
		failed := map[int]bool{}
		for _, i := range c.failed {
			failed[i] = true
		}
		r.turnWays(failed)
		if looking, others := r.told(t); !maps.Equal(looking, c.looking) || others != c.others || r.unsure {
			t.Errorf("while %v fail ports are told of %v, others of %d; want %v and %d", c.failed, looking, others, c.looking, c.others)
		}
		for i, n := range r.path.Nodes {
			for _, back := range []bool{false, true} {
				if len(goals(n, back)) == 0 {
					continue
				}
				next := goals(n, back)[0]
				for failed[next] {
					next = goals(r.path.Nodes[next], back)[0]
				}
				nodes, err := r.ports[portOf(n, back)].steer.Nodes()
				if err != nil {
					t.Fatal(err)
				}
				planned := r.path.Nodes[goals(n, back)[0]].Label
				want := uint32(0)
				if looks, _ := r.ports[portOf(n, back)].looks(); looks && next != goals(n, back)[0] {
					want = r.number(portOf(r.path.Nodes[next], !back))
				}
				if to := instead(planned, nodes); to != want {
					t.Errorf("while %v fail, node %d, back %v: packets go to port %d, want %d", c.failed, i, back, to, want)
				}
			}
		}
	}
}

// BenchmarkRow turns ports past one function of a row, and back, and updates them while it fails.
func BenchmarkRow(b *testing.B) {
	for _, many := range []int{20, 100} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			r := newRow(b, many)
			took, began := map[string]time.Duration{}, time.Now()
			lap := func(what string) {
				took[what] += time.Since(began)
				began = time.Now()
			}
			for b.Loop() {
				began = time.Now()
				r.turnWays(map[int]bool{many / 2: true})
				lap("past")
				for i := range r.changes {
					r.changes[i].Op = resource.Update
					s := r.changes[i].Spec.(steer.Spec)
					branch := *s.Branch
					branch.Flows ^= 3 << 12 // another program is to come
					s.Branch = &branch
					r.changes[i].Spec = s
				}
				order := map[string]int{}
				for i, n := range r.path.Nodes {
					order[n.East], order[n.West] = -i, i
				}
				if err := (steer.Kind{Order: order}).Apply(r.place(), r.changes); err != nil {
					b.Fatal(err)
				}
				lap("update")
				r.open(b)
				began = time.Now()
				r.turnWays(nil)
				lap("back")
			}
			for what, t := range took {
				b.ReportMetric(float64(t.Microseconds())/1000/float64(b.N), "ms/"+what)
			}
		})
	}
}
