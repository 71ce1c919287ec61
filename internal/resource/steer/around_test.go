package steer_test

import (
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// turned are ports, where the chain's order is to be this.
func (f *forwarder) turned(t testing.TB, order map[string]int, specs ...steer.Spec) {
	t.Helper()
	var changes []resource.Change
	for _, s := range specs {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	f.Place = resource.At(f.Handle, f.Owner)
	if err := (steer.Kind{Leave: true, Turn: &steer.Turn{AtOnce: true}, Order: order}).Apply(f.Place, changes); err != nil {
		t.Fatal(err)
	}
}

// sides are ports of two functions between two ends, of which the order is told.
var sides = []string{"client", "xw", "xe", "yw", "ye", "server"}

func orderOf(x, y int) map[string]int {
	return map[string]int{"client": 0, "xw": x, "xe": -x, "yw": y, "ye": -y, "server": 3}
}

// side is what a port does by which packets go to one of these: plainly, or as where ways part.
func side(hook string, parts bool, device, to string) steer.Spec {
	s := steer.Spec{Device: device, To: to, Hook: hook}
	nodes := map[string]uint32{"client": 100, "xw": 101, "xe": 101, "yw": 102, "ye": 102, "server": 103}
	if parts {
		s.Branch = &steer.Branch{Node: device, Number: nodes[device], Ways: []steer.BranchWay{{Node: to, Number: nodes[to], Port: to}}, Flows: 1 << 12}
	}
	return s
}

// around has a port know that the first function fails, past which the second one is.
func (f *forwarder) around(t testing.TB, parts bool, at, failing, past string) {
	t.Helper()
	f.port(t, at, func(p *steer.Port) error {
		if !parts {
			return p.SetInstead(uint32(f.index(t, past)))
		}
		return p.SetNodes(map[uint32]steer.Node{
			101: {Port: uint32(f.index(t, failing)), Fails: steer.Past, Next: 102}, 102: {Port: uint32(f.index(t, past)), Next: 103}, 103: {Port: uint32(f.index(t, "server"))},
		})
	})
}

// leads past what fails, from each of some ports; and none from others.
func (f *forwarder) leads(t testing.TB, what string, parts bool, past map[string]bool) {
	t.Helper()
	for port, want := range past {
		f.port(t, port, func(p *steer.Port) error {
			to, err := p.Instead()
			is := to != 0
			if parts && is {
				nodes, err := p.Nodes()
				if is = nodes[101].Fails != steer.Well; err != nil {
					return err
				}
			}
			if is != want {
				t.Errorf("%s: %s leads past what fails: %v, want %v", what, port, is, want)
			}
			return err
		})
	}
}

// TestNoneIsLedBack: where a function that fails changes places with the one behind it, or that comes to be before those from which
// packets are led there, they are led past it no more: they would go round.
func TestNoneIsLedBack(t *testing.T) {
	nstest.Require(t, feature.Root)
	onHooks(t, func(t *testing.T, hook string) {
		for kind, parts := range map[string]bool{"plain": false, "where ways part": true} {
			t.Run(kind, func(t *testing.T) {
				f := newForwarderOf(t, sides)
				s := func(device, to string) steer.Spec { return side(hook, parts, device, to) }
				for _, one := range []steer.Spec{s("client", "xw"), s("xe", "yw"), s("ye", "server")} {
					f.apply(t, resource.Create, one)
				}
				f.around(t, parts, "client", "xw", "yw")
				f.turned(t, orderOf(1, 2), s("ye", "xw"))
				f.leads(t, "turned to one before it, which fails", parts, map[string]bool{"client": true, "ye": false})
				f.turned(t, orderOf(2, 1), s("xe", "server"), s("ye", "xw"), s("client", "yw"))
				f.leads(t, "when they change places", parts, map[string]bool{"client": parts, "ye": false, "xe": false})
				f.turned(t, orderOf(1, 2), s("ye", "server"), s("xe", "yw"), s("client", "xw"))
				f.around(t, parts, "client", "xw", "yw")
				f.turned(t, map[string]int{"yw": 1, "ye": -1, "client": -2, "xw": 3, "server": 4}, s("ye", "server"))
				f.leads(t, "when the one behind it comes before", parts, map[string]bool{"client": false})
			})
		}
	})
}

// TestDetourOutlivesItsNode: a plain port that leads past a function which fails does so when that is made anew, and no more when it
// leads elsewhere.
func TestDetourOutlivesItsNode(t *testing.T) {
	nstest.Require(t, feature.Root)
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarderOf(t, sides)
		f.apply(t, resource.Create, side(hook, false, "client", "xw"))
		f.around(t, false, "client", "xw", "yw")
		if err := f.LinkDel(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "xw", Index: f.index(t, "xw")}}); err != nil {
			t.Fatal(err)
		}
		if err := f.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "xw"}, PeerName: "far"}); err != nil {
			t.Fatal(err)
		}
		f.turned(t, orderOf(1, 2), side(hook, false, "client", "xw"))
		f.leads(t, "made anew", false, map[string]bool{"client": true})
		f.turned(t, orderOf(1, 2), side(hook, false, "client", "ye"))
		f.leads(t, "led elsewhere", false, map[string]bool{"client": false})
	})
}

// TestDetoursKeepToTheirPorts: what stands for a node of which only the port is known is of one port alone, and what a port was told
// stays as it is when another program comes there.
func TestDetoursKeepToTheirPorts(t *testing.T) {
	nstest.Require(t, feature.Root)
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarderOf(t, sides)
		order := orderOf(1, 2)
		for _, one := range []steer.Spec{side(hook, false, "client", "xw"), side(hook, false, "xe", "yw")} {
			f.apply(t, resource.Create, one)
		}
		f.around(t, false, "client", "xw", "yw")
		f.around(t, false, "xe", "yw", "server")
		both := []steer.Spec{side(hook, true, "client", "xw"), side(hook, true, "xe", "yw")}
		f.turned(t, order, both...)
		for i := range 3 {
			for _, one := range both {
				one.Branch.Flows = uint32(1 << (13 + i)) // by other programs
				f.turned(t, order, one)
			}
			for port, past := range map[string]string{"client": "yw", "xe": "server"} {
				f.port(t, port, func(p *steer.Port) error {
					nodes, err := p.Nodes()
					var to uint32
					for number, n := range nodes {
						if (number == 101) == (port == "client") && n.Fails == steer.Past {
							to = nodes[n.Next].Port
						}
					}
					if want := uint32(f.index(t, past)); to != want {
						t.Errorf("%s leads past what fails to %d, want %d: %+v", port, to, want, nodes)
					}
					return err
				})
			}
		}
	})
}
