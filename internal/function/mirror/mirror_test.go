package mirror_test

import (
	"net/netip"
	"slices"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/mirror"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

// TestRefuses what is no protocol, ports of one that has none, and what needs no namespace where there is one.
func TestRefuses(t *testing.T) {
	for path, o := range map[string]mirror.Options{
		"":            {Every: 10, Protocol: "udp", Port: 53, Source: "192.0.2.0/24", Destination: "198.51.100.1"},
		"protocol":    {Protocol: "ip"},
		"port":        {Port: 53, Protocol: "icmp"},
		"source":      {Source: "192.0.2.0/33"},
		"destination": {Source: "192.0.2.0/24", Destination: "2001:db8::/32"},
	} {
		if found := o.Validate(); path == "" && len(found) > 0 || path != "" && (len(found) != 1 || found[0].Path != path) {
			t.Errorf("%q: %v", path, found)
		}
	}
	if found := (&mirror.Options{Protocol: "icmpv6", Source: "192.0.2.0/24"}).Validate(); len(found) != 1 || found[0].Path != "protocol" {
		t.Errorf("ICMPv6 of an IPv4 address: %v", found)
	}
	site := function.Site{Owner: "edge", Node: "m", Namespace: "nfchain.edge.m", West: "eth0", East: "eth1"}
	if _, err := (mirror.Kind{}).Contribute(site, &mirror.Options{Every: 2}); err == nil {
		t.Error("a sample in a namespace: not refused")
	}
}

// TestSteps are what its options say, each to a tap.
func TestSteps(t *testing.T) {
	s, err := (mirror.Kind{}).Steps(&mirror.Options{Every: 100, Protocol: "icmpv6"})
	if err != nil || s.Tap == nil || s.Less || s.Step(0) != pass.NewMirror(0, pass.Copies{Every: 100, Version: 6, Protocol: 58}) {
		t.Errorf("%+v: %v", s.Step(0), err)
	}
	ends := pass.Ends{Source: netip.MustParsePrefix("192.0.2.0/24"), Destination: netip.MustParsePrefix("198.51.100.1/32")}
	s, err = (mirror.Kind{}).Steps(&mirror.Options{Source: "192.0.2.7/24", Destination: "198.51.100.1"})
	if err != nil || !s.Less || s.Copied != ends || s.Step(1) != pass.NewMirror(0, pass.Copies{Ends: ends}) || s.Step(1) == pass.NewMirror(0, pass.Copies{}) {
		t.Errorf("%+v, %+v: %v", s.Step(1), s.Copied, err)
	}
}

// TestContributes a tap that forwards nothing, and a copy of what comes in.
func TestContributes(t *testing.T) {
	for direction, want := range map[api.Direction][]string{api.Both: {"eth0", "eth1"}, api.Forward: {"eth0"}, api.Reverse: {"eth1"}} {
		site := function.Site{Owner: "edge", Node: "m", Namespace: "nfchain.edge.m", West: "eth0", East: "eth1", MTU: 9000, Direction: direction}
		made, err := (mirror.Kind{}).Contribute(site, &mirror.Options{Destination: "2001:db8::/32"})
		if err != nil {
			t.Fatal(err)
		}
		var copied []string
		for _, r := range made {
			switch s := r.Spec.(type) {
			case namespace.Spec:
				if s.Name != "nfchain.edge.m.tap" || slices.ContainsFunc(s.Sysctls, func(c namespace.Sysctl) bool { return c.Path == "net/ipv4/ip_forward" }) {
					t.Errorf("%+v", s)
				}
			case link.Spec:
				if r.Namespace != site.Namespace || s.B.Namespace != "nfchain.edge.m.tap" || !s.Quiet || s.MTU != 9000 || s.A.MAC == s.B.MAC {
					t.Errorf("%+v", r)
				}
			case redirect.Spec:
				copied = append(copied, s.Device)
				if !s.Copy || s.To != mirror.Out || s.Source.IsValid() || s.Destination != netip.MustParsePrefix("2001:db8::/32") {
					t.Errorf("%+v", s)
				}
			}
		}
		if !slices.Equal(copied, want) {
			t.Errorf("%s: %v", direction, copied)
		}
	}
	if _, err := (mirror.Kind{}).Contribute(function.Site{Owner: "m", Node: "m"}, nil); err == nil {
		t.Error("it stands alone")
	}
}
