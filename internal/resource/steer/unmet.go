package steer

import (
	"strconv"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// Unmet is what a rule asks for that a packet is not, beside what it is, for a person; "" where the rule is met.
func (r Rule) Unmet(f First) string {
	var all []string
	for _, one := range []struct {
		asks Rule
		is   string
	}{
		{Rule{From: r.From}, "the " + ends[f.From]},
		{Rule{Protocol: r.Protocol}, protocolText(f)},
		{Rule{Sources: r.Sources}, f.Source.String()},
		{Rule{Destinations: r.Destinations}, f.Destination.String()},
		{Rule{SourcePorts: r.SourcePorts}, portText(f.SourcePort)},
		{Rule{DestinationPorts: r.DestinationPorts}, portText(f.DestinationPort)},
		{Rule{CodePoints: r.CodePoints}, strconv.Itoa(int(f.CodePoint))},
		{Rule{VLANs: r.VLANs}, vlanText(api.VLANRange{First: f.VLAN, Last: f.VLAN})},
	} {
		if !one.asks.Matches(f) {
			all = append(all, one.asks.String()+" and not "+one.is)
		}
	}
	return strings.Join(all, ", ")
}

// ends by their numbers, for a person.
var ends = map[int]string{FirstEnd: "first", SecondEnd: "second"}

// protocolText is the name that rules have for a packet's protocol, or its number.
func protocolText(f First) string {
	if p := api.ProtocolOf(f.Protocol); f.is(p) {
		return p.Text()
	}
	return "protocol " + strconv.Itoa(int(f.Protocol))
}

func portText(port uint16) string {
	if port == 0 {
		return api.None
	}
	return strconv.Itoa(int(port))
}

func vlanText(v api.VLANRange) string {
	if v.First == api.Untagged {
		return api.None
	}
	return span(v.First, v.Last)
}
