package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

const within = "wiring: pod\n"

// TestWithin: both ends are in one namespace, and reach each other at its loopback, in the families of the chain.
func TestWithin(t *testing.T) {
	for spec, want := range map[string][]string{
		within:                               {"127.0.0.1", "::1"},
		within + "addresses: {ipv4: none}\n": {"::1"},
		within + "addresses: {ipv6: none}\n": {"127.0.0.1"},
	} {
		p := made(t, spec, plan.Facts{}, plan.Options{})
		var of []string
		for _, r := range p.Resources {
			if s, is := r.Spec.(namespace.Spec); is {
				of = append(of, s.Name+"="+s.Of)
				set := slices.ContainsFunc(s.Sysctls, func(c namespace.Sysctl) bool { return strings.HasPrefix(c.Path, "net/ipv6/") })
				if set != slices.Contains(want, "::1") {
					t.Errorf("%q: IPv6 of the namespace is %v", spec, s.Sysctls)
				}
			}
		}
		if !p.Within() || p.Bare() || p.Foreign() || len(p.Blocks) > 0 || !slices.Equal(of, []string{"nfchain.edge.client=", "nfchain.edge.server=nfchain.edge.client"}) {
			t.Errorf("%q makes namespaces %v and blocks %v", spec, of, p.Blocks)
		}
		var got []string
		for _, h := range p.Hosts("client") {
			if h.Name == "server" {
				got = append(got, h.Address.String())
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", spec, got, want)
		}
	}
	if made(t, "functions: []\n", plan.Facts{}, plan.Options{}).Within() {
		t.Error("a chain of veth pairs is within one namespace")
	}
}

// TestTakesFunctions is no for wirings that have two ends alone.
func TestTakesFunctions(t *testing.T) {
	without := []string{"cni", "engine", "host", "ipvlan", "pod"}
	for name := range plantest.Catalogue().Wirings {
		if plantest.Catalogue().TakesFunctions(name) == slices.Contains(without, name) {
			t.Errorf("wiring %s: want functions %t", name, !slices.Contains(without, name))
		}
	}
}

// TestWithinContainers: the second end's container is in the network namespace of the first one's, and is made after it.
func TestWithinContainers(t *testing.T) {
	p := made(t, within+"endpoints: [{name: client, runtime: docker}, {name: server, runtime: docker}]\n", plan.Facts{}, plan.Options{})
	beside := map[string]string{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case container.Spec:
			beside[s.Node] = s.Beside
			if s.Node == "server" && !slices.Contains(r.Needs, "container:nfchain.edge.client") {
				t.Errorf("the server's needs %v", r.Needs)
			}
		case namespace.Spec:
			if !s.Contained || s.Of != "" {
				t.Errorf("namespace %+v", s)
			}
		}
	}
	if len(beside) != 2 || beside["client"] != "" || beside["server"] != "nfchain.edge.client" {
		t.Errorf("beside %v", beside)
	}
}

// TestWithinRefuses what a namespace alone has no place for, by the field's name.
func TestWithinRefuses(t *testing.T) {
	for field, spec := range map[string]string{
		"spec.functions":              "functions: [{name: a, kind: forward}]\n",
		"spec.everywhere":             "everywhere: [{kind: shaper, shaper: {rate: 1Gbit}}]\n",
		"spec.outside":                "outside: true\n",
		"spec.tuning":                 "tuning: {gro: false}\n",
		"spec.placement.softirqs":     "placement: {softirqs: {shared: 0}}\n",
		"spec.mtu":                    "mtu: 9000\n",
		"spec.addresses.ipv4":         "addresses: {ipv4: 10.9.0.0/16}\n",
		"spec.endpoints[1].namespace": "endpoints: [{name: l}, {name: r, namespace: right}]\n",
		"spec.endpoints[0].interface": "endpoints: [{name: l, interface: eth0}, {name: r}]\n",
		"spec.endpoints[0].addresses": "endpoints: [{name: l, addresses: [203.0.113.1]}, {name: r}]\n",
		"spec.endpoints[1].runtime":   "endpoints: [{name: l, runtime: docker}, {name: r}]\n",
		"spec.endpoints[0].runtime":   "endpoints: [{name: l, runtime: cni}, {name: r}]\n",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", within+spec), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), ": "+field+": wiring pod ") {
			t.Errorf("%q: %v, want a refusal of %s", spec, err, field)
		}
	}
	for ends, field := range map[string]string{
		"{name: l, runtime: lxc}, {name: r, runtime: lxc}":    "spec.endpoints[0].runtime",
		"{name: l, runtime: docker}, {name: r, runtime: lxc}": "spec.endpoints[1].runtime",
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", within+"endpoints: ["+ends+"]\n"), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), field+": wiring pod ") || !strings.Contains(err.Error(), "lxc gives each container its own") {
			t.Errorf("%s: error %v", ends, err)
		}
	}
	if _, err := plan.Make(plantest.Chain(t, "edge", within), plantest.Catalogue(), plan.Facts{}, plan.Options{Direct: true}); err == nil {
		t.Error("there is a direct path beside it")
	}
}
