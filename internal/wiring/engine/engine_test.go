package engine_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/wiring"
	"nfchain.dev/nfchain/internal/wiring/engine"
)

// joined is what the wiring makes of two ends.
func joined(t *testing.T, owner string, o *engine.Options) wiring.Joined {
	t.Helper()
	n := wiring.Network{Owner: owner, MTU: 9000, Engine: "docker", Options: o, Hops: []wiring.Hop{{Needs: []string{"a", "b"}}}}
	j, err := engine.Wiring{}.Join(n)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// TestNetwork that is made for a chain has the chain's MTU, and another name when anything of it is another.
func TestNetwork(t *testing.T) {
	names := map[string]bool{}
	for _, o := range []*engine.Options{{}, {Driver: "macvlan"}, {Subnets: []string{"198.51.100.0/24"}}, {Options: map[string]string{"parent": "eth1"}}} {
		n := joined(t, "edge", o).Network
		if !n.Made() || n.Options["com.docker.network.driver.mtu"] != "9000" || names[n.Name] || !strings.HasPrefix(n.Name, "nfchain.edge.") {
			t.Errorf("%+v becomes %+v", o, n)
		}
		names[n.Name] = true
	}
	if a, b := joined(t, "edge", &engine.Options{}), joined(t, "edge", &engine.Options{Driver: "bridge"}); a.Network.Name != b.Network.Name {
		t.Errorf("the default is called %s, and written %s", a.Network.Name, b.Network.Name)
	}
	theirs := joined(t, "edge", &engine.Options{Network: "theirs"})
	if theirs.Network.Made() || theirs.Network.Name != "theirs" || theirs.Settings["network"] != "theirs" {
		t.Errorf("one that is there becomes %+v", theirs.Network)
	}
	own := joined(t, "edge", &engine.Options{Options: map[string]string{"com.docker.network.driver.mtu": "1400"}})
	if mtu := own.Network.Options["com.docker.network.driver.mtu"]; mtu != "1400" {
		t.Errorf("what the file says of the driver becomes %s", mtu)
	}
}

// TestOptions that contradict each other, or mean another wiring.
func TestOptions(t *testing.T) {
	for want, o := range map[string]engine.Options{
		"":                 {Driver: "macvlan", Subnets: []string{"198.51.100.0/24", "2001:db8::/64"}},
		"is there already": {Network: "theirs", Driver: "bridge"},
		"wiring: host":     {Network: "host"},
		"has no network":   {Driver: "null"},
		"is not a network": {Subnets: []string{"198.51.100.1/24"}},
		"of this family":   {Subnets: []string{"198.51.100.0/24", "203.0.113.0/24"}},
	} {
		wrong := o.Validate()
		if (len(wrong) == 0) != (want == "") || len(wrong) > 0 && !strings.Contains(wrong[0].Message, want) {
			t.Errorf("%+v: %v, want %q", o, wrong, want)
		}
	}
}
