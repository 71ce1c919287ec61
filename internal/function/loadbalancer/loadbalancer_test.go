package loadbalancer_test

import (
	"net/netip"
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/loadbalancer"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func options() *loadbalancer.Options {
	return (loadbalancer.Kind{}).Options().(*loadbalancer.Options)
}

func TestRefuses(t *testing.T) {
	for path, change := range map[string]func(*loadbalancer.Options){
		"":             func(*loadbalancer.Options) {},
		"addresses[1]": func(o *loadbalancer.Options) { o.Addresses = function.Addresses{"192.0.2.1", "192.0.2.2"} },
		"backends[0]":  func(o *loadbalancer.Options) { o.Backends = function.Addresses{"a"} },
		"backends[1]":  func(o *loadbalancer.Options) { o.Backends = function.Addresses{"192.0.2.1", "192.0.2.1"} },
		"backends":     func(o *loadbalancer.Options) { o.Backends = many(1001) },
		"by":           func(o *loadbalancer.Options) { o.By = "least" },
		"protocol":     func(o *loadbalancer.Options) { o.Port = "80" },
		"port":         func(o *loadbalancer.Options) { o.Protocol, o.Port = "tcp", "0" },
	} {
		o := options()
		change(o)
		if found := o.Validate(); path == "" && len(found) > 0 || path != "" && (len(found) != 1 || found[0].Path != path) {
			t.Errorf("%q: %v", path, found)
		}
	}
}

func many(n int) (list function.Addresses) {
	a := netip.MustParseAddr("10.0.0.1")
	for range n {
		list, a = append(list, a.String()), a.Next()
	}
	return list
}

func site() function.Site {
	list := func(words ...string) []netip.Addr { return function.Addresses(words).Parse() }
	return function.Site{Namespace: "ns", West: "eth0", East: "eth1", WestAddresses: list("192.0.2.1", "2001:db8::1"),
		EastAddresses: list("192.0.2.2", "2001:db8::2"), Target: list("192.0.2.9", "2001:db8::9"), Further: list("203.0.113.1", "203.0.113.2")}
}

// TestRules part what is left by turns, or all by hash, and leave nothing out.
func TestRules(t *testing.T) {
	for by, want := range map[string][]ruleset.Match{
		"round-robin": {{OneIn: 3}, {OneIn: 2}, {}, {}},
		"hash":        {{Share: ruleset.Share{Of: 3}}, {Share: ruleset.Share{Part: 1, Of: 3}}, {}, {}},
	} {
		o := options()
		o.By = by
		made, err := (loadbalancer.Kind{}).Contribute(site(), o)
		if err != nil {
			t.Fatal(err)
		}
		rules := made[0].Spec.(ruleset.Spec).Rules
		var to []string
		for i, r := range rules {
			to = append(to, r.Translate.Address.String())
			if i >= len(want) || r.OneIn != want[i].OneIn || r.Share != want[i].Share || !r.Counted || r.InputDevice != "eth0" {
				t.Errorf("%s: rule %d is %+v", by, i, r)
			}
		}
		if !slices.Equal(to, []string{"192.0.2.9", "203.0.113.1", "203.0.113.2", "2001:db8::9"}) {
			t.Error(to)
		}
	}
}

// TestGiven back ends are taken as they are; a family without any is left alone.
func TestGiven(t *testing.T) {
	o := options()
	o.Backends, o.Addresses = function.Addresses{"198.51.100.7"}, function.Addresses{"203.0.113.80", "2001:db8::80"}
	s := site()
	s.Direction = api.Reverse
	made, err := (loadbalancer.Kind{}).Contribute(s, o)
	if err != nil {
		t.Fatal(err)
	}
	rules := made[0].Spec.(ruleset.Spec).Rules
	if len(rules) != 1 || rules[0].InputDevice != "eth1" || rules[0].Destination.Addr().String() != "203.0.113.80" {
		t.Errorf("%+v", rules)
	}
	o.Addresses = function.Addresses{"2001:db8::80"}
	if _, err := (loadbalancer.Kind{}).Contribute(site(), o); err == nil {
		t.Error("no back end is of the family")
	}
	if _, err := (loadbalancer.Kind{}).Contribute(function.Site{}, o); err == nil {
		t.Error("it stands alone")
	}
}
