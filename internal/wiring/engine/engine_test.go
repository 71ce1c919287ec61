package engine_test

import (
	"slices"
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

// TestPublished ports are of a network that is a bridge, to what is not on it.
func TestPublished(t *testing.T) {
	join := func(driver string, o *engine.Options, needs ...string) (wiring.Joined, error) {
		return engine.Wiring{}.Join(wiring.Network{Owner: "edge", MTU: 1500, Engine: "docker", Driver: driver, Options: o, Hops: []wiring.Hop{{Needs: needs}}})
	}
	j, err := join("", &engine.Options{Publish: "5201-5204,80"}, "b")
	if err != nil || j.Ends[0] != (wiring.Ends{B: "b"}) || j.Settings["published"] != "5201-5204,80" {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := join("bridge", &engine.Options{Network: "theirs", Publish: "80"}, "b"); err != nil {
		t.Error(err)
	}
	for want, of := range map[string]struct {
		driver string
		o      engine.Options
	}{
		"network theirs is of driver macvlan": {"macvlan", engine.Options{Network: "theirs", Publish: "80"}},
		"does not send to":                    {"", engine.Options{Driver: "macvlan"}},
		"of driver ipvlan has over":           {"ipvlan", engine.Options{Network: "theirs"}},
	} {
		if _, err := join(of.driver, &of.o, "b"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", of, err, want)
		}
	}
}

// TestHosted containers have the engine's own network of that name, of which nothing is made, and need nothing of it.
func TestHosted(t *testing.T) {
	for _, o := range []*engine.Options{{Driver: "host"}, {Network: "host"}} {
		if wrong := o.Validate(); len(wrong) > 0 {
			t.Errorf("%+v: %v", o, wrong)
		}
		j, err := engine.Wiring{}.Join(wiring.Network{Owner: "edge", Engine: "docker", Options: o, Hops: []wiring.Hop{{}}})
		if err != nil || j.Network.Made() || j.Network.Name != "host" || len(j.Requires) > 0 || j.Ends[0] != (wiring.Ends{}) || !(engine.Wiring{}).Hosted(o) {
			t.Errorf("%+v: %+v, %v", o, j, err)
		}
	}
}

// TestDriversNeed what they make devices of. Over no interface of the machine's Docker makes one that leads nowhere.
func TestDriversNeed(t *testing.T) {
	for _, of := range []struct {
		engine string
		o      engine.Options
		want   []string
	}{
		{"docker", engine.Options{}, nil},
		{"docker", engine.Options{Driver: "macvlan"}, []string{"macvlan", "dummy"}},
		{"docker", engine.Options{Driver: "ipvlan", Options: map[string]string{"parent": "eth1"}}, []string{"ipvlan"}},
		{"podman", engine.Options{Driver: "macvlan"}, []string{"macvlan"}},
	} {
		j, err := engine.Wiring{}.Join(wiring.Network{Owner: "edge", Engine: of.engine, Options: &of.o, Hops: []wiring.Hop{{Needs: []string{"a", "b"}}}})
		if err != nil || !slices.Equal(j.Requires, of.want) {
			t.Errorf("%+v of %s needs %v, %v", of.o, of.engine, j.Requires, err)
		}
	}
}

// TestOptions that contradict each other, or mean another wiring.
func TestOptions(t *testing.T) {
	for want, o := range map[string]engine.Options{
		"":                  {Driver: "macvlan", Subnets: []string{"198.51.100.0/24", "2001:db8::/64"}},
		"is there already":  {Network: "theirs", Driver: "bridge"},
		"nothing published": {Driver: "host", Publish: "80"},
		"has no network":    {Driver: "null"},
		"is not a network":  {Subnets: []string{"198.51.100.1/24"}},
		"is not a port":     {Publish: "http"},
		"port 82 twice":     {Publish: "90,80-85,82"},
		"port 80 twice":     {Publish: "80,80"},
		"are 65 ports":      {Publish: "1-64,80"},
		"is for a bridge":   {Driver: "macvlan", Publish: "80"},
		"of this family":    {Subnets: []string{"198.51.100.0/24", "203.0.113.0/24"}},
	} {
		wrong := o.Validate()
		if (len(wrong) == 0) != (want == "") || len(wrong) > 0 && !strings.Contains(wrong[0].Message, want) {
			t.Errorf("%+v: %v, want %q", o, wrong, want)
		}
	}
	if wrong := (&engine.Options{Driver: "bridge", Publish: "80,5201-5263"}).Validate(); len(wrong) > 0 {
		t.Errorf("64 ports of a bridge: %v", wrong)
	}
}
