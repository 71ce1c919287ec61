package deploy_test

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// hasty forwarders take a flow for over soon. A busy machine may keep one silent for a while.
var hasty = map[string]string{"tcx": "wiring: ebpf\nebpf: {idle: 5s}\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact, idle: 5s}\n"}

// leaving is one on which replicas that are taken out, and older paths, are left flows while a test looks.
var leaving = map[string]string{"tcx, left": "wiring: ebpf\nebpf: {idle: 1h}\n", "clsact, left": "wiring: ebpf\nebpf: {hook: clsact, idle: 1h}\n"}

func replicas(name string, n int) string {
	return fmt.Sprintf("{name: %s, kind: forward, replicas: %d}", name, n)
}

// TestReplicasComeAndGo while packets pass, a thousand a second, and each of them comes once,
// with replicas beside replicas, whether or not those that go are left the flows that they have. The ends are left alone.
func TestReplicasComeAndGo(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range map[string]string{"tcx": hasty["tcx"], "clsact, left": leaving["clsact, left"]} {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			first := planned(t, owner, wiring+spec(replicas("a", 2), replicas("b", 1)))
			up(t, first)
			unchanged(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, functions := range [][]string{
				{replicas("a", 3), replicas("b", 1)}, // one comes
				{replicas("a", 2), replicas("b", 1)}, // and goes
				{replicas("a", 2), replicas("b", 2)}, // one becomes two, beside two
				{replicas("b", 2), replicas("c", 2)}, // all are another's
				{forward("b")},                       // two become one
				{replicas("b", 2)},
				{},
				{replicas("b", 2)},
			} {
				s.more(t, 100)
				p := planned(t, owner, wiring+spec(functions...))
				makes := up
				if leaving[hook] != "" {
					makes = lets
				}
				for _, c := range makes(t, p) {
					if kind := strings.FieldsFunc(c, func(r rune) bool { return r == ' ' || r == ':' })[1]; kind != "steer" && slices.ContainsFunc([]string{":client:", ":server:"}, func(n string) bool { return strings.Contains(c, n) }) {
						t.Errorf("%v: an end was changed: %s", functions, c)
					}
				}
				unchanged(t, p)
				crosses(t, p)
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// strict lets connections to one port pass, and what answers in them.
const strict = "{name: fw, kind: firewall, replicas: %d, firewall: {policy: drop, rules: {list: [{state: [established], action: accept}, {state: [new], protocol: tcp, destination_port: 7011, action: accept}]}}}"

// TestReplicasSeeBothWays: each of several firewalls lets only answers pass to what it saw, so
// that a connection passes where both of its ways go by one; and it stays there when another
// firewall comes.
func TestReplicasSeeBothWays(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, "wiring: ebpf\n"+spec(fmt.Sprintf(strict, 2)))
	up(t, p)
	var all []*talk
	for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
		all = append(all, talks(t, p, to, 8)...)
	}
	up(t, planned(t, owner, "wiring: ebpf\n"+spec(fmt.Sprintf(strict, 3))))
	for _, c := range all {
		c.turned().exchange(t)
	}
}

// TestFlowsStayWithReplicasThatGo: nobody waits for them, whatever is edited meanwhile. Each of several firewalls lets only answers pass to what it saw.
func TestFlowsStayWithReplicasThatGo(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	of := func(n int, others ...string) *plan.Plan {
		return planned(t, owner, lasting+spec(append(others, fmt.Sprintf(strict, n))...))
	}
	p := of(3)
	up(t, p)
	var all []*talk
	for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
		all = append(all, talks(t, p, to, 32)...) // some by each, but for once in 10^11 times
	}
	had := dealtOut(t, p)["fw"].Known[3]
	leaves := func(p *plan.Plan) {
		t.Helper()
		d := &deploy.Deployer{}
		if _, err := d.Up(t.Context(), p); err != nil || d.Left != had {
			t.Fatalf("of %d flows there stay %d: %v", had, d.Left, err)
		}
		unchanged(t, p)
		foreseen := &deploy.Deployer{DryRun: true}
		if changes, err := foreseen.Up(t.Context(), p); len(changes) > 0 || err != nil || foreseen.Left != had {
			t.Errorf("%d flows would stay, of %d, and %v would be changed: %v", foreseen.Left, had, changes, err)
		}
		for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
			all = append(all, talks(t, p, to, 8)...)
		}
		for _, c := range all {
			c.turned().exchange(t)
		}
		if f := dealtOut(t, p)["fw"]; f.Known[3] != had || f.Moved > 0 {
			t.Errorf("of %d flows the replica that goes has %d, and %d have moved", had, f.Known[3], f.Moved)
		}
	}
	leaves(of(2))
	leaves(of(2, forward("before")))
	up(t, of(3, forward("before"))) // it is wanted again
	if f := dealtOut(t, of(2))["fw"]; f.Known[3] != had || f.Moved > 0 {
		t.Errorf("of %d flows the replica that was to go has %d, and %d have moved", had, f.Known[3], f.Moved)
	}
	leaves(of(2, forward("before")))
	leaves(of(2))
	for _, beside := range []string{"older paths", "none"} {
		had = dealtOut(t, p)["fw"].Busy[3]
		d := &deploy.Deployer{Move: true}
		if _, err := d.Up(t.Context(), of(2)); err != nil || d.Left > 0 || d.Moved < had {
			t.Errorf("beside %s: of %d flows there stay %d, and %d were moved: %v", beside, had, d.Left, d.Moved, err)
		}
		unchanged(t, of(2))
		if f := dealtOut(t, of(2))["fw"]; len(f.Leaving) > 0 {
			t.Errorf("beside %s: there go still %v", beside, f.Leaving)
		}
		p = of(3)
		up(t, p)
		for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
			talks(t, p, to, 32)
		}
		lets(t, of(2))
	}
}

// TestReplicasGoWhenFlowsAreOver: the next who comes removes them.
func TestReplicasGoWhenFlowsAreOver(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, quick+spec(replicas("a", 3)))
	up(t, p)
	for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
		talks(t, p, to, 32)
	}
	p = planned(t, owner, quick+spec(replicas("a", 2)))
	d := &deploy.Deployer{}
	if _, err := d.Up(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if gone := namespace.Name(owner, "a-3"); d.Left > 0 && !netns.Exists(gone) {
		t.Errorf("%d flows stay with what is gone", d.Left)
	}
	for deadline := time.Now().Add(time.Minute); d.Left > 0; time.Sleep(idle / 10) {
		if time.Now().After(deadline) {
			t.Fatalf("%d flows stay for ever", d.Left)
		}
		if _, err := d.Up(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	if nodes, err := deploy.Nodes(owner); err != nil || len(nodes) != len(p.Namespaces()) {
		t.Errorf("there are namespaces %v (%v), and planned are %v", nodes, err, p.Namespaces())
	}
	unchanged(t, p)
	crosses(t, p)
}

// TestReplicaRests: one with weight 0 keeps its connections and gets no new one, whichever it is, until it has a weight again.
func TestReplicaRests(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	weighing := func(weights string) *plan.Plan {
		return planned(t, owner, "wiring: ebpf\n"+spec(strings.Replace(fmt.Sprintf(strict, 2), "replicas: 2", "replicas: 2, weights: ["+weights+"]", 1)))
	}
	p := weighing("1, 1")
	up(t, p)
	var all []*talk
	for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
		all = append(all, talks(t, p, to, 32)...) // some by each, but for once in 10^19 times
	}
	had := dealtOut(t, p)["fw"].Known[1]
	for _, weights := range []string{"0, 1", "1, 0"} {
		p = weighing(weights)
		up(t, p)
		unchanged(t, p)
		for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
			all = append(all, talks(t, p, to, 16)...)
		}
		for _, c := range all {
			c.turned().exchange(t)
		}
		has := dealtOut(t, p)["fw"].Known
		if rests := weights == "0, 1"; rests && has[1] != had || !rests && has[1] < had+32 {
			t.Errorf("weights %s: the first had %d connections, and has %d of %v", weights, had, has[1], has)
		}
	}
}

// TestReplicasAroundANAT: what a connection's addresses are before a translation and behind it, it goes through one replica each, both ways: each lets
// only answers pass to what it saw.
func TestReplicasAroundANAT(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	around := func(n int) *plan.Plan {
		wall := fmt.Sprintf(strict, n)
		return planned(t, owner, "wiring: ebpf\n"+spec(wall, "{name: n, kind: nat, nat: {source: {masquerade: true}}}", strings.Replace(wall, "name: fw", "name: wall", 1)))
	}
	p := around(2)
	up(t, p)
	var all []*talk
	for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
		all = append(all, talks(t, p, to, 32)...)
	}
	if flows := dealtOut(t, p); unused(flows, map[string]int{"fw": 2, "wall": 2}) {
		t.Errorf("not every replica has a connection: %+v, %+v", flows["fw"].Known, flows["wall"].Known)
	}
	up(t, around(3))
	for _, c := range all {
		c.turned().exchange(t)
	}
}

// talk is a connection, by its two ends.
type talk struct{ near, far net.Conn }

// talks opens connections over the chain, and has each carry something both ways.
func talks(t *testing.T, p *plan.Plan, to netip.Addr, n int) (all []*talk) {
	t.Helper()
	var listener net.Listener
	at := netip.AddrPortFrom(to, 7011).String()
	inside(t, p.Server().Namespace, func() (err error) { listener, err = net.Listen("tcp", at); return })
	defer func() { _ = listener.Close() }()
	for range n {
		c := &talk{}
		inside(t, p.Client().Namespace, func() (err error) { c.near, err = net.DialTimeout("tcp", at, time.Minute); return })
		var err error
		if c.far, err = listener.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.near.Close(), c.far.Close() })
		c.exchange(t)
		all = append(all, c)
	}
	return all
}

// turned has the far end speak first: a firewall that does not know the connection takes that for none of its own.
func (c *talk) turned() *talk { return &talk{c.far, c.near} }

func (c *talk) exchange(t *testing.T) {
	t.Helper()
	for _, way := range [][2]net.Conn{{c.near, c.far}, {c.far, c.near}} {
		_, _ = way[0].SetDeadline(time.Now().Add(time.Minute)), way[1].SetDeadline(time.Now().Add(time.Minute))
		if _, err := way[0].Write([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if _, err := way[1].Read(make([]byte, 1)); err != nil {
			t.Fatalf("from %s to %s: %v", way[0].LocalAddr(), way[0].RemoteAddr(), err)
		}
	}
}
