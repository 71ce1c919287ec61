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
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// beside is a firewall without a namespace that lets flows to two ports begin, and what is of these, and counts both.
func beside(name string) string {
	return "{name: " + name + ", kind: firewall, runtime: inline, firewall: {policy: drop, rules: {list: [" +
		"{state: [established], action: accept, comment: known}, {protocol: udp, destination_port: 7031, action: accept, comment: new}, {protocol: udp, destination_port: 7013, action: accept}]}}}"
}

// answeredBy the server are flows each of which sends one packet to the server and is answered; sent is how many were, since one that a busy machine
// drops is sent again.
func answeredBy(t *testing.T, p *plan.Plan, to netip.Addr, flows int) (sent, answered uint64) {
	t.Helper()
	at := netip.AddrPortFrom(to, 7031)
	var server net.PacketConn
	inside(t, p.Server().Namespace, func() (err error) { server, err = net.ListenPacket("udp", at.String()); return })
	defer func() { _ = server.Close() }()
	for range flows {
		var client net.Conn
		inside(t, p.Client().Namespace, func() (err error) { client, err = net.Dial("udp", at.String()); return })
		for came := false; !came; sent++ {
			if sent > uint64(flows+60) {
				t.Fatalf("of %d packets to %s %d were answered", sent, at, answered)
			}
			_, _ = client.Write([]byte("a packet"))
			b := make([]byte, 64)
			_ = server.SetReadDeadline(time.Now().Add(10 * time.Second))
			n, from, err := server.ReadFrom(b)
			if err != nil {
				continue
			}
			_, _ = server.WriteTo(b[:n], from)
			answered++
			_ = client.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = client.Read(b)
			came = err == nil
		}
		_ = client.Close()
	}
	return sent, answered
}

// met fails unless a firewall decided about as many packets as were sent and answered.
func met(t *testing.T, p *plan.Plan, name string, flows, sent, answered uint64, before []uint64) {
	t.Helper()
	c := decidedBy(t, p, name)
	known, fresh := c.Rules[0].Packets-before[0], c.Rules[1].Packets-before[1]
	// Where all were answered at once, each came by once; what a busy machine drops may do so before or behind.
	if known+fresh < answered || known+fresh > sent+answered || sent == flows && known+fresh != 2*flows {
		t.Errorf("%s: of %d packets and %d answers, %d were new and %d of what was known", name, sent, answered, fresh, known)
	}
}

// decisions by the first two rules.
func decisions(t *testing.T, p *plan.Plan, name string) []uint64 {
	t.Helper()
	c := decidedBy(t, p, name)
	return []uint64{c.Rules[0].Packets, c.Rules[1].Packets}
}

// TestInlineBesideReplicas: each packet meets the functions before and behind those with replicas once on each way, whichever replica has
// it, and a firewall there knows the connections of all.
func TestInlineBesideReplicas(t *testing.T) {
	needsForwarder(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, wiring+spec(inline("count"), beside("before"), replicas("a", 3), beside("between"), replicas("b", 2), beside("behind")))
			up(t, p)
			unchanged(t, p)
			const flows = 48
			for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
				had := map[string][]uint64{}
				for _, name := range []string{"before", "between", "behind"} {
					had[name] = decisions(t, p, name)
				}
				sent, answered := answeredBy(t, p, to, flows)
				for name, before := range had {
					met(t, p, name, flows, sent, answered, before)
				}
				if reaches(t, "udp", p.Server().Namespace, p.Client().Namespace, addresses(p, p.Server().Name, p.Client().Name)[0], 7031+1, short) {
					t.Error("a flow began that no rule lets be")
				}
			}
			for _, of := range []string{"a", "b"} {
				if n := used(t, p, of, flows/4); n < 2 {
					t.Errorf("packets went by %d replicas of %s", n, of)
				}
			}
			for _, f := range p.Inline {
				if there, back := taken(t, p, f.Forward), taken(t, p, f.Reverse); f.Kind == "counter" && (there.Packets < 2*flows || back.Packets < 2*flows) {
					t.Errorf("%s counted %+v there and %+v back", f.Name, there, back)
				}
			}
		})
	}
}

// used replicas of a function are those to which so many packets came.
func used(t *testing.T, p *plan.Plan, of string, least uint64) (n int) {
	t.Helper()
	for _, node := range p.Nodes {
		if node.Function() != of {
			continue
		}
		dev, err := nstest.Open(t, node.Namespace).LinkByName(node.West.Device)
		if err != nil {
			t.Fatal(err)
		}
		if dev.Attrs().Statistics.RxPackets >= least {
			n++
		}
	}
	return n
}

// TestInlineBesideReplicasUpdates lose nothing: replicas come and go beside functions without a namespace, and those are put in, replaced,
// given other rules and taken out, while packets pass both ways, a thousand a second, and each of them comes once.
func TestInlineBesideReplicasUpdates(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range hasty {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			row := beside("fw")
			first := planned(t, owner, wiring+spec(row, replicas("a", 2)))
			up(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			home := addresses(first, first.Server().Name, first.Client().Name)
			back := streamsFrom(t, first.Server(), first.Client(), home, home)
			counted := uint64(0)
			for _, functions := range [][]string{
				{row, inline("count"), replicas("a", 2)},                                                                                  // put in
				{row, inline("count"), replicas("a", 4)},                                                                                  // two come
				{strings.ReplaceAll(row, "comment: new", "comment: fresh"), inline("count"), replicas("a", 2)},                            // and go, as rules change
				{row, inline("count"), replicas("a", 3), inline("behind")},                                                                // one comes, as rules change and another is put in behind
				{row, marked("ef", "inline"), inline("count"), replicas("a", 3)},                                                          // a step before
				{row, marked("af41", "inline"), inline("count"), replicas("a", 2)},                                                        // another
				{row, inline("count"), replicas("a", 3)},                                                                                  // taken out, as a replica comes
				{row, inline("count"), forward("a")},                                                                                      // one alone
				{row, inline("count"), replicas("a", 2), inline("c"), replicas("b", 2)},                                                   // two functions with replicas
				{row, strings.Replace(inline("count"), "inline", "netns", 1), replicas("a", 2), inline("c"), replicas("b", 3), row2("d")}, // a node between
			} {
				s.more(t, 100)
				back.more(t, 100)
				p := planned(t, owner, wiring+spec(functions...))
				up(t, p)
				unchanged(t, p)
				isOne(t, p)
				i := slices.IndexFunc(p.Inline, func(f plan.Inline) bool { return f.Name == "count" })
				if i < 0 {
					continue
				}
				now := taken(t, p, p.Inline[i].Forward).Packets // of packets back it counts at the replicas' ports, and begins anew where all of these are new
				if now < counted {
					t.Errorf("%v: the counter is at %d, and was at %d", functions, now, counted)
				}
				counted = now
			}
			s.more(t, 100)
			back.more(t, 100)
			s.ends(t)
			back.ends(t)
		})
	}
}

// flowsOf the client are datagram sockets by which it asks the server, which answers.
type flowsOf struct {
	t      *testing.T
	server net.PacketConn
	all    []net.Conn
}

func newFlows(t *testing.T, p *plan.Plan, to netip.Addr, n int) *flowsOf {
	t.Helper()
	at, f := netip.AddrPortFrom(to, 7031).String(), &flowsOf{t: t}
	inside(t, p.Server().Namespace, func() (err error) { f.server, err = net.ListenPacket("udp", at); return })
	t.Cleanup(func() { _ = f.server.Close() })
	go func() {
		for b := make([]byte, 64); ; {
			n, from, err := f.server.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = f.server.WriteTo(b[:n], from)
		}
	}()
	for range n {
		var c net.Conn
		inside(t, p.Client().Namespace, func() (err error) { c, err = net.Dial("udp", at); return })
		t.Cleanup(func() { _ = c.Close() })
		f.all = append(f.all, c)
	}
	return f
}

// asks by each, and tells how many packets were sent; one that a busy machine drops is sent again.
func (f *flowsOf) asks() (sent uint64) {
	f.t.Helper()
	sent, err := f.ask()
	if err != nil {
		f.t.Fatal(err)
	}
	return sent
}

func (f *flowsOf) ask() (sent uint64, err error) {
	for i, c := range f.all {
		for came := false; !came; sent++ {
			if sent > uint64(len(f.all)+60) {
				return sent, fmt.Errorf("of %d packets, %d flows were answered", sent, i)
			}
			_, _ = c.Write([]byte("a packet"))
			_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err := c.Read(make([]byte, 64))
			came = err == nil
		}
	}
	return sent, nil
}

// goesOn asking until it is ended.
func (f *flowsOf) goesOn() (end func()) {
	stop := againAndAgain(20*time.Millisecond, func() error { _, err := f.ask(); return err })
	return func() {
		if err := stop(); err != nil {
			f.t.Error(err)
		}
	}
}

// cameBy the two interfaces of a function with a namespace so many packets.
func cameBy(t *testing.T, p *plan.Plan, name string) (came [2]uint64) {
	t.Helper()
	for _, n := range p.Nodes {
		if n.Name != name {
			continue
		}
		for i, at := range []*plan.Interface{n.West, n.East} {
			dev, err := nstest.Open(t, n.Namespace).LinkByName(at.Device)
			if err != nil {
				t.Fatal(err)
			}
			came[i] = dev.Attrs().Statistics.RxPackets
		}
	}
	return came
}

// TestFlowsOfReplicasThatGoMeetEdits: those that stay with a replica which is taken out go on from there as others do, whatever the same update or one
// meanwhile changes beside it: each packet meets what is there once, there and back.
func TestFlowsOfReplicasThatGoMeetEdits(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range leaving {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, wiring+spec(replicas("a", 3)))
			up(t, p)
			const flows = 48 // some by each, but for once in 10^8 times
			f := newFlows(t, p, addresses(p, p.Client().Name, p.Server().Name)[0], flows)
			f.asks()
			had := dealtOut(t, p)["a"].Known[3]
			for i, functions := range [][]string{
				{replicas("a", 2), inline("behind")},                                                               // put in as it goes
				{inline("before"), replicas("a", 2), inline("behind"), row2("fw")},                                 // and meanwhile
				{inline("before"), forward("x"), replicas("a", 2), forward("y")},                                   // with nodes
				{forward("x"), inline("before"), replicas("a", 2), inline("behind"), forward("y")},                 // between these and it
				{replicas("b", 2), inline("before"), replicas("a", 2), inline("behind"), row2("fw"), forward("y")}, // beside other replicas
				{replicas("a", 2), replicas("b", 2), inline("behind")},                                             // and in another order
			} {
				p := planned(t, owner, wiring+spec(functions...))
				d := &deploy.Deployer{}
				if _, err := d.Up(t.Context(), p); err != nil || d.Left != had {
					t.Fatalf("of %d flows there stay %d: %v", had, d.Left, err)
				}
				unchanged(t, p)
				nodes, before := map[string][2]uint64{"x": cameBy(t, p, "x"), "y": cameBy(t, p, "y")}, map[string][2]uint64{}
				for _, f := range p.Inline {
					before[f.Name] = [2]uint64{taken(t, p, f.Forward).Packets, taken(t, p, f.Reverse).Packets}
				}
				sent := f.asks()
				for _, f := range p.Inline {
					if f.Kind != "counter" {
						continue
					}
					there, back := taken(t, p, f.Forward).Packets-before[f.Name][0], taken(t, p, f.Reverse).Packets-before[f.Name][1]
					if most := sent + flows/2; there < flows || there > most || back < flows || back > most { // besides there is what finds neighbours
						t.Errorf("edit %d: of %d packets %s met %d, and %d on their way back", i, sent, f.Name, there, back)
					}
				}
				for node, before := range nodes {
					if now := cameBy(t, p, node); now != [2]uint64{} && (now[0]-before[0] < flows || now[1]-before[1] < flows) {
						t.Errorf("edit %d: of %d packets %d came to %s, and %d back", i, sent, now[0]-before[0], node, now[1]-before[1])
					}
				}
				if f := dealtOut(t, p)["a"]; f.Known[3] != had || f.Moved > 0 {
					t.Errorf("edit %d: of %d flows the replica that goes has %d, and %d have moved", i, had, f.Known[3], f.Moved)
				}
			}
		})
	}
}

// TestFlowsOfReplicasThatGoStayPastInline: where flows stay on an older path and are led past inline functions that come, so are those from a replica
// that goes, and they meet all of that once they are moved, but for the replica.
func TestFlowsOfReplicasThatGoStayPastInline(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const wiring = "wiring: ebpf\nebpf: {idle: 1h, census: 2s}\nsymmetric: false\nmtu: 1400\n"
	p := planned(t, owner, wiring+spec(replicas("a", 3), inline("one")))
	up(t, p)
	const flows = 48 // some by each, but for once in 10^8 times
	f := newFlows(t, p, addresses(p, p.Client().Name, p.Server().Name)[0], flows)
	f.asks()
	p = planned(t, owner, wiring+spec(replicas("a", 2), inline("one")))
	lets(t, p)
	had := dealtOut(t, p)["a"].Known[3]
	p = planned(t, owner, wiring+spec(replicas("a", 2), inline("two"), forward("x")))
	end := f.goesOn()
	d := &deploy.Deployer{}
	_, err := d.Up(t.Context(), p)
	if end(); err != nil || d.Left != had || d.Staying < flows {
		t.Fatalf("of %d flows there stay %d, and %d of %d with a replica that goes: %v", flows, d.Staying, d.Left, had, err)
	}
	unchanged(t, p)
	meets := func(least, most uint64) {
		t.Helper()
		before, came := taken(t, p, p.Inline[0].Forward).Packets, cameBy(t, p, "x")
		f.asks()
		if n, to := taken(t, p, p.Inline[0].Forward).Packets-before, cameBy(t, p, "x")[0]-came[0]; n < least || n > most || to < least || to > most+20 {
			t.Errorf("of %d packets or more %d met what came, and %d came to the function behind that", flows, n, to)
		}
		if f := dealtOut(t, p)["a"]; f.Known[3] != had {
			t.Errorf("of %d flows the replica that goes has %d", had, f.Known[3])
		}
	}
	meets(0, 0)
	if pairs := sh(t, "ip -n "+p.Between()+" -o link | grep -e -out@"); strings.Count(pairs, "mtu 1400") != 3 {
		t.Errorf("not past the ports of all three replicas flows are led:\n%s", pairs)
	}
	if err := steer.Unite(resource.At(nstest.Open(t, p.Between()), owner)); err != nil {
		t.Fatal(err)
	}
	meets(flows, 2*flows)
	moves(t, p)
}

// TestReplicasGoWhereFlowsAreLedPastInline: where flows that stay on an older path are led past inline functions to replicas, one of these that goes
// stays for theirs, as whatever else older paths lead to, and no longer.
func TestReplicasGoWhereFlowsAreLedPastInline(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const wiring = "wiring: ebpf\nebpf: {idle: 1h, census: 2s}\n"
	p := planned(t, owner, wiring+spec(inline("one"), replicas("a", 3)))
	up(t, p)
	const flows = 48 // some by each, but for once in 10^8 times
	f := newFlows(t, p, addresses(p, p.Client().Name, p.Server().Name)[0], flows)
	f.asks()
	p = planned(t, owner, wiring+spec(forward("x"), inline("one"), replicas("a", 3)))
	end, d := f.goesOn(), &deploy.Deployer{}
	_, err := d.Up(t.Context(), p)
	if end(); err != nil || d.Staying < flows {
		t.Fatalf("of %d flows %d stay: %v", flows, d.Staying, err)
	}
	p = planned(t, owner, wiring+spec(forward("x"), inline("one"), replicas("a", 2)))
	if _, left := raise(t, p); left == 0 { // new flows may have it no more
		t.Fatal("no flow is left with the replica that goes")
	}
	came, met := cameBy(t, p, "x"), taken(t, p, p.Inline[0].Forward).Packets
	f.asks()
	if to, n := cameBy(t, p, "x")[0]-came[0], taken(t, p, p.Inline[0].Forward).Packets-met; to > 20 || n < flows || n > 2*flows {
		t.Errorf("of %d packets or more %d came to what is new, and %d met what was there", flows, to, n)
	}
	unchanged(t, p)
	moves(t, p)
}

// TestFlowsKeepTheirReplicasPastInline: those that stay on an older path keep their replicas both ways, though a later edit takes the function away, and
// leads them past inline functions when no port leads new flows there, or leads them there again.
func TestFlowsKeepTheirReplicasPastInline(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	const wiring = "wiring: ebpf\nebpf: {idle: 1h, census: 2s}\n"
	for name, c := range map[string]struct {
		replicas int // when flows begin; there are three then
		edits    [][]string
	}{
		"where none leads there": {2, [][]string{{inline("one"), forward("b")}, {inline("one"), inline("two"), forward("b")}}},
		"where fewer are led to again": {3, [][]string{
			{inline("one"), forward("b")}, {inline("one"), replicas("a", 2), forward("b")}, {inline("one"), inline("two"), replicas("a", 2), forward("b")},
			{inline("one"), inline("two"), forward("x"), replicas("a", 2), forward("b")}, {inline("two"), forward("x"), replicas("a", 2), forward("b")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, wiring+spec(inline("one"), replicas("a", c.replicas), forward("b")))
			up(t, p)
			const flows = 48
			f := newFlows(t, p, addresses(p, p.Client().Name, p.Server().Name)[0], flows)
			f.asks()
			with := planned(t, owner, wiring+spec(inline("one"), replicas("a", 3), forward("b"))) // which new flows alone would be with
			up(t, with)
			had := byReplica(t, with, f)
			for i, functions := range c.edits {
				p, d := planned(t, owner, wiring+spec(functions...)), &deploy.Deployer{}
				end := f.goesOn()
				_, err := d.Up(t.Context(), p)
				if end(); err != nil || d.AtOnce != "" || d.Staying < flows {
					t.Fatalf("edit %d: of %d flows %d stay, %q: %v", i, flows, d.Staying, d.AtOnce, err)
				}
				if now := byReplica(t, with, f); now != had {
					t.Errorf("edit %d: replicas got %v packets from the west and the east, and had got %v", i, now, had)
				}
			}
		})
	}
}

// byReplica of three are the packets of flows that come to each from the west and the east.
func byReplica(t *testing.T, p *plan.Plan, f *flowsOf) (came [3][2]uint64) {
	t.Helper()
	for range 5 { // what finds neighbours comes, too, and what a busy machine drops twice
		var before [3][2]uint64
		for i := range before {
			before[i] = cameBy(t, p, fmt.Sprint("a-", i+1))
		}
		sent := f.asks()
		sum := [2]uint64{}
		for i, b := range before {
			now := cameBy(t, p, fmt.Sprint("a-", i+1))
			came[i] = [2]uint64{now[0] - b[0], now[1] - b[1]}
			sum[0], sum[1] = sum[0]+came[i][0], sum[1]+came[i][1]
		}
		if n := uint64(len(f.all)); sent == n && sum == [2]uint64{n, n} {
			return came
		}
	}
	t.Fatalf("packets of %d flows come to replicas as %v", len(f.all), came)
	return came
}

// row2 is a firewall that drops nothing.
func row2(name string) string {
	return fmt.Sprintf("{name: %s, kind: firewall, runtime: inline, firewall: {rules: {list: [{protocol: udp, state: [established], action: accept}]}}}", name)
}

// isOne fails unless all passes of a step count the same.
func isOne(t *testing.T, p *plan.Plan) {
	t.Helper()
	for _, f := range p.Inline {
		for _, at := range []*plan.Taken{f.Forward, f.Reverse} {
			for _, id := range at.All() {
				least := taken(t, p, at)
				other := taken(t, p, &plan.Taken{Pass: id, Slot: at.Slot})
				if most := taken(t, p, at); other.Packets < least.Packets || other.Packets > most.Packets {
					t.Errorf("%s counted %d to %d, and by %s %d", f.Name, least.Packets, most.Packets, id, other.Packets)
				}
			}
		}
	}
}
