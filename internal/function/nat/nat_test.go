package nat_test

import (
	"net/netip"
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/nat"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func TestRefuses(t *testing.T) {
	source := func(s nat.Source) nat.Options { return nat.Options{Source: &s} }
	destination := func(d nat.Destination) nat.Options { return nat.Options{Destination: &d} }
	for path, wrong := range map[string][]nat.Options{
		"": {{}},
		"source.addresses[0]": {source(nat.Source{Addresses: function.Addresses{"x"}}), source(nat.Source{Addresses: function.Addresses{"127.0.0.1"}}),
			source(nat.Source{Addresses: function.Addresses{"fe80::1"}}), source(nat.Source{Addresses: function.Addresses{"192.0.2.0/24"}})},
		"source.addresses[1]":      {source(nat.Source{Addresses: function.Addresses{"192.0.2.1", "192.0.2.2"}})},
		"source.addresses":         {source(nat.Source{Masquerade: true, Addresses: function.Addresses{"192.0.2.1"}})},
		"destination.addresses[0]": {destination(nat.Destination{Addresses: function.Addresses{"224.0.0.1"}})},
		"destination.to[0]":        {destination(nat.Destination{To: function.Addresses{"::"}})},
		"destination.protocol":     {destination(nat.Destination{Port: "80"}), destination(nat.Destination{Protocol: "gre"})},
		"destination.port":         {destination(nat.Destination{Protocol: "tcp", Port: "http"})},
		"destination.to_port":      {destination(nat.Destination{Protocol: "tcp", ToPort: 80}), destination(nat.Destination{Protocol: "tcp", Port: "80-90", ToPort: 80})},
	} {
		for i, o := range wrong {
			if found := o.Validate(); len(found) != 1 || found[0].Path != path {
				t.Errorf("%q %d: %v", path, i, found)
			}
		}
	}
	for _, o := range []nat.Options{source(nat.Source{}), source(nat.Source{Masquerade: true}), destination(nat.Destination{}),
		destination(nat.Destination{Addresses: function.Addresses{"192.0.2.1", "2001:db8::1"}, Protocol: "udp", Port: "53", ToPort: 5353})} {
		if found := o.Validate(); len(found) != 0 {
			t.Errorf("%+v: %v", o, found)
		}
	}
}

func site(direction api.Direction) function.Site {
	list := func(words ...string) []netip.Addr { return function.Addresses(words).Parse() }
	s := function.Site{Namespace: "ns", West: "eth0", East: "eth1", Direction: direction,
		WestAddresses: list("192.0.2.1", "2001:db8::1"), EastAddresses: list("192.0.2.2", "2001:db8::2"), Target: list("192.0.2.9", "2001:db8::9")}
	return s
}

// TestDirections: connections come in by one side and leave by the other, and its own
// addresses are those of these sides.
func TestDirections(t *testing.T) {
	o := &nat.Options{Source: &nat.Source{}, Destination: &nat.Destination{Protocol: "tcp", Port: "80", ToPort: 8080}}
	for direction, want := range map[api.Direction][4]string{
		api.Both: {"eth0", "eth1", "192.0.2.1", "192.0.2.2"}, api.Forward: {"eth0", "eth1", "192.0.2.1", "192.0.2.2"},
		api.Reverse: {"eth1", "eth0", "192.0.2.2", "192.0.2.1"},
	} {
		made, err := (nat.Kind{}).Contribute(site(direction), o)
		if err != nil || len(made) != 2 {
			t.Fatal(made, err)
		}
		in, out := made[0].Spec.(ruleset.Spec), made[1].Spec.(ruleset.Spec)
		if !in.Translates || in.Hook != "prerouting" || out.Hook != "postrouting" || len(in.Rules) != 2 || len(out.Rules) != 2 {
			t.Errorf("%+v %+v", in, out)
		}
		i, o := in.Rules[0], out.Rules[0]
		got := [4]string{i.InputDevice, o.OutputDevice, i.Destination.Addr().String(), o.Translate.Address.String()}
		if got != want || i.Translate.Address.String() != "192.0.2.9" || i.Translate.Port != 8080 || i.DestinationPorts.First != 80 {
			t.Errorf("%s: %v, want %v", direction, got, want)
		}
	}
	if _, err := (nat.Kind{}).Contribute(function.Site{}, o); err == nil {
		t.Error("it stands alone")
	}
}

// TestOneFamily leaves the other as it is.
func TestOneFamily(t *testing.T) {
	o := &nat.Options{Source: &nat.Source{Addresses: function.Addresses{"203.0.113.1"}}, Destination: &nat.Destination{Addresses: function.Addresses{"2001:db8:1::1"}}}
	got := (nat.Kind{}).Translates(site(api.Both), o)
	if !slices.Equal(got.Source, function.Addresses{"203.0.113.1"}.Parse()) || !slices.Equal(got.Service, function.Addresses{"2001:db8:1::1"}.Parse()) ||
		!slices.Equal(got.Served, function.Addresses{"2001:db8::9"}.Parse()) {
		t.Errorf("%+v", got)
	}
}
