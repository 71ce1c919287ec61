package deploy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// quick is a forwarder on which flows are over soon, when they had no packet for so long. A busy machine may keep them silent for
// longer than the usual census.
const (
	quick = "wiring: ebpf\nebpf: {idle: 2s, census: 1s}\n"
	idle  = 2 * time.Second
	// lasting is one on which no flow is over while a test looks.
	lasting = "wiring: ebpf\nebpf: {idle: 5m, census: 5s}\n"
)

// stay is what is known of flows on older versions of a chain's path; nil where there is none.
func stay(t testing.TB, p *plan.Plan) *steer.Staying {
	t.Helper()
	s, err := steer.StayingOn(resource.At(nstest.Open(t, p.Between()), p.Chain))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// drains waits until no flow goes by an older version, brings the chain up again, and finds nothing left.
func drains(t testing.TB, p *plan.Plan) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for s := stay(t, p); s != nil && s.Flows > 0; s = stay(t, p) {
		if time.Now().After(deadline) {
			t.Fatalf("%d flows never end", s.Flows)
		}
		time.Sleep(100 * time.Millisecond)
	}
	up(t, p)
	if s := stay(t, p); s != nil {
		t.Errorf("ports still know older versions: %+v", s)
	}
	nodes, err := deploy.Nodes(p.Chain)
	if err != nil || len(nodes) != len(p.Namespaces()) {
		t.Errorf("there are namespaces %v (%v), and planned are %v", nodes, err, p.Namespaces())
	}
	unchanged(t, p)
}

// TestFlowsStayInOrder on the path that they began on, by a function in which hundreds of packets wait, when that is taken
// out or led to at another place, while new ones do not go by it there. It is removed when they are over, whatever else the chain has.
func TestFlowsStayInOrder(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	nstest.Require(t, feature.QdiscTBF)
	slow, a, b := forward("slow"), forward("a"), forward("b")
	const parts = "{name: a, kind: forward, branches: [{mark: 0x1, to: server}]}"
	on := func(functions ...string) string { return classifier("direct", pathRule("all", "", functions...)) }
	for name, c := range map[string]struct {
		before, after string
		leaves        bool
	}{
		"alone":               {spec(slow, a), spec(a), true},
		"before replicas":     {spec(slow, a, replicas("r", 2)), spec(a, replicas("r", 2)), true},
		"before branches":     {spec(slow, forward("c"), parts, b), spec(forward("c"), parts, b), true},
		"on a path":           {spec(slow, a, b) + on("slow", "a"), spec(a, b) + on("a", "b"), true},
		"on a path, by rules": {spec(slow, a, b) + on("slow", "a"), spec(slow, a, b) + on("a", "b"), true},
		"on a path, moved":    {spec(slow, a) + on("slow", "a"), spec(a, slow) + on("a", "slow"), false},
		"on a path, inserted": {spec(slow, b) + on("slow", "b"), spec(slow, a, b) + on("slow", "a", "b"), false},
	} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			began := time.Now()
			first, wiring := planned(t, owner, quick+c.before), quick
			up(t, first)
			if took := time.Since(began).Round(time.Second); took > idle { // nor are packets sent much sooner there
				wiring = fmt.Sprintf("wiring: ebpf\nebpf: {idle: %v, census: 1s}\n", min(took, 20*time.Second))
				first = planned(t, owner, wiring+c.before)
				up(t, first)
			}
			crosses(t, first)
			slow := first.Functions()[0]
			sh(t, fmt.Sprintf("ip netns exec %s tc qdisc replace dev %s root tbf rate 400kbit burst 3000 latency 60s", slow.Namespace, slow.East.Device))
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			s.more(t, 500)
			second := planned(t, owner, wiring+c.after)
			up(t, second)
			if !netns.Exists(slow.Namespace) {
				t.Fatal("a function that flows go by was removed")
			}
			at := stay(t, second)
			if at == nil || at.Flows < 2 || at.Moved+at.Unkept > 0 {
				t.Fatalf("of two flows there stay %+v", at)
			}
			unchanged(t, second)
			for i := range s.sent {
				if path, err := knownPath(t, second, s.sent[i]); second.Classifier != nil && !errors.Is(err, steer.ErrOlder) {
					t.Errorf("flow %d is on path %q (%v), want an older one", i, path, err)
				}
			}
			through := func() uint64 { return cameOut(t, second, "slow") }
			before := through()
			s.more(t, 500)
			if after := through(); after == before {
				t.Error("the flows from before do not go by the function any more")
			}
			s.ends(t)
			for i, late := range s.late {
				if late > 10 { // a core's own may come after another's
					t.Errorf("%d packets of flow %d came after later ones", late, i)
				}
			}
			if at = stay(t, second); at != nil {
				time.Sleep(at.Census) // in which new flows are taken for those from before
			}
			before = through()
			for _, to := range addresses(second, second.Client().Name, second.Server().Name) { // pings may be of the flow that earlier ones were
				if !reaches(t, "udp", second.Client().Namespace, second.Server().Namespace, to, 7017, long) {
					t.Errorf("nothing comes to %s", to)
				}
			}
			if after := through(); c.leaves && after != before {
				t.Errorf("%d packets of new flows went by the function", after-before)
			}
			crosses(t, second)
			drains(t, second)
		})
	}
}

// knownPath of a flow of datagrams where it enters a chain with a classifier.
func knownPath(t testing.TB, p *plan.Plan, c net.Conn) (path string, err error) {
	t.Helper()
	from, to := c.LocalAddr().(*net.UDPAddr).AddrPort(), c.RemoteAddr().(*net.UDPAddr).AddrPort()
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Paths != nil && s.Paths.End == steer.FirstEnd {
			path, _, _, err = steer.KnownPath(resource.At(nstest.Open(t, p.Between()), p.Chain), s, steer.First{Source: from.Addr(), Destination: to.Addr(), SourcePort: from.Port(), DestinationPort: to.Port(), Protocol: 17})
		}
	}
	return path, err
}

// cameOut is how many packets came out of a node, wanted or not.
func cameOut(t testing.TB, p *plan.Plan, node string) (sum uint64) {
	t.Helper()
	counted, err := steer.Count(resource.At(nstest.Open(t, p.Between()), p.Chain))
	if err != nil {
		t.Fatal(err)
	}
	ports := strings.Fields(sh(t, fmt.Sprintf("ip -n %s -o link show | grep 'nfchain %s %s:' | sed 's/^[0-9]*: \\([^@]*\\)@.*/\\1/'", p.Between(), p.Chain, node)))
	if len(ports) == 0 {
		t.Fatalf("no port is %s's", node)
	}
	for _, port := range ports {
		sum += counted[port].Packets
	}
	return sum
}

// dialogue is a connection over which something is asked and answered all the time.
type dialogue struct {
	from string
	stop chan struct{}
	said chan error
}

// converse with a server that repeats what it hears.
func converse(t testing.TB, p *plan.Plan, server net.Listener, to netip.AddrPort) *dialogue {
	t.Helper()
	c := &dialogue{stop: make(chan struct{}), said: make(chan error, 1)}
	var near net.Conn
	inside(t, p.Client().Namespace, func() (err error) {
		near, err = net.DialTimeout("tcp", to.String(), time.Minute)
		return
	})
	far, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c.from = far.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().String()
	ask := func() error {
		b := make([]byte, 4)
		for _, step := range []func() (int, error){
			func() (int, error) { return near.Write([]byte("word")) }, func() (int, error) { return far.Read(b) },
			func() (int, error) { return far.Write(b) }, func() (int, error) { return near.Read(b) },
		} {
			if _, err := step(); err != nil {
				return err
			}
		}
		return nil
	}
	go func() {
		defer func() { _, _ = near.Close(), far.Close() }()
		for {
			select {
			case <-c.stop:
				c.said <- nil
				return
			case <-time.After(5 * time.Millisecond):
			}
			_ = near.SetDeadline(time.Now().Add(time.Minute))
			_ = far.SetDeadline(time.Now().Add(time.Minute))
			if err := ask(); err != nil {
				c.said <- err
				return
			}
		}
	}()
	return c
}

// ends a dialogue that has gone on until now.
func (c *dialogue) ends(t testing.TB, which string) {
	t.Helper()
	close(c.stop)
	if err := <-c.said; err != nil {
		t.Errorf("the connection from %s: %v", which, err)
	}
}

// TestConnectionsOutliveTranslations: one that began before a function that translates addresses was put in goes on
// without it, and one that began with it goes on when it is taken out.
func TestConnectionsOutliveTranslations(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	nstest.Require(t, feature.NFTNAT)
	for _, hook := range []string{"tcx", "clsact"} {
		t.Run(hook, func(t *testing.T) {
			// A busy machine may keep a connection silent for longer than the usual census.
			wiring := "wiring: ebpf\nebpf: {idle: 10s, census: 5s, hook: " + hook + "}\n"
			owner := nstest.Owner(t)
			downAfter(t, owner)
			plain := planned(t, owner, wiring+spec(forward("a"), forward("b")))
			up(t, plain)
			nat := planned(t, owner, wiring+spec(forward("a"), "{name: nat, kind: nat, nat: {source: {}}}", forward("b")))
			crosses(t, plain)
			client, to := addresses(plain, "server", "client")[0], netip.AddrPortFrom(plain.Server().West.Addresses[0], 7014)
			var server net.Listener
			inside(t, plain.Server().Namespace, func() (err error) { server, err = net.Listen("tcp", to.String()); return })
			defer func() { _ = server.Close() }()
			before := converse(t, plain, server, to)
			up(t, nat)
			within := converse(t, nat, server, to)
			if before.from != client.String() || within.from == client.String() {
				t.Errorf("connections come from %s before there is a translation, and then from %s", before.from, within.from)
			}
			up(t, plain)
			after := converse(t, plain, server, to)
			if after.from != client.String() {
				t.Errorf("after there is one they come from %s", after.from)
			}
			time.Sleep(100 * time.Millisecond)
			before.ends(t, "before it was there")
			within.ends(t, "while it was there")
			after.ends(t, "after it was there")
			drains(t, plain)
		})
	}
}

// TestFlowsMoveTogether where an edit has all packets go a new path at once while flows stay on an older one: none
// stays at some ports and not at others.
func TestFlowsMoveTogether(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, lasting+spec(walled("both", dropping(1)), forward("a"), forward("b"), forward("c")))
	up(t, first)
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	s.more(t, 100)
	up(t, planned(t, owner, lasting+spec(walled("both", dropping(1)), forward("b"), forward("c"))))
	last := planned(t, owner, lasting+spec(walled("both", dropping(2)), forward("c"))) // to which all flows are held at once
	if at := stay(t, last); at == nil || at.Flows < 2 {
		t.Errorf("of two flows there stay %+v", at)
	}
	d := &deploy.Deployer{}
	if _, err := d.Up(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if d.Moved < 2 || d.Staying != 0 {
		t.Errorf("of two flows %d moved and %d stay", d.Moved, d.Staying)
	}
	s.more(t, 100)
	drains(t, last)
	s.ends(t)
}

// TestScriptMovesFlows: what a plan's script makes, port by port, has no flow stay at some ports and not at others.
func TestScriptMovesFlows(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, lasting+spec(forward("a"), forward("b")))
	up(t, first)
	second := planned(t, owner, lasting+spec(forward("b")))
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	s.more(t, 100)
	up(t, second)
	if at := stay(t, second); at == nil || at.Flows < 2 {
		t.Fatalf("of two flows there stay %+v", at)
	}
	for _, r := range first.Resources {
		if r.Kind != steer.KindName {
			continue
		}
		text, err := json.Marshal(r.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := deploy.Apply(t.Context(), owner, r.Kind, r.Namespace, text); err != nil {
			t.Fatal(err)
		}
	}
	if at := stay(t, first); at != nil {
		t.Errorf("flows stay: %+v", at)
	}
	s.more(t, 100)
	s.ends(t)
	unchanged(t, first)
	crosses(t, first)
}

// TestFlowsMove at once where that is asked for, and are counted; nothing is left then.
func TestFlowsMove(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, lasting+spec(forward("a"), forward("b")))
	up(t, first)
	second := planned(t, owner, lasting+spec(forward("b")))
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	s.more(t, 100)
	d := &deploy.Deployer{Move: true}
	if _, err := d.Up(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if d.Moved < 2 || d.Staying != 0 {
		t.Errorf("of two flows %d moved and %d stay", d.Moved, d.Staying)
	}
	drains(t, second)
	s.more(t, 100)
	s.ends(t)
}

// TestInlineLeavesWhoStays: flows that stay since an earlier edit do not meet an inline function that is put in where they are led elsewhere than
// new ones, though no port is turned for it.
func TestInlineLeavesWhoStays(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, lasting+spec(forward("a"), forward("c")))
	up(t, first)
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	s.more(t, 100)
	second := planned(t, owner, lasting+spec(forward("a"), forward("b"), forward("c")))
	up(t, second)
	if at := stay(t, second); at == nil || at.Flows == 0 {
		t.Fatalf("no flow stays: %+v", at)
	}
	third := planned(t, owner, lasting+spec(forward("a"), inline("count"), forward("b"), forward("c")))
	d := &deploy.Deployer{}
	if _, err := d.Up(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	if at := stay(t, third); at == nil || d.Moved > 0 || d.Staying < 2 || d.AtOnce != "" {
		t.Errorf("%d moved (%s) and %d stay, %+v", d.Moved, d.AtOnce, d.Staying, at)
	}
	s.more(t, 100)
	s.ends(t)
	if n := taken(t, third, third.Inline[0].Forward).Packets; n > 50 { // what finds neighbours
		t.Errorf("the function counted %d packets of flows that were there before", n)
	}
	moves(t, third)
}
