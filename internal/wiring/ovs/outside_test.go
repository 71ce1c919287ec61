package ovs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	made "nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/wiring/ovs"
)

// outside is a chain of one function whose ends are behind one port, and reach each other
// directly too.
func outside(change func(*ovs.Options)) wiring.Network {
	n := network(2, func(o *ovs.Options) { o.Per = "chain"; change(o) })
	direct := func(p wiring.Port, device, mac string) wiring.Port { p.Device, p.MAC = device, mac; return p }
	n.Outside = true
	n.Hops = append(n.Hops, wiring.Hop{A: direct(n.Hops[0].A, "ethd0", "02:00:00:00:00:d0"), B: direct(n.Hops[1].B, "ethd1", "02:00:00:00:00:d1"), Direct: true})
	return n
}

// TestOutside: the switch has one port for all interfaces of the ends, which are over its
// wire; what comes in there goes by whom it is for, and leaves there again where ends meet.
func TestOutside(t *testing.T) {
	n := outside(func(*ovs.Options) {})
	j := join(t, n)
	needsAreThere(t, j)
	s := of[made.SwitchSpec](j)[0]
	if len(s.Ports) != 3 {
		t.Fatalf("ports %+v", s.Ports)
	}
	card, west, east := s.Ports[0].Number, s.Ports[1].Number, s.Ports[2].Number
	want := []string{
		fmt.Sprintf("in_port=%d,dl_dst=%s actions=output:%d", card, n.Hops[0].B.MAC, west), fmt.Sprintf("in_port=%d actions=output:%d", west, card),
		fmt.Sprintf("in_port=%d,dl_dst=%s actions=output:%d", card, n.Hops[1].A.MAC, east), fmt.Sprintf("in_port=%d actions=output:%d", east, card),
		fmt.Sprintf("in_port=%d,dl_dst=02:00:00:00:00:d0 actions=IN_PORT", card), fmt.Sprintf("in_port=%d,dl_dst=02:00:00:00:00:d1 actions=IN_PORT", card),
	}
	if got := slices.Sorted(slices.Values(s.Flows)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("flows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var ends []string
	for _, m := range of[macvlan.Spec](j) {
		ends = append(ends, m.Node+":"+m.Device)
		if m.Parent.Device != "wire" || m.Mode != macvlan.VEPA {
			t.Errorf("%+v", m)
		}
	}
	if !slices.Equal(slices.Sorted(slices.Values(ends)), []string{"a:eth1", "a:ethd0", "c:eth0", "c:ethd1"}) {
		t.Errorf("ends %v", ends)
	}
	if !slices.Contains(j.Requires, feature.Macvlan) || j.Settings["ends"] == "" {
		t.Errorf("requires %v, settings %v", j.Requires, j.Settings)
	}
}

// TestOutsideInUserSpace computes checksums at the wire, over which the ends are, and nowhere
// where the kernel switches.
func TestOutsideInUserSpace(t *testing.T) {
	for datapath, want := range map[string]bool{"netdev": true, "system": false} {
		found := false
		for _, p := range of[made.PortSpec](join(t, outside(func(o *ovs.Options) { o.Datapath = datapath }))) {
			found = found || p.Device == "wire"
		}
		if found != want {
			t.Errorf("%s: %t", datapath, found)
		}
	}
}

// TestOutsideLearning: ends meet by a flow, since a switch that learns sends nothing back.
func TestOutsideLearning(t *testing.T) {
	flows := of[made.SwitchSpec](join(t, outside(func(o *ovs.Options) { o.Forwarding = "learning" })))[0].Flows
	if len(flows) != 3 || flows[2] != "priority=0 actions=NORMAL" || !strings.HasSuffix(flows[0], "IN_PORT") || !strings.HasSuffix(flows[1], "IN_PORT") {
		t.Errorf("%v", flows)
	}
}
