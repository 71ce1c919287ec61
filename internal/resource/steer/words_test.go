package steer

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
)

var _ resource.Worded = Spec{}

// TestWords of a port are a line for each rule, path, way and replica.
func TestWords(t *testing.T) {
	idle := api.Duration(time.Minute)
	choice := &Choice{Rules: []Rule{
		{Name: "web", Path: "a b", Protocol: "tcp", DestinationPorts: []api.PortRange{{First: 443, Last: 443}}},
		{Name: "far", Path: "b", Sources: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}},
	}, Drop: true}
	other := ""
	for _, c := range []struct {
		of   Spec
		want []string
	}{
		{Spec{To: "port1", Hook: TCX}, []string{"to port1", "at tcx"}},
		{Spec{Hook: TCX, Paths: &Paths{Choice: choice, End: FirstEnd, Flows: 8, Idle: idle, Ways: []Way{{Path: "a b", Number: 3, Port: "port1"}, {Path: "b", Number: 4, Of: "b"}},
			Among: []Among{{Of: "b", Replicas: []Replica{{Number: 1, Port: "port2", Weight: 1}, {Number: 2, Port: "port3", Weight: 3}}, Flows: 16, Idle: idle}}}},
			[]string{"rule web: tcp port 443: a → b", "rule far: from 192.0.2.0/24: b", "otherwise: drop", "path a → b: to port1", "path b: to the replicas of b", "8 flows known at once, idle after 1m0s",
				"replica 1 of b: to port2, weight 1", "replica 2 of b: to port3, weight 3", "b: 16 flows known at once, idle after 1m0s", "at tcx"}},
		{Spec{Hook: Clsact, Paths: &Paths{Usual: "a b", Other: &other, Learns: true, Flows: 1, Idle: idle, Ways: []Way{{Number: 3, Behind: true}}}},
			[]string{"flows that are on no path that leads on: a → b", "packets without a flow: direct", "the function before translates addresses", "path direct: to the program behind", "1 flow known at once, idle after 1m0s", "at clsact"}},
		{Spec{To: "port1", Hook: TCX, Branch: &Branch{Node: "a", Number: 5, Flows: 8, Ways: []BranchWay{{Node: "b", Number: 6, Port: "port1", Joint: true}, {Node: "c", Number: 7}}}},
			[]string{"to port1", "from a by labels, 8 flows known at once", "way to b: to port1, where others lead too", "way to c", "at tcx"}},
	} {
		if lines := c.of.Words(); !slices.Equal(lines, c.want) {
			t.Errorf("%q, want %q", lines, c.want)
		}
	}
}
