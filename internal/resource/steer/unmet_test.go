package steer_test

import (
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// TestUnmet: what is told of a rule is all that it asks for and a packet is not, and nothing where it is met.
func TestUnmet(t *testing.T) {
	first := steer.First{Source: netip.MustParseAddr("10.1.0.1"), Destination: netip.MustParseAddr("2001:db8::1"), Protocol: 6,
		SourcePort: 5000, DestinationPort: 443, CodePoint: 34, VLAN: api.Untagged, From: steer.FirstEnd}
	all := []struct {
		rule steer.Rule
		says string
	}{
		{steer.Rule{Sources: []netip.Prefix{netip.MustParsePrefix("10.2.0.0/16"), netip.MustParsePrefix("10.3.0.0/16")}}, "from 10.2.0.0/16,10.3.0.0/16 and not 10.1.0.1"},
		{steer.Rule{Destinations: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "to 10.0.0.0/8 and not 2001:db8::1"},
		{steer.Rule{Protocol: "udp"}, "udp and not tcp"},
		{steer.Rule{SourcePorts: []api.PortRange{{First: 1, Last: 99}}}, "source port 1-99 and not 5000"},
		{steer.Rule{DestinationPorts: []api.PortRange{{First: 80, Last: 80}, {First: 8080, Last: 8090}}}, "port 80,8080-8090 and not 443"},
		{steer.Rule{CodePoints: []uint8{46}}, "dscp 46 and not 34"},
		{steer.Rule{VLANs: []api.VLANRange{{First: 5, Last: 7}}}, "vlan 5-7 and not none"},
		{steer.Rule{From: steer.SecondEnd}, "beginning at the second end and not the first"},
		{steer.Rule{Protocol: "tcp", DestinationPorts: []api.PortRange{{First: 443, Last: 443}}, From: steer.FirstEnd}, ""},
		{steer.Rule{}, ""},
		{steer.Rule{Protocol: "89"}, "protocol 89 and not tcp"},
		{steer.Rule{Protocol: "tcp", DestinationPorts: []api.PortRange{{First: 80, Last: 80}}, From: steer.SecondEnd}, "beginning at the second end and not the first, port 80 and not 443"},
	}
	for _, c := range all {
		if says := c.rule.Unmet(first); says != c.says || (says == "") != c.rule.Matches(first) {
			t.Errorf("%s: %q, want %q; met: %t", c.rule, says, c.says, c.rule.Matches(first))
		}
	}
	other := first
	other.Protocol, other.SourcePort, other.DestinationPort, other.VLAN, other.From = 47, 0, 0, 9, steer.SecondEnd
	if says := (steer.Rule{Protocol: "tcp", DestinationPorts: []api.PortRange{{First: 80, Last: 80}}, VLANs: []api.VLANRange{{First: api.Untagged, Last: api.Untagged}}, From: steer.FirstEnd}).Unmet(other); says !=
		"beginning at the first end and not the second, tcp and not gre, port 80 and not none, vlan none and not 9" {
		t.Error(says)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for rule, says := range map[api.Protocol]string{"gre": "", "47": "", "esp": "esp and not gre", "ah": "ah and not gre"} {
		if got := (steer.Rule{Protocol: rule}).Unmet(other); got != says {
			t.Errorf("%s: %q, want %q", rule, got, says)
		}
	}
	for range 1000 { // of several fields, each that is not met is told, and no other
		rule, want := steer.Rule{}, 0
		for _, c := range all[:8] {
			if random.IntN(2) == 0 {
				continue
			}
			want++
			switch {
			case c.rule.Sources != nil:
				rule.Sources = c.rule.Sources
			case c.rule.Destinations != nil:
				rule.Destinations = c.rule.Destinations
			case c.rule.Protocol != "":
				rule.Protocol = c.rule.Protocol
			case c.rule.SourcePorts != nil:
				rule.SourcePorts = c.rule.SourcePorts
			case c.rule.DestinationPorts != nil:
				rule.DestinationPorts = c.rule.DestinationPorts
			case c.rule.CodePoints != nil:
				rule.CodePoints = c.rule.CodePoints
			case c.rule.VLANs != nil:
				rule.VLANs = c.rule.VLANs
			default:
				rule.From = c.rule.From
			}
		}
		if says := rule.Unmet(first); strings.Count(says, " and not ") != want || (says == "") != rule.Matches(first) {
			t.Errorf("%s: %q, want %d", rule, says, want)
		}
	}
}
