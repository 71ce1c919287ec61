package deploy_test

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// filled lets what is of a connection pass, new ones too, and knows no more than its tables hold.
const filled = "{name: fw, kind: firewall, runtime: inline, firewall: {policy: drop, rules: {list: [{state: [new, established], action: accept}]}}}"

// TestMillionFlows come through replicas and an inline firewall that keep some of them in
// mind: no packet is lost for that, the tables stay as large as they were, and what made room is counted.
func TestMillionFlows(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	p := planned(t, owner, forwarders["tcx"]+spec(filled, forward("between"), replicas("shared", 3)))
	up(t, p)
	crosses(t, p)
	came := crowd(t, p)
	at := resource.At(nstest.Open(t, p.Between()), owner)
	flows, most := known(t, p, at)
	all := 0
	for _, n := range flows.Known {
		all += n
	}
	if all > most || all < most/2 || len(flows.Known) != 3 || flows.New < came {
		t.Errorf("replicas have %v flows known, of %d at most, of %d", flows.Known, most, flows.New)
	}
	c, found, err := pass.ConnectionsAt(at, device(p, p.Inline[0].Forward.Pass))
	if err != nil || !found || c.Held+c.Evicted < came || c.Evicted < c.Held {
		t.Errorf("the firewall knows %+v, %t, error %v", c, found, err)
	}
}

// TestMillionFlowsHeldToRules by a classifier that keeps some of them in mind: no packet is lost for that, the table stays as
// large as it was, one that goes on stays on its path, and one that was not seen for long is held to the rules, which
// are others by then.
func TestMillionFlowsHeldToRules(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	ruled := func(by string) *plan.Plan {
		return planned(t, owner, "wiring: ebpf\nebpf: {idle: 1h, flows: 65536}\n"+spec(forward("a"), forward("b"), forward("c"))+classifier("drop",
			pathRule("some", "protocol: udp, destination_port: 7013-7014", by, "c"), pathRule("crowd", "protocol: udp, destination_port: 8000-9999", "c")))
	}
	first := ruled("a")
	up(t, first)
	lively, silent := exchanges(t, first, 7113, 7013), exchanges(t, first, 7114, 7014)
	lively.goesOn(t)
	silent.goesOn(t)
	p := ruled("b")
	up(t, p)
	for _, e := range []*exchange{lively, silent} {
		if by := e.goesBy(t, p, "a", "b"); !slices.Equal(by, []string{"a"}) {
			t.Errorf("before the crowd came, a flow that was known went by %v", by)
		}
	}
	regulars(t, p, func() { lively.goesOn(t) })
	if by := lively.goesBy(t, p, "a", "b"); !slices.Equal(by, []string{"a"}) {
		t.Errorf("a flow that went on all the while goes by %v", by)
	}
	if by := silent.goesBy(t, p, "a", "b"); !slices.Equal(by, []string{"b"}) {
		t.Errorf("a flow that was not seen for longest goes by %v", by)
	}
	came := crowd(t, p)
	c, all := pathsKnown(t, p), 0
	for _, n := range c.ByPath {
		all += n.Known
	}
	if all > int(c.Most) || all < int(c.Most)/2 || c.Most != 1<<16 || c.New < came {
		t.Errorf("of %d flows %d are known, of %d at most, and %d were new", came, all, c.Most, c.New)
	}
}

// TestMillionConnections come through a nat and a firewall that are inline and keep some of them in mind: no packet is lost for
// that, and what made room is counted. A connection that goes on is one still; of one that made room the server's packets are
// refused and counted, and the client's begin it anew.
func TestMillionConnections(t *testing.T) {
	needsForwarder(t)
	const guard = "policy: drop, rules: {list: [{state: [established], action: accept}, " +
		"{protocol: udp, destination_port: 7013-7015, action: accept}, {protocol: udp, destination_port: 8000-9999, action: accept}, {protocol: udp, source_port: 7015, action: accept}]}"
	p := planned(t, nstest.Owner(t), "wiring: ebpf\n"+spec(translating("nat: {source: {}}"), walled("both", guard)))
	downAfter(t, p.Chain)
	up(t, p)
	lively, refused, stray := exchanges(t, p, 7113, 7013), exchanges(t, p, 7114, 7014), exchanges(t, p, 7115, 7015)
	for _, e := range []*exchange{lively, refused, stray} {
		e.goesOn(t)
		if !e.answers(t, long) {
			t.Fatalf("what the server sends to a connection that it knows does not come to %s", e.client.LocalAddr())
		}
	}
	was := lively.from.String()
	regulars(t, p, func() { lively.goesOn(t) })
	if !lively.answers(t, long) || lively.from.String() != was {
		t.Errorf("a connection that went on all the while came from %s, and comes from %s", was, lively.from)
	}
	before := pushedOut(t, p)
	for name, e := range map[string]*exchange{"refused": refused, "stray": stray} {
		if e.answers(t, short) {
			t.Errorf("%s: what the server sends to a connection that made room comes to the client", name)
		}
	}
	if now := pushedOut(t, p); now.refused <= before.refused || now.stray <= before.stray {
		t.Errorf("of packets of connections that made room %+v were counted, and before %+v", now, before)
	}
	for _, e := range []*exchange{refused, stray} {
		e.goesOn(t)
	}
	came := crowd(t, p)
	if n := became(t, p); n.Held > 1<<17 || n.Held < 1<<16 || n.Held+n.Evicted < 2*came {
		t.Errorf("of %d connections the nat knows %+v", came, n)
	}
	if c := pushedOut(t, p).connections; c.Held > 1<<16 || c.Held < 1<<15 || c.Held+c.Evicted < came {
		t.Errorf("of %d connections the firewall knows %+v", came, c)
	}
}

// TestMillionFlowsWhereWaysPart and come together, of which some are kept in mind: no packet is lost for that, and the table stays as large as it was. What
// answers one of those that made room comes back by the planned way, whichever that flow took.
func TestMillionFlowsWhereWaysPart(t *testing.T) {
	needsBranches(t)
	p := planned(t, nstest.Owner(t), forwarders["tcx"]+spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")))
	downAfter(t, p.Chain)
	up(t, p)
	sh(t, "ip netns exec "+p.Functions()[0].Namespace+" nft 'table inet tell { chain forward { type filter hook forward priority mangle; udp dport & 1 == 1 meta mark set 9; }; }'")
	crosses(t, p)
	came := crowd(t, p)
	parted, out := joined(t, p)
	ways, all := parted.Known[out.Number], 0
	for _, flows := range ways {
		all += flows
	}
	if most := int(out.Flows); all > most || all < most/2 || len(ways) != 2 || parted.New < came || parted.Unkept > 0 {
		t.Errorf("of %d flows by two ways %v are known, of %d at most; %+v", came, ways, most, parted)
	}
	early := exchanges(t, p, crowdSource, crowdPort+1) // by the other way, and once
	before := went(t, p)
	if early.from = early.client.LocalAddr(); !early.answers(t, long) {
		t.Error("what answers a flow that made room does not come to the client")
	}
	moved := wentMuch(t, p, before, byPlan+"out a", 1)
	if after, _ := joined(t, p); moved["out b"] > 0 || moved[byPlan+"out a"] < 1 || after.Strange[out.port] <= parted.Strange[out.port] {
		t.Errorf("it went by %v; before there were %v packets of flows that are not known, and then %v", moved, parted.Strange, after.Strange)
	}
}

// joint is a port by which packets go back where ways came together.
type joint struct {
	*steer.Branch
	port string
}

// joined is what a chain's ports know of flows, and the one by which they go back.
func joined(t *testing.T, p *plan.Plan) (parted *steer.Parted, back joint) {
	t.Helper()
	var ports []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Branch != nil {
			ports = append(ports, s)
			if s.Branch.Back && len(s.Branch.Ways) > 1 {
				back = joint{s.Branch, s.Device}
			}
		}
	}
	parted, err := steer.PartedAt(resource.At(nstest.Open(t, p.Between()), p.Chain), ports)
	if err != nil || parted == nil || back.Branch == nil {
		t.Fatal(parted, back, err)
	}
	return parted, back
}

// pushed is what a nat and a firewall counted of connections.
type pushed struct {
	refused, stray uint64
	connections    pass.Connections
}

// pushedOut is what the first functions, a nat and a firewall, counted on the way back.
func pushedOut(t *testing.T, p *plan.Plan) (all pushed) {
	t.Helper()
	at := resource.At(nstest.Open(t, p.Between()), p.Chain)
	back := p.Inline[0].Reverse
	c, found, err := pass.CountAt(at, device(p, back.Pass))
	if err != nil || !found {
		t.Fatal(found, err)
	}
	all.stray, all.refused = c.Lost[back.Slot], decidedBy(t, p, "fw").Dropped.Packets
	if all.connections, found, err = pass.ConnectionsAt(at, device(p, p.Inline[1].Forward.Pass)); err != nil || !found {
		t.Fatal(found, err)
	}
	return all
}

// pathsKnown is what a chain's ports know of flows and their paths.
func pathsKnown(t *testing.T, p *plan.Plan) *steer.Classified {
	t.Helper()
	var ports []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Paths != nil {
			ports = append(ports, s)
		}
	}
	c, err := steer.ClassifiedBy(resource.At(nstest.Open(t, p.Between()), p.Chain), ports)
	if err != nil || c == nil {
		t.Fatal(c, err)
	}
	return c
}

// known flows of the only function with replicas, and how many there are at most.
func known(t *testing.T, p *plan.Plan, at resource.Place) (*steer.Flows, int) {
	t.Helper()
	var ways []steer.Spec
	for _, r := range p.Resources {
		if s, is := r.Spec.(steer.Spec); is && s.Among != nil {
			ways = append(ways, s)
		}
	}
	all, err := steer.FlowsOf(at, ways)
	if err != nil || all["shared"] == nil {
		t.Fatal(all, err)
	}
	return all["shared"], int(ways[0].Among.Flows)
}

// device of a resource.
func device(p *plan.Plan, id string) string {
	i := slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.ID == id })
	return p.Resources[i].Spec.Key()
}
