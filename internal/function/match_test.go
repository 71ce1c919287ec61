package function_test

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func TestMatchCompiles(t *testing.T) {
	for _, c := range []struct {
		match function.Match
		want  ruleset.Match
	}{
		{function.Match{}, ruleset.Match{}},
		{function.Match{Source: "192.0.2.1"}, ruleset.Match{Source: netip.MustParsePrefix("192.0.2.1/32")}},
		{function.Match{Destination: "2001:db8::1/32"}, ruleset.Match{Destination: netip.MustParsePrefix("2001:db8::/32")}},
		{function.Match{Protocol: "tcp", DestinationPort: "80"}, ruleset.Match{Protocol: "tcp", DestinationPorts: ruleset.Ports{First: 80, Last: 80}}},
		{function.Match{Protocol: "udp", SourcePort: "1-65535"}, ruleset.Match{Protocol: "udp", SourcePorts: ruleset.Ports{First: 1, Last: 65535}}},
		{function.Match{Protocol: "icmp"}, ruleset.Match{Protocol: "icmp", Family: 4}},
		{function.Match{Protocol: "icmpv6", Source: "2001:db8::/32"}, ruleset.Match{Protocol: "icmpv6", Family: 6, Source: netip.MustParsePrefix("2001:db8::/32")}},
		{function.Match{State: []string{"new"}}, ruleset.Match{States: []string{"new"}}},
	} {
		if wrong := c.match.Validate(); len(wrong) > 0 {
			t.Errorf("%+v: %v", c.match, wrong)
		}
		if got := c.match.Compile(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v became %+v, want %+v", c.match, got, c.want)
		}
	}
}

func TestMatchRefuses(t *testing.T) {
	for path, matches := range map[string][]function.Match{
		"source":           {{Source: "x"}, {Source: "192.0.2.1/33"}, {Source: "fe80::1%eth0"}, {Source: "1.2.3"}},
		"destination":      {{Source: "192.0.2.1", Destination: "2001:db8::1"}, {Destination: "; drop"}},
		"protocol":         {{Protocol: "gre"}, {Protocol: "gre", DestinationPort: "80"}, {DestinationPort: "80"}, {Protocol: "icmp", SourcePort: "80"}, {Protocol: "icmp", Source: "2001:db8::1"}, {Protocol: "icmpv6", Destination: "192.0.2.1"}},
		"source_port":      {{Protocol: "tcp", SourcePort: "0"}, {Protocol: "tcp", SourcePort: "2-1"}, {Protocol: "tcp", SourcePort: "65536"}, {Protocol: "tcp", SourcePort: "-1"}},
		"destination_port": {{Protocol: "tcp", DestinationPort: "http"}, {Protocol: "tcp", DestinationPort: "1-2-3"}, {Protocol: "tcp", DestinationPort: "1,2"}},
		"state[1]":         {{State: []string{"new", "open"}}},
	} {
		for _, m := range matches {
			wrong := m.Validate()
			if len(wrong) != 1 || wrong[0].Path != path || wrong[0].Message == "" {
				t.Errorf("%+v: %v, want one at %s", m, wrong, path)
			}
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]bool{"": true, "web, 1:2_3-4/5.": true, `a"b`: false, "a\nb": false, "a;b": false, "$x": false, "é": false, strings.Repeat("a", 101): false} {
		if function.Plain(text) != want {
			t.Errorf("%q is plain: %t", text, !want)
		}
	}
}
