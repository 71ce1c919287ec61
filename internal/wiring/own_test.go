package wiring_test

import (
	"net"
	"testing"

	"nfchain.dev/nfchain/internal/wiring"
)

// TestOwn: what a wiring has of its own never meets what another has.
func TestOwn(t *testing.T) {
	n := wiring.Network{Owner: "edge", Node: "_wiring", Namespace: "nfchain.edge._wiring"}
	other := n
	other.Owner = "web"
	seen := map[string]bool{}
	for _, end := range []struct{ n, mac string }{
		{"a", n.Own("a").MAC}, {"b", n.Own("b").MAC}, {"a of another", other.Own("a").MAC},
	} {
		mac, err := net.ParseMAC(end.mac)
		if err != nil || mac[0]&3 != 2 || seen[end.mac] {
			t.Errorf("%s has %s, error %v; seen before %t", end.n, end.mac, err, seen[end.mac])
		}
		seen[end.mac] = true
	}
	if first, again := n.Own("a"), n.Own("a"); first != again {
		t.Errorf("the same name gives %+v and %+v", first, again)
	}
}

// TestCalled: names fit, and no two ports of a chain share one.
func TestCalled(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range []wiring.Port{{Node: "a", Device: "eth0"}, {Node: "a", Device: "eth1"}, {Node: "b", Device: "eth0"}} {
		name := p.Called("1234567")
		if len(name) != 15 || seen[name] {
			t.Errorf("%+v is called %s", p, name)
		}
		seen[name] = true
	}
}
