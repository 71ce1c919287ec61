package macvlan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	made "nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/resource/redirect"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/wiring/macvlan"
)

// join a chain of nodes a, b, c ….
func join(t *testing.T, o macvlan.Options, nodes ...string) (wiring.Network, wiring.Joined) {
	t.Helper()
	n := wiring.Network{Owner: "edge", MTU: 1500, Node: "_wiring", Namespace: "nfchain.edge._wiring", Options: &o}
	for i := range nodes[1:] {
		n.Hops = append(n.Hops, wiring.Hop{A: port(nodes[i], "eth1"), B: port(nodes[i+1], "eth0"), Needs: []string{"namespace:" + nodes[i]}})
	}
	j, err := macvlan.Wiring{}.Join(n)
	if err != nil {
		t.Fatal(err)
	}
	return n, j
}

func port(node, device string) wiring.Port {
	return wiring.Port{Node: node, Namespace: "nfchain.edge." + node, Device: device, MAC: fmt.Sprintf("02:00:00:00:%02x:%s0", node[0], device[3:])}
}

// fabric of a chain: devices by the ID of what makes them, and the far end of each pair.
func fabric(j wiring.Joined) (devices map[string]made.Spec, far map[string]link.End) {
	devices, far = map[string]made.Spec{}, map[string]link.End{}
	for _, r := range j.Resources {
		switch s := r.Spec.(type) {
		case made.Spec:
			devices[r.ID] = s
		case link.Spec:
			far[s.A.Device], far[s.B.Device] = s.B, s.A
		}
	}
	return devices, far
}

// TestJoins: in mode bridge both devices of a hop are over one parent; in the others each
// has one end of the hop's pair, and with passthru its address.
func TestJoins(t *testing.T) {
	for _, mode := range []string{made.Bridge, made.Private, made.Passthru} {
		n, j := join(t, macvlan.Options{Mode: mode}, "a", "b", "c", "d")
		devices, far := fabric(j)
		if len(far) != 2*len(n.Hops) || len(devices) != 2*len(n.Hops) {
			t.Errorf("%s: %d ends of pairs, %d devices", mode, len(far), len(devices))
		}
		for i, h := range n.Hops {
			a, b := devices[j.Ends[i].A], devices[j.Ends[i].B]
			for _, side := range []struct {
				made made.Spec
				port wiring.Port
			}{{a, h.A}, {b, h.B}} {
				if side.made.Node != side.port.Node || side.made.Device != side.port.Device || side.made.MAC != side.port.MAC || side.made.Mode != mode {
					t.Errorf("%s: port %+v has %+v", mode, side.port, side.made)
				}
			}
			want := far[a.Parent.Device].Device
			if mode == made.Bridge {
				want = a.Parent.Device
			}
			if b.Parent.Device != want || a.Parent.Namespace != n.Namespace {
				t.Errorf("%s: hop %d is over %s and %s", mode, i, a.Parent.Device, b.Parent.Device)
			}
			for _, s := range []made.Spec{a, b} {
				end := far[far[s.Parent.Device].Device]
				if (end.MAC == s.MAC) != (mode == made.Passthru) || len(s.Parent.Device) > 15 {
					t.Errorf("%s: %s with %s is over %s with %s", mode, s.Device, s.MAC, s.Parent.Device, end.MAC)
				}
			}
		}
	}
}

// TestReflects: in mode vepa both devices of a hop are over one parent, and the far end of
// its pair sends back what it gets.
func TestReflects(t *testing.T) {
	n, j := join(t, macvlan.Options{Mode: made.VEPA}, "a", "b", "c")
	devices, far := fabric(j)
	reflects := map[string]bool{}
	for _, r := range j.Resources {
		if s, is := r.Spec.(redirect.Spec); is {
			reflects[s.Device] = s.To == s.Device && !s.Copy && r.Namespace == n.Namespace
		}
	}
	for _, ends := range j.Ends {
		a, b := devices[ends.A], devices[ends.B]
		if a.Parent != b.Parent || !reflects[far[a.Parent.Device].Device] || a.Mode != made.VEPA || b.Mode != made.VEPA {
			t.Errorf("%+v and %+v, reflecting: %v", a, b, reflects)
		}
	}
	if !slices.Contains(j.Requires, "tc.redirect") {
		t.Errorf("requires %v", j.Requires)
	}
}

// TestOverCard: everything is over the host's interface, and nothing else is made.
func TestOverCard(t *testing.T) {
	_, j := join(t, macvlan.Options{Mode: made.Bridge, Parent: "eth1"}, "a", "b", "c")
	if slices.ContainsFunc(j.Resources, func(r resource.Resource) bool { return r.Kind != made.KindName }) {
		t.Errorf("it makes more than devices: %+v", j.Resources)
	}
	for _, r := range j.Resources {
		if parent := r.Spec.(made.Spec).Parent; !parent.OfHost() || parent.Device != "eth1" {
			t.Errorf("%s is over %+v", r.ID, parent)
		}
	}
	if j.Settings["parent"] != "eth1" || slices.Contains(j.Requires, "veth") {
		t.Errorf("settings %v, requires %v", j.Settings, j.Requires)
	}
}

// TestEditsLeaveTheRest: a function more changes the hops at both its sides alone.
func TestEditsLeaveTheRest(t *testing.T) {
	_, before := join(t, macvlan.Options{Mode: made.Bridge}, "a", "b", "c", "d")
	_, after := join(t, macvlan.Options{Mode: made.Bridge}, "a", "b", "x", "c", "d")
	had := map[string]string{}
	for _, r := range before.Resources {
		had[r.ID] = r.Spec.Fingerprint()
	}
	var other []string
	for _, r := range after.Resources {
		if was, ok := had[r.ID]; ok && was != r.Spec.Fingerprint() {
			other = append(other, r.ID)
		}
	}
	if len(other) != 1 || !strings.Contains(other[0], ".c:eth0") {
		t.Errorf("changed: %v", other)
	}
}

// TestRefuses what cannot work over one interface.
func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		o    macvlan.Options
		says string
	}{
		{macvlan.Options{Mode: made.Private, Parent: "eth1"}, "keeps apart"},
		{macvlan.Options{Mode: made.Passthru, Parent: "eth1"}, "one device alone"},
		{macvlan.Options{Mode: made.Bridge, Parent: "eth1"}, ""},
		{macvlan.Options{Mode: made.Private}, ""},
		{macvlan.Options{Mode: made.VEPA, Parent: "eth1"}, ""},
		{macvlan.Options{Mode: made.Bridge, Parent: "a/b"}, "not the name of an interface"},
		{macvlan.Options{Mode: made.Bridge, Parent: "sixteen-letters-"}, "longer"},
	} {
		problems := c.o.Validate()
		if len(problems) == 0 && c.says == "" {
			continue
		}
		if len(problems) != 1 || c.says == "" || !strings.Contains(problems[0].Message, c.says) {
			t.Errorf("%+v: %v", c.o, problems)
		}
	}
}
