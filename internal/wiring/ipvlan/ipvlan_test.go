package ipvlan_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/macvlan"
	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/wiring/ipvlan"
)

func port(node, device, mac string) wiring.Port {
	return wiring.Port{Node: node, Namespace: "nfchain.edge." + node, Device: device, MAC: mac}
}

func network(hops ...wiring.Hop) wiring.Network {
	return wiring.Network{Owner: "edge", MTU: 1500, Node: "_wiring", Namespace: "nfchain.edge._wiring", Options: ipvlan.Wiring{}.Options(), Hops: hops}
}

// TestJoins: each end is over one end of the hop's pair, which has the address that is the
// node's own, and so that of the device.
func TestJoins(t *testing.T) {
	hop := wiring.Hop{A: port("client", "eth0", "02:00:00:00:00:0a"), B: port("server", "eth0", "02:00:00:00:00:0b"), Needs: []string{"namespace:client"}}
	beside := wiring.Hop{A: port("client", "eth1", "02:00:00:00:01:0a"), B: port("server", "eth1", "02:00:00:00:01:0b"), Direct: true}
	j, err := ipvlan.Wiring{}.Join(network(hop, beside))
	if err != nil || len(j.Ends) != 2 || len(j.Requires) != 2 || j.Requires[0] != feature.IPvlan {
		t.Fatalf("%+v, error %v", j, err)
	}
	macs, devices := map[string]string{}, map[string]macvlan.Spec{}
	for _, r := range j.Resources {
		switch s := r.Spec.(type) {
		case link.Spec:
			macs[s.A.Device], macs[s.B.Device] = s.A.MAC, s.B.MAC
		case macvlan.Spec:
			devices[r.ID] = s
		}
	}
	for i, h := range []wiring.Hop{hop, beside} {
		for id, p := range map[string]wiring.Port{j.Ends[i].A: h.A, j.Ends[i].B: h.B} {
			d := devices[id]
			if d.Node != p.Node || d.Device != p.Device || d.MAC != p.MAC || d.Mode != macvlan.L2 || macs[d.Parent.Device] != p.MAC || len(d.Parent.Device) > 15 {
				t.Errorf("%+v has %+v over one with %s", p, d, macs[d.Parent.Device])
			}
		}
	}
	if len(macs) != 4 || len(devices) != 4 {
		t.Errorf("%d ends of pairs, %d devices", len(macs), len(devices))
	}
}

// TestNothingBetween: a function would get nothing, and is refused.
func TestNothingBetween(t *testing.T) {
	hop := wiring.Hop{A: port("a", "eth0", "02:00:00:00:00:0a"), B: port("b", "eth0", "02:00:00:00:00:0b")}
	_, err := ipvlan.Wiring{}.Join(network(hop, hop, hop))
	if err == nil || !strings.Contains(err.Error(), "leave out the 2 there") || !strings.Contains(err.Error(), "macvlan") {
		t.Errorf("%v", err)
	}
}
