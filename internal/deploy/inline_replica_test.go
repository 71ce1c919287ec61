package deploy_test

import (
	"context"
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

// TestInlineBesideReplicasThatGo: where a function without a namespace is put in by the update that takes a replica out, no flow stays with
// that, of which it would see but one way.
func TestInlineBesideReplicasThatGo(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const wiring = "wiring: ebpf\nebpf: {idle: 10m}\n" // so that all flows are busy
	p := planned(t, owner, wiring+spec(replicas("a", 3)))
	up(t, p)
	to := addresses(p, p.Client().Name, p.Server().Name)[0]
	answeredBy(t, p, to, 64) // all by two of them once in 10^10 times
	if used(t, p, "a", 1) < 3 {
		t.Fatal("64 flows went by fewer than 3 replicas")
	}
	p = planned(t, owner, wiring+spec(replicas("a", 2), beside("behind")))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := &deploy.Deployer{Waits: func(flows int, _ time.Duration) {
		t.Errorf("%d flows stay with a replica that goes", flows)
		stop()
	}}
	if _, err := d.Up(ctx, p); err != nil {
		t.Fatal(err)
	}
	unchanged(t, p)
	had := decisions(t, p, "behind")
	sent, answered := answeredBy(t, p, to, 32)
	met(t, p, "behind", 32, sent, answered, had)
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
