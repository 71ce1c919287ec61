package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
)

const bare = "wiring: host\n"

// TestBareMakesNothing: both ends are the host's loopback, in the families of the chain.
func TestBareMakesNothing(t *testing.T) {
	for spec, want := range map[string][]string{
		bare:                               {"127.0.0.1", "::1"},
		bare + "addresses: {ipv4: none}\n": {"::1"},
		bare + "addresses: {ipv6: none}\n": {"127.0.0.1"},
	} {
		p := made(t, spec, plan.Facts{}, plan.Options{})
		if !p.Bare() || len(p.Resources)+len(p.Blocks)+len(p.Namespaces())+len(p.Requires) > 0 {
			t.Errorf("%q makes %+v", spec, p)
		}
		for _, n := range []plan.Node{p.Client(), p.Server()} {
			if n.Namespace != "" || n.Made {
				t.Errorf("%s is in %q", n.Name, n.Namespace)
			}
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
	if made(t, "functions: []\n", plan.Facts{}, plan.Options{}).Bare() {
		t.Error("a chain of veth pairs is bare")
	}
}

// TestBareRefuses what the host alone has no place for, by the field's name.
func TestBareRefuses(t *testing.T) {
	for field, spec := range map[string]string{
		"spec.functions":              "functions: [{name: a, kind: forward}]\n",
		"spec.everywhere":             "everywhere: [{kind: shaper, shaper: {rate: 1Gbit}}]\n",
		"spec.outside":                "outside: true\n",
		"spec.tuning":                 "tuning: {gro: false}\n",
		"spec.mtu":                    "mtu: 9000\n",
		"spec.addresses.ipv4":         "addresses: {ipv4: 10.9.0.0/16}\n",
		"spec.addresses.ipv6":         "addresses: {ipv6: \"fd00::/48\"}\n",
		"spec.endpoints[1].namespace": "endpoints: [{name: l}, {name: r, namespace: right}]\n",
		"spec.endpoints[0].interface": "endpoints: [{name: l, interface: eth0}, {name: r}]\n",
		"spec.endpoints[1].runtime":   "endpoints: [{name: l}, {name: r, runtime: docker, container: {image: x}}]\n",
		"spec.endpoints[0].addresses": "endpoints: [{name: l, addresses: [203.0.113.1]}, {name: r}]\n",
	} {
		refuses(t, field, bare+spec, plan.Options{})
	}
	refuses(t, "direct", bare, plan.Options{Direct: true})
}

func refuses(t *testing.T, field, spec string, o plan.Options) {
	t.Helper()
	_, err := plan.Make(plantest.Chain(t, "edge", spec), plantest.Catalogue(), plan.Facts{}, o)
	if err == nil || !strings.Contains(err.Error(), ": "+field+": wiring host ") {
		t.Errorf("%q: %v, want a refusal of %s", spec, err, field)
	}
}
