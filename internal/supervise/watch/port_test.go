package watch

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestUnsure: what cannot be read is not taken for gone, and what is gone is told.
func TestUnsure(t *testing.T) {
	h, err := netns.Open(nstest.Namespace(t))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	gone := &port{name: "port"}
	if err := gone.open(resource.At(h, "nobody"), nil); err != nil || !gone.gone {
		t.Errorf("of a port that is not there: gone %v, error %v", gone.gone, err)
	}
	bare := &port{name: "lo"}
	if err := bare.open(resource.At(h, "nobody"), nil); err != nil || !bare.gone {
		t.Errorf("of a port that nothing steers: gone %v, error %v", bare.gone, err)
	}
	shut := *h
	shut.Ref = "nobodys" // it cannot be entered
	held := &port{name: "lo", steer: &steer.Port{}}
	if err := held.open(resource.At(&shut, "nobody"), nil); err == nil || held.gone || held.steer == nil {
		t.Errorf("of a port that could not be looked at: gone %v, held %v, error %v", held.gone, held.steer, err)
	}
}

// TestSharesAreToldAgain where another program has come to a port that keeps away from replicas: it may have begun without the
// shares that others get meanwhile.
func TestSharesAreToldAgain(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner := nstest.Owner(t)
	h := nstest.Open(t, nstest.Namespace(t))
	for _, name := range []string{"port", "one", "two"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
		if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
			t.Fatal(err)
		}
	}
	all := []steer.Replica{{Number: 1, Port: "one", Weight: 1}, {Number: 2, Port: "two", Weight: 1}}
	spec := steer.Spec{Device: "port", Hook: steer.Clsact, Among: &steer.Among{Of: "web", Replicas: all, Flows: 1 << 12, Idle: 1 << 40}}
	if err := (steer.Kind{}).Apply(resource.At(h, owner), []resource.Change{{Op: resource.Create, Key: "port", Spec: spec}}); err != nil {
		t.Fatal(err)
	}
	told := 0
	others := func() *steer.Shares { told++; return steer.SharesWithout(steer.Number(1), all) }
	p := &port{name: "port"}
	for want := range 3 {
		if err := p.open(resource.At(h, owner), nil); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := p.turn(0, "web", steer.Number(1), others); err != nil {
				t.Fatal(err)
			}
		}
		if told != want+1 {
			t.Errorf("after %d programs shares are told %d times", want+1, told)
		}
		p.close() // as if another program were there, in which replicas fail already
	}
}

// TestHeldTurnsNothing: while ports are changed, who watched the path from before leaves what is said of another, whether a port has one way,
// paths, or ways that part, and takes nothing for well again; after that it does.
func TestHeldTurnsNothing(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	row := graph("a - b", "b bypass server")
	for i := range row {
		row[i].Onward, row[i].Back = nil, nil
	}
	row[0].West, row[2].East = "", "" // of the ends
	web := process.ServicePath{Name: "web", Number: 1, Nodes: []int{0, 1, 2}}
	by := &steer.Paths{Ways: []steer.Way{{Path: "web", Number: 1, Port: "<b"}}, Usual: "web", Flows: 1 << 12, Idle: api.Duration(time.Hour)}
	plain := steer.Spec{Device: "a>", To: "<b", Hook: steer.Clsact}
	for name, c := range map[string]struct {
		path process.Path
		spec steer.Spec
	}{
		"one way":        {process.Path{Nodes: row}, plain},
		"paths":          {process.Path{Nodes: row, Paths: []process.ServicePath{web}}, steer.Spec{Device: "a>", Hook: steer.Clsact, Paths: by}},
		"ways that part": {process.Path{Nodes: graph("a - b", "b bypass server")}, plain},
	} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			h := nstest.Open(t, nstest.Namespace(t))
			for _, name := range []string{"a>", "<b"} {
				pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
				if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
					t.Fatal(err)
				}
			}
			at := resource.At(h, owner)
			if err := (steer.Kind{}).Apply(at, []resource.Change{{Op: resource.Create, Key: "a>", Spec: c.spec}}); err != nil {
				t.Fatal(err)
			}
			w := &Watcher{config: Config{Say: func(string, string) {}}, path: c.path, ports: map[string]*port{}}
			for _, n := range c.path.Nodes {
				w.ports[n.West], w.ports[n.East] = &port{name: n.West}, &port{name: n.East}
			}
			p := w.ports["a>"]
			if err := p.open(at, nil); err != nil {
				t.Fatal(err)
			}
			defer p.close()
			b := &node{spec: c.path.Nodes[1], number: 1, good: proofs}
			w.nodes = []*node{b}
			for _, held := range []bool{true, false} {
				b.failed = true
				w.Hold(map[bool]time.Duration{true: time.Hour}[held])
				if c.path.Paths != nil {
					err := p.steer.SetInsteadOn(web.Name, web.Number, 7)
					if err != nil {
						t.Fatal(err)
					}
				} else if err := p.steer.SetInstead(7); err != nil {
					t.Fatal(err)
				}
				w.unsure = false
				if changed := w.judge(b, time.Now()); changed == held || b.failed != held {
					t.Errorf("held %v: the function has failed %v", held, b.failed)
				}
				w.turn()
				if to, err := p.insteadOn(web); err != nil || (to == 7) != held || w.unsure != held {
					t.Errorf("held %v: packets go to %d, unsure %v, error %v", held, to, w.unsure, err)
				}
			}
		})
	}
}

// TestDetoursAreMended: who was killed between two writes left nodes before which packets were to end, or past which they were to be
// led, and which nobody looks at, or the other way round.
func TestDetoursAreMended(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner := nstest.Owner(t)
	h := nstest.Open(t, nstest.Namespace(t))
	for _, name := range []string{"port", "one", "two"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
		if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
			t.Fatal(err)
		}
	}
	ways := []steer.BranchWay{{Node: "one", Number: 101, Port: "one"}, {Node: "two", Number: 102, Port: "two"}}
	spec := steer.Spec{Device: "port", To: "one", Hook: steer.Clsact, Branch: &steer.Branch{Node: "tell", Number: 100, Ways: ways, Flows: 1 << 12}}
	if err := (steer.Kind{}).Apply(resource.At(h, owner), []resource.Change{{Op: resource.Create, Key: "port", Spec: spec}}); err != nil {
		t.Fatal(err)
	}
	p := &port{name: "port"}
	if err := p.open(resource.At(h, owner), nil); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	none := func(uint32) (n steer.Node, is bool) { return n, false }
	for _, fails := range []steer.Fails{steer.Ends, steer.Past, steer.Well} {
		left, nodes := uint32(0), map[uint32]steer.Node{101: {Port: 7}, 102: {Port: 8, Fails: fails, Next: 101}}
		if fails == steer.Well {
			left = steer.Replicas
		}
		if err := errors.Join(p.divert(101, nodes, none), p.steer.SetInstead(left)); err != nil {
			t.Fatal(err)
		}
		if p.fails(102) {
			t.Errorf("a node that nobody looks at is said to fail, of %v", nodes)
		}
		if err := p.divert(101, nodes, none); err != nil || p.fails(102) != (fails != steer.Well) || p.fails(101) {
			t.Errorf("of %v not those fail: error %v", nodes, err)
		}
		if to, err := p.steer.Instead(); err != nil || (to != 0) != (fails != steer.Well) {
			t.Errorf("%v fail, and %d is there instead: error %v", nodes, to, err)
		}
	}
}

// TestByPathsNow: ways no longer part where a chain is given a classifier, and who watches, and does not know it yet, leaves its ports alone.
func TestByPathsNow(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner := nstest.Owner(t)
	h := nstest.Open(t, nstest.Namespace(t))
	for _, name := range []string{"port", "one"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
		if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
			t.Fatal(err)
		}
	}
	paths := &steer.Paths{Ways: []steer.Way{{Path: "web", Number: 1, Port: "one"}}, Usual: "web", Flows: 1 << 12, Idle: api.Duration(time.Hour)}
	spec := steer.Spec{Device: "port", Hook: steer.Clsact, Paths: paths}
	if err := (steer.Kind{}).Apply(resource.At(h, owner), []resource.Change{{Op: resource.Create, Key: "port", Spec: spec}}); err != nil {
		t.Fatal(err)
	}
	p := &port{name: "port"}
	if err := p.open(resource.At(h, owner), nil); err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if _, err := p.steer.Instead(); err == nil || p.fails(101) {
		t.Errorf("all packets of a port are led elsewhere, where each path is turned by itself: error %v", err)
	}
	nodes := graph("client - x", "x bypass server")
	w := &Watcher{path: process.Path{Nodes: nodes}, ports: map[string]*port{"client>": p}}
	w.turnWays(map[int]bool{1: true})
	if w.unsure {
		t.Error("who watches tries to turn the port")
	}
}

// TestPortWithoutSeat for the replicas past what fails is left as it is, until it has one.
func TestPortWithoutSeat(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner := nstest.Owner(t)
	h := nstest.Open(t, nstest.Namespace(t))
	for _, name := range []string{"client>", "<x", "<web"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
		if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
			t.Fatal(err)
		}
	}
	at, nodes := resource.At(h, owner), graph("client - x", "x bypass web", "web bypass server")
	nodes[2].Of, nodes[2].Number, nodes[2].Weight = "web", 1, 1
	w := &Watcher{config: Config{Say: func(string, string) {}}, path: process.Path{Nodes: nodes}, ports: map[string]*port{"client>": {name: "client>"}, "<web": {name: "<web"}}}
	web := steer.Among{Of: "web", Replicas: []steer.Replica{{Number: 1, Port: "<web", Weight: 1}}, Flows: 1 << 12, Idle: api.Duration(time.Hour)}
	for _, among := range [][]steer.Among{nil, {web}} {
		ways := []steer.BranchWay{{Node: "x", Number: 2, Port: "<x"}}
		spec := steer.Spec{Device: "client>", To: "<x", Hook: steer.Clsact, Branch: &steer.Branch{Node: "client", Number: 1, Ways: ways, Among: among, Flows: 1 << 12}}
		beside := steer.Spec{Device: "<web", To: "client>", Hook: steer.Clsact}
		if err := (steer.Kind{}).Apply(at, []resource.Change{{Op: resource.Update, Key: "client>", Spec: spec}, {Op: resource.Update, Key: "<web", Spec: beside}}); err != nil {
			t.Fatal(err)
		}
		for _, p := range w.ports {
			if err := p.open(at, nil); err != nil {
				t.Fatal(err)
			}
			defer p.close()
		}
		p := w.ports["client>"]
		w.turnWays(map[int]bool{1: true})
		known, err := p.steer.Nodes()
		seat, is := p.steer.Shared("web")
		if err != nil || w.unsure == is || p.isAsOpened(at) != is {
			t.Fatalf("with a seat %v: unsure %v, error %v", is, w.unsure, err)
		}
		if is != (among != nil) || p.fails(2) != is || is && known[3].Port != seat || !is && len(known) > 0 {
			t.Errorf("with a seat %v: %+v is known", is, known)
		}
		if !is {
			w.unsure = false
			continue
		}
		w.turnWays(nil)
		if p.fails(2) {
			t.Errorf("with a seat %v: what is well is led past", is)
		}
	}
}

// TestFirstPacketsQuicken all functions that are at rest, whether they are seen to come from an end or out of a function first, as they may be
// while something is asked; later ones do not, nor any of them a function that has failed.
func TestFirstPacketsQuicken(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	for _, first := range []string{"an end", "a function"} {
		owner := nstest.Owner(t)
		h := nstest.Open(t, nstest.Namespace(t))
		for _, name := range []string{"a>", "<b"} {
			pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
			if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name), h.LinkSetUp(pair)); err != nil {
				t.Fatal(err)
			}
		}
		far, err := h.LinkByName("a>far")
		if err == nil {
			err = h.LinkSetUp(far)
		}
		if err != nil {
			t.Fatal(err)
		}
		at := resource.At(h, owner)
		if err := (steer.Kind{}).Apply(at, []resource.Change{{Op: resource.Create, Key: "a>", Spec: steer.Spec{Device: "a>", To: "<b", Hook: steer.Clsact}}}); err != nil {
			t.Fatal(err)
		}
		w := newLine(t, "a b c")
		for _, p := range w.ports {
			p.steer, p.taker = nil, nil
		}
		came := &port{name: "a>"}
		if err := came.open(at, nil); err != nil {
			t.Fatal(err)
		}
		defer came.close()
		switch w.nodes[0].ways[0].trust.ask(w.beats); first { // so that not all is calm
		case "an end":
			w.ends = append(w.ends, came)
		default:
			w.nodes[0].ways[0].out = came
		}
		due := w.beats.Add(slow)
		w.nodes[2].failed = true
		out := socket(t, h, 0)
		now := w.beats.Add(fast)
		for i, others := range []time.Time{now, due} {
			for _, n := range w.nodes {
				n.due = due
			}
			frame := append(append(make([]byte, 12), 0x88, 0xb5), make([]byte, 50)...)
			if err := unix.Sendto(out, frame, 0, &unix.SockaddrLinklayer{Ifindex: far.Attrs().Index}); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) { // the kernel may take a frame a while after it is sent
				if n, err := came.steer.Passed(); err != nil || time.Now().After(deadline) {
					t.Fatalf("the frame never came: %d, %v", n, err)
				} else if n != came.passed {
					break
				}
			}
			w.listen(now.Add(time.Duration(i)))
			if a, b, c := w.nodes[0].due, w.nodes[1].due, w.nodes[2].due; !a.Equal(others) || !b.Equal(others) || !c.Equal(due) {
				t.Errorf("from %s, time %d: they are due at %v, %v and %v, and it is %v", first, i, a, b, c, now)
			}
		}
	}
}

// TestDownIsNotGone: of a port by which no probe can be sent as it is down, that is told, and of one that is not there this.
func TestDownIsNotGone(t *testing.T) {
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFClsact)
	owner := nstest.Owner(t)
	h := nstest.Open(t, nstest.Namespace(t))
	for _, name := range []string{"a>", "<b"} { // which nobody sets up
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "far"}
		if err := errors.Join(h.LinkAdd(pair), h.LinkSetAlias(pair, resource.Mark(owner)+name)); err != nil {
			t.Fatal(err)
		}
	}
	at := resource.At(h, owner)
	if err := (steer.Kind{}).Apply(at, []resource.Change{{Op: resource.Create, Key: "a>", Spec: steer.Spec{Device: "a>", To: "<b", Hook: steer.Clsact}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"behind port a> is down", "behind port a> is not there"} {
		p := &port{name: "a>"}
		if err := p.open(at, nil); err != nil || p.gone {
			t.Fatalf("gone %v, %v", p.gone, err)
		}
		if want != "behind port a> is down" {
			if err := h.LinkDel(link(p.steer.Index)); err != nil {
				t.Fatal(err)
			}
		}
		w := newLine(t, "a")
		n := w.nodes[0]
		w.socket, n.ways[0].in = socket(t, h, 0), p
		w.ask(n.ways[0], w.beats)
		w.send()
		if got := n.cut(); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
