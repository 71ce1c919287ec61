package steer_test

import (
	"maps"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// pastWays are ports with a node behind each: the first two send packets to x, and that to the replicas of web; or to those of log, where
// their flow is, and all come together at the last.
var pastWays = []string{"tell", "two", "x", "web1", "web2", "log1", "log2", "out"}

// pastOrder of the ports, where answers go back by the last.
var pastOrder = map[string]int{"tell": 0, "two": 0, "x": 1, "web1": 2, "web2": 2, "log1": 3, "log2": 3, "out": 4}

// The numbers of the functions.
const (
	numberX, numberWeb, numberLog, numberOut = 301, 302, 303, 304
)

// ofPast are the replicas of a function, behind these ports.
func ofPast(of string, ports ...string) steer.Among {
	a := steer.Among{Of: of, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
	for i, port := range ports {
		a.Replicas = append(a.Replicas, steer.Replica{Number: i + 1, Port: port, Weight: 1})
	}
	return a
}

// partedTo is what a port does that leads to x, or to log, with seats for these functions.
func partedTo(hook, device string, number uint32, among ...steer.Among) steer.Spec {
	ways := []steer.BranchWay{{Node: "x", Number: numberX, Port: "x"}, {Node: "log", Number: numberLog}}
	return steer.Spec{Device: device, To: "x", Hook: hook, Branch: &steer.Branch{Node: device, Number: number, Ways: ways, Among: among, Flows: 1 << 14}}
}

// newPastWays has such ports: both have a seat for each function, of another number.
func newPastWays(t testing.TB, hook string) (p *parter, tell, two steer.Spec) {
	web, log := ofPast("web", "web1", "web2"), ofPast("log", "log1", "log2")
	p = &parter{dealer: &dealer{forwarder: newForwarderOf(t, pastWays)}}
	for i := range pastWays {
		p.wires = append(p.wires, p.wire(t, i))
	}
	p.replicas = p.wires
	tell, two = partedTo(hook, "tell", 201, log, web), partedTo(hook, "two", 202, web, log)
	x := steer.Spec{Device: "x", Among: &web, Hook: hook}
	p.to(t, steer.Kind{}, []steer.Spec{tell, two, x})
	return p, tell, two
}

// failsAt has a port know that x fails, past which web is.
func (p *parter) failsAt(t testing.TB, device string) {
	t.Helper()
	p.port(t, device, func(port *steer.Port) error {
		web, is := port.Shared("web")
		if !is {
			t.Errorf("%s does not know web", device)
		}
		return port.SetNodes(map[uint32]steer.Node{
			numberX: {Port: uint32(p.index(t, "x")), Fails: steer.Past, Next: numberWeb}, numberWeb: {Port: web, Next: numberOut},
		})
	})
}

// TestLedPastToReplicas of the function behind it, the one that has their flow, whichever number that has at a port: also where another program comes to the
// port, or to another one, that did not know of it; and no more where nothing is known of these.
func TestLedPastToReplicas(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p, tell, two := newPastWays(t, hook)
		all := flows(0, 8)
		at := map[flow]int{}
		for _, f := range all {
			at[f] = p.sends(t, 2, 0, f.packet) // as x would send it on
		}
		if n := by(at); n[3] == 0 || n[4] == 0 || n[3]+n[4] != len(all) {
			t.Fatalf("flows by replica: %v", n)
		}
		goes := func(what string, from int, past bool) {
			t.Helper()
			now := map[flow]int{}
			for _, f := range all {
				now[f] = p.sends(t, from, 0, f.packet)
			}
			if want := at; past && !maps.Equal(now, want) {
				t.Errorf("%s, flows from %s go to %v, want %v", what, pastWays[from], now, want)
			} else if n := by(now); !past && n[2] != len(all) {
				t.Errorf("%s, flows from %s go to %v, want x", what, pastWays[from], n)
			}
		}
		goes("while all are well", 0, false)
		p.failsAt(t, "tell")
		goes("while x fails", 0, true)
		goes("where that is not known", 1, false)
		more := func(s steer.Spec) steer.Spec { // by another program
			b := *s.Branch
			b.Flows *= 2
			s.Branch = &b
			return s
		}
		p.turned(t, pastOrder, more(two))
		goes("by a program that did not know it", 1, true)
		p.port(t, "two", func(port *steer.Port) error {
			nodes, err := port.Nodes()
			if web, is := port.Shared("web"); !is || nodes[numberWeb].Port != web {
				t.Errorf("there web is %d, and is known as %+v", web, nodes)
			}
			return err
		})
		p.turned(t, pastOrder, more(tell))
		goes("by another program", 0, true)
		without := more(tell)
		without.Branch.Among = without.Branch.Among[:1]
		p.turned(t, pastOrder, without)
		p.to(t, steer.Kind{}, []steer.Spec{without})
		goes("where packets could be led past no other", 0, true)
		web := two.Branch.Among[0]
		line := steer.Spec{Device: "two", To: "x", Among: &web, Hook: hook}
		p.turned(t, pastOrder, line)
		goes("where no ways part", 1, true)
		p.port(t, "tell", func(port *steer.Port) error { return port.TurnBack() })
		goes("well again", 0, false)
		p.to(t, steer.Kind{}, []steer.Spec{without})
		p.port(t, "tell", func(port *steer.Port) error {
			if _, is := port.Shared("web"); is {
				t.Error("there is a seat for a function that packets do not come to")
			}
			return nil
		})
		p.turned(t, pastOrder, steer.Spec{Device: "tell", To: "x", Hook: hook})
		goes("by a program that knows no replicas", 0, false)
		p.turned(t, pastOrder, tell)
		goes("by what a port with replicas knows", 0, true)
	})
}

// TestDetourToGoneReplicas is none: packets go to what fails, where the function behind it is taken out.
func TestDetourToGoneReplicas(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p, tell, _ := newPastWays(t, hook)
		p.failsAt(t, "tell")
		order := maps.Clone(pastOrder)
		delete(order, "web1")
		delete(order, "web2")
		tell.Branch.Among = tell.Branch.Among[:1]
		p.turned(t, order, tell)
		if to := p.sends(t, 0, 0, flow{}.packet); to != 2 {
			t.Errorf("packets go to %s", pastWays[to])
		}
		p.to(t, steer.Kind{}, []steer.Spec{tell})
		p.port(t, "tell", func(port *steer.Port) error {
			nodes, err := port.Nodes()
			if _, is := port.Shared("web"); is || nodes[numberWeb].Port != 0 {
				t.Errorf("of what is gone is known %+v", nodes)
			}
			return err
		})
		if is, err := steer.Diverted(resource.At(p.Handle, p.Owner)); err != nil || is {
			t.Errorf("diverted %v, error %v", is, err)
		}
	})
}

// TestSeatBeginsWithReplicasThatFail, as another port says: those of a function to which packets are led past what fails, or by all a port's
// packets, also where they came to the replicas of another one.
func TestSeatBeginsWithReplicasThatFail(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p, tell, two := newPastWays(t, hook)
		log, web := tell.Branch.Among[0], tell.Branch.Among[1]
		keep := func(at string, a steer.Among, n int) {
			t.Helper()
			p.port(t, at, func(port *steer.Port) error {
				return port.SetFailing(a.Of, steer.Number(n), steer.SharesWithout(steer.Number(n), a.Replicas))
			})
		}
		p.failsAt(t, "tell")
		next := uint16(0)
		deals := func(what string, replica int) {
			t.Helper()
			all := flows(next, next+8)
			next += 8
			at := map[flow]int{}
			for _, f := range all {
				at[f] = p.sends(t, 1, 0, f.packet)
			}
			if n := by(at); n[replica] != len(all) {
				t.Errorf("%s, new flows by where they come to: %v, want all at %s", what, n, pastWays[replica])
			}
			p.port(t, "two", func(port *steer.Port) error {
				failing, err := port.Failing("web")
				if failing != steer.Number(1) {
					t.Errorf("%s, replicas %b are said to fail", what, failing)
				}
				return err
			})
		}
		p.turned(t, pastOrder, steer.Spec{Device: "two", To: "x", Hook: hook})
		keep("tell", web, 1)
		p.turned(t, pastOrder, two)
		deals("led past x", 4)
		p.turned(t, pastOrder, steer.Spec{Device: "two", To: "x", Hook: hook})
		line := steer.Spec{Device: "two", Among: &web, Hook: hook}
		p.turned(t, pastOrder, line)
		deals("by a line", 4)
		p.turned(t, pastOrder, steer.Spec{Device: "two", Among: &log, Hook: hook})
		keep("two", log, 2)
		p.turned(t, pastOrder, line)
		deals("by a line that led to others", 4)
	})
}
