package process

import (
	"net/netip"
	"slices"
	"testing"
)

// TestWords of what is watched are a line for each thing that is known of a node, so that a node more changes no other's.
func TestWords(t *testing.T) {
	probe := &Probe{FromMAC: "02:00:00:00:00:01", ToMAC: "02:00:00:00:00:02", From: netip.MustParseAddr("10.0.0.1"), To: netip.MustParseAddr("10.0.0.9")}
	p := Path{Forwarder: "nfchain.c._wiring", Nodes: []Watched{
		{Node: "client", East: "port0"},
		{Node: "fw-2", West: "port1", East: "port2", PastWest: "past1", PastEast: "past2", Of: "fw", Number: 2, Weight: 3, OnFailure: Bypass, Onward: []int{2}, Back: []int{0}, Label: 7,
			OneWay: true, Version: "0123456789abcdef", Programs: []string{"dnsmasq"}, Eastward: probe},
		{Node: "server", West: "port3"},
	}, Paths: []ServicePath{{Name: "fw", Number: 9, Nodes: []int{0, 1, 2}, Back: []int{2, 0}}}}
	want := []string{"forwarder nfchain.c._wiring", "client: port to the east port0",
		"fw-2: port to the west port1", "fw-2: port to the east port2", "fw-2: led past it from the west by past1", "fw-2: led past it from the east by past2", "fw-2: if it fails: bypass",
		"fw-2: what it is has the sum 0123456789abcdef", "fw-2: fails without dnsmasq", "fw-2: replica 2 of fw, weight 3", "fw-2: label 7", "fw-2: one way",
		"fw-2: probes eastward: from 10.0.0.1 (02:00:00:00:00:01) to 10.0.0.9 (02:00:00:00:00:02)", "fw-2: onward to server", "fw-2: back to client", "server: port to the west port3",
		"path fw (9): client, fw-2, server, back server, client"}
	if lines := p.Words(); !slices.Equal(lines, want) {
		t.Errorf("%q,\nwant %q", lines, want)
	}
}
