package plan_test

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/process"
)

// lab is a network of plugins, and attached the spec of a chain on it.
const (
	lab      = `{"cniVersion": "1.0.0", "name": "lab", "plugins": [{"type": "bridge"}]}`
	attached = "wiring: cni\ncni: {config: /lab.conflist}\n"
)

func labFacts() plan.Facts { return plan.Facts{Files: map[string]string{"/lab.conflist": lab}} }

// TestAttachedEnds are as others made them, and unknown before.
func TestAttachedEnds(t *testing.T) {
	chain := plantest.Chain(t, "edge", attached+"endpoints: [{name: client}, {name: server, command: {args: [sleep, inf]}}]\n")
	facts := labFacts()
	before, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(before.Server().West.Addresses); n != 0 || !before.Foreign() {
		t.Errorf("%d addresses before there is a network, foreign %t", n, before.Foreign())
	}
	if text := before.Text(); !strings.Contains(text, "eth0  [its addresses are the network's to give]") {
		t.Error(text)
	}
	at := netip.MustParseAddr("198.51.100.3")
	is := plan.Attached{Interface: plan.Interface{Device: "eth0", MAC: "02:00:00:00:00:03", Addresses: []netip.Addr{at}}, MTU: 1500}
	facts.Attached = map[string]plan.Attached{"nfchain.edge.client": is, "nfchain.edge.server": is}
	after, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := after.Reached().Addresses; len(got) != 1 || got[0] != at || after.Server().West.MAC != is.MAC {
		t.Errorf("reached at %v, by %s", got, after.Server().West.MAC)
	}
	// What is to be made does not follow from what was made.
	for i, r := range after.Resources {
		if before.Resources[i].ID != r.ID || before.Resources[i].Spec.Fingerprint() != r.Spec.Fingerprint() {
			t.Errorf("%s differs when addresses are known", r.ID)
		}
		if names, is := r.Spec.(container.Names); is && len(names.Hosts) > 0 {
			t.Errorf("a program knows names %v", names.Hosts)
		}
	}
}

// TestUnlike tells what of a network cannot be measured as the chain says.
func TestUnlike(t *testing.T) {
	p, err := plan.Make(plantest.Chain(t, "edge", attached), plantest.Catalogue(), labFacts(), plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := []netip.Addr{netip.MustParseAddr("198.51.100.3")}
	for want, is := range map[string]map[string]plan.Attached{
		"client: the network gave it no interface eth0":            {},
		"client: the network gave its interface eth0 no address":   {"nfchain.edge.client": {Interface: plan.Interface{Device: "eth0"}, MTU: 1500}},
		"an MTU of 1450, and the chain's is 1500, by which frames": {"nfchain.edge.client": {Interface: plan.Interface{Device: "eth0", Addresses: at}, MTU: 1450}},
		"server: the network gave it no interface eth0":            {"nfchain.edge.client": {Interface: plan.Interface{Device: "eth0", Addresses: at}, MTU: 1500}},
	} {
		if err := p.Unlike(is, 1500); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestAttachedRefuses what would need interfaces or addresses of the chain's own.
func TestAttachedRefuses(t *testing.T) {
	for spec, want := range map[string]string{
		"functions: [{name: a, kind: forward}]\n":                       "spec.functions: wiring cni",
		"outside: true\n":                                               "spec.outside",
		"everywhere: [{kind: firewall}]\n":                              "spec.everywhere",
		"tuning: {gro: false}\n":                                        "spec.tuning",
		"placement: {softirqs: {shared: 0}}\n":                          "spec.placement.softirqs",
		"addresses: {ipv4: 10.0.0.0/8}\n":                               "spec.addresses",
		"endpoints: [{name: a, namespace: left}, {name: b}]\n":          "spec.endpoints[0].namespace",
		"endpoints: [{name: a}, {name: b, interface: eth9}]\n":          "spec.endpoints[1].interface",
		"endpoints: [{name: a}, {name: b, addresses: [203.0.113.1]}]\n": "spec.endpoints[1].addresses",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", attached+spec), plantest.Catalogue(), labFacts(), plan.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
	if _, err := plan.Make(plantest.Chain(t, "edge", attached), plantest.Catalogue(), plan.Facts{}, plan.Options{}); err == nil {
		t.Error("a network of which nothing is known was planned")
	}
}

// TestEngine wants both ends in containers of one engine that has networks.
func TestEngine(t *testing.T) {
	for ends, want := range map[string]string{
		"[{name: a, runtime: docker}, {name: b, runtime: docker}]":         "",
		"[{name: a, runtime: podman}, {name: b, runtime: podman}]":         "",
		"[{name: a}, {name: b, runtime: docker}]":                          "",
		"[{name: a, namespace: left}, {name: b, runtime: docker}]":         "",
		"[{name: a, runtime: docker}, {name: b}]":                          "spec.endpoints[1].runtime: wiring engine is a network of containers",
		"[{name: a, runtime: docker}, {name: b, runtime: podman}]":         "spec.endpoints[1].runtime: wiring engine is a network of one engine",
		"[{name: a, runtime: containerd}, {name: b, runtime: containerd}]": "or wiring: cni",
	} {
		p, err := plan.Make(plantest.Chain(t, "edge", "wiring: engine\nendpoints: "+ends+"\n"), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", ends, err, want)
		}
		if err != nil {
			continue
		}
		// What its supervisor knows a container by is what it is made from, its network with the rest.
		for _, r := range p.Resources {
			s, is := r.Spec.(process.Spec)
			if is && !slices.ContainsFunc(p.Resources, func(r resource.Resource) bool {
				c, is := r.Spec.(container.Spec)
				return is && c.Fingerprint() == s.Container.Digest && strings.HasPrefix(c.Network, "nfchain.edge.")
			}) {
				t.Errorf("%s: the program of %s is of another container", ends, s.Node)
			}
		}
	}
}

// TestOnMachine plans a first end that is no container, and what reaches the second by an address that an engine translates.
func TestOnMachine(t *testing.T) {
	make := func(spec string, facts plan.Facts) (*plan.Plan, error) {
		return plan.Make(plantest.Chain(t, "edge", "wiring: engine\n"+spec), plantest.Catalogue(), facts, plan.Options{})
	}
	facts := plan.Facts{Attached: map[string]plan.Attached{
		"left":               {Interface: plan.Interface{Device: "wire", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}}, MTU: 1500},
		"nfchain.edge.b":     {Interface: plan.Interface{Device: "eth0", Addresses: []netip.Addr{netip.MustParseAddr("198.51.100.2"), netip.MustParseAddr("2001:db8::2")}}, MTU: 1500, Gateway: netip.MustParseAddr("198.51.100.1")},
		"nfchain.edge.other": {},
	}}
	p, err := make("engine: {publish: \"80,5201-5204\"}\nendpoints: [{name: a, namespace: left}, {name: b, runtime: docker}]\n", facts)
	if err != nil {
		t.Fatal(err)
	}
	if !p.OnMachine() || p.Bare() || p.Client().Made || p.Client().Namespace != "left" {
		t.Errorf("the first end is %+v", p.Client())
	}
	s := p.Reached()
	if len(s.Addresses) != 1 || s.Addresses[0].String() != "198.51.100.1" || s.FirstPort != 5201 || s.LastPort != 5204 || s.Protocol != "" || len(s.Source) != 1 || s.Source[0].String() != "192.0.2.1" {
		t.Errorf("reached at %+v", s)
	}
	for _, r := range p.Resources {
		if c, is := r.Spec.(container.Spec); is && (c.Node != "b" || c.Publish != "80,5201-5204") {
			t.Errorf("container %+v", c)
		}
	}
	if err := p.Unlike(facts.Attached, 1500); err != nil {
		t.Error(err)
	}
	// An internal network has no gateway, and its engine publishes nothing there.
	internal := maps.Clone(facts.Attached)
	b := internal["nfchain.edge.b"]
	b.Gateway = netip.Addr{}
	internal["nfchain.edge.b"] = b
	if err := p.Unlike(internal, 1500); err == nil || !strings.Contains(err.Error(), "b: the network gave it no gateway, as an internal one does, on which nothing is published") {
		t.Error(err)
	}
	// Nothing is published of what is reached at its own address.
	plain, err := make("endpoints: [{name: a, namespace: left}, {name: b, runtime: docker}]\n", facts)
	if err != nil || plain.Service != nil || plain.Reached().Addresses[0].String() != "198.51.100.2" {
		t.Errorf("%+v, %v", plain, err)
	}
	if err := errors.Join(plain.Unlike(facts.Attached, 1500), plain.Unlike(internal, 1500)); err != nil {
		t.Error(err)
	}
	delete(facts.Attached, "left")
	if err := plain.Unlike(facts.Attached, 1500); err == nil || !strings.Contains(err.Error(), "a: there is no way from there to b") {
		t.Error(err)
	}
	for spec, want := range map[string]string{
		"engine: {publish: \"80\"}\nendpoints: [{name: a, runtime: docker}, {name: b, runtime: docker}]\n": "spec.engine.publish: is for what is not on the network",
		"endpoints: [{name: a, command: {args: [sleep, inf]}}, {name: b, runtime: docker}]\n":              "spec.endpoints[0].command: wiring engine",
		"engine: {driver: macvlan}\nendpoints: [{name: a}, {name: b, runtime: docker}]\n":                  "does not send to what a network of driver macvlan",
		"endpoints: [{name: a, interface: eth9}, {name: b, runtime: docker}]\n":                            "spec.endpoints[0].interface",
		"endpoints: [{name: a, addresses: [203.0.113.1]}, {name: b, runtime: docker}]\n":                   "spec.endpoints[0].addresses",
	} {
		if _, err := make(spec, plan.Facts{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}

// TestHosted plans containers in the machine's own network: no namespace has their names, so that nothing which lives there is taken for theirs.
func TestHosted(t *testing.T) {
	make := func(spec string) (*plan.Plan, error) {
		return plan.Make(plantest.Chain(t, "edge", "wiring: engine\nengine: {driver: host}\n"+spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	}
	p, err := make("endpoints: [{name: a, runtime: docker}, {name: b, runtime: docker}]\n")
	if err != nil {
		t.Fatal(err)
	}
	if all := p.Namespaces(); len(all) > 0 || !p.OnMachine() || p.Bare() || p.Reached().Addresses[0].String() != "127.0.0.1" {
		t.Errorf("namespaces %v, reached at %v", all, p.Reached())
	}
	contained := map[string]bool{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case container.Spec:
			contained[s.Name] = s.Hosted()
		case process.Spec:
			if s.Netns != "" || s.Container == nil || s.Container.Name != "nfchain.edge."+s.Node {
				t.Errorf("program %+v", s)
			}
		default:
			t.Errorf("%s is made", r.ID)
		}
	}
	if len(contained) != 2 || !contained["nfchain.edge.a"] || !contained["nfchain.edge.b"] {
		t.Errorf("containers %v", contained)
	}
	if err := p.Unlike(nil, 1500); err != nil {
		t.Error(err)
	}
	for spec, want := range map[string]string{
		"mtu: 1400\nendpoints: [{name: a}, {name: b, runtime: docker}]\n":       "spec.mtu",
		"endpoints: [{name: a, namespace: left}, {name: b, runtime: docker}]\n": "spec.endpoints[0].namespace",
		"endpoints: [{name: a, runtime: docker}, {name: b}]\n":                  "spec.endpoints[1].runtime",
	} {
		if _, err := make(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", spec, err, want)
		}
	}
}
