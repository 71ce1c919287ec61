package run

import (
	"fmt"
	"net/netip"
	"strings"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// boundTo is where a server listens for what goes to a service's first address:
// everywhere, if connections are shared out.
func boundTo(s plan.Service) netip.Addr {
	var at []netip.Addr
	for _, a := range s.Served {
		if a.Is4() == s.Addresses[0].Is4() {
			at = append(at, a)
		}
	}
	switch {
	case len(at) == 1:
		return at[0]
	case s.Addresses[0].Is4():
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}

// ports that a load goes to, and where it arrives.
func ports(s plan.Service) (to, at int) {
	to = FirstPort
	if s.FirstPort != 0 && (to < int(s.FirstPort) || to > int(s.LastPort)) {
		to = int(s.FirstPort)
	}
	at = to
	if s.ToPort != 0 {
		at = int(s.ToPort)
	}
	return to, at
}

// marked packets go to the one and arrive at the other, from the source.
func marked(s plan.Service) (to, at netip.AddrPort, source netip.Addr) {
	first, last := ports(s)
	source, _ = function.OfFamily(s.Addresses[0], s.Source)
	return netip.AddrPortFrom(s.Addresses[0], uint16(first)), netip.AddrPortFrom(boundTo(s), uint16(last)), source
}

// reaches refuses a condition whose packets a function would not translate, because it
// translates certain ports only: then the function itself would answer, or nobody. It
// refuses datagrams, too, whose answers would come from another address than they went
// to.
func reaches(s plan.Service, c trial.Condition, tool traffic.Tool) error {
	if c.Path == trial.PathDirect || len(s.Addresses) == 0 {
		return nil
	}
	_, portless := tool.(traffic.Portless)
	_, redirected := tool.(traffic.Redirected)
	if boundTo(s).IsUnspecified() && redirected && transport(c.Protocol) == trial.UDP {
		return fmt.Errorf("%s cannot measure %s over this chain, which shares connections out over %d addresses: its server answers datagrams from one of them; measure over TCP, or with --traffic builtin: %w",
			tool.Name(), c.Protocol, len(s.Served), ErrInput)
	}
	if s.Protocol == "" && s.FirstPort == 0 || c.URL != "" { // who gives a URL says by its port what to go to
		return nil
	}
	to, at := ports(s)
	need := max(c.Flows, 1)
	if c.Protocol == trial.HTTP { // all connections go to one
		need = 1
	}
	room := int(s.LastPort) - to + 1
	if tool.Name() == "netperf" { // a port for control, and one a flow
		need++
	}
	why := ""
	switch {
	case portless:
		why = "its packets have no ports"
	case s.FirstPort != 0 && need > room:
		why = fmt.Sprintf("its %s need %d ports", words.Plural(c.Flows, "flow"), need)
	case to != at && !redirected:
		why = "it listens at the port that it sends to"
	case s.Protocol != "" && transport(c.Protocol) != s.Protocol:
		why = "that goes over " + transport(c.Protocol)
	case tool.Name() == "iperf3" && s.Protocol == trial.UDP:
		why = "it needs a TCP connection beside"
	default:
		return nil
	}
	return fmt.Errorf("%s cannot measure %s over this chain, which takes %s to its second end: %s; use another tool or fewer flows: %w", tool.Name(), c.Protocol, taken(s), why, ErrInput)
}

// transport is what carries the packets of a protocol that is measured.
func transport(protocol string) string {
	switch protocol {
	case trial.TCP, trial.TCPRR, trial.TCPCRR, trial.RFC6349, trial.HTTP:
		return trial.TCP
	}
	return trial.UDP
}

// taken is what gets to the second end.
func taken(s plan.Service) string {
	only := strings.TrimSpace("only " + s.Protocol)
	switch {
	case s.FirstPort == 0:
		return only
	case s.FirstPort == s.LastPort:
		return fmt.Sprintf("%s port %d", only, s.FirstPort)
	}
	return fmt.Sprintf("%s ports %d to %d", only, s.FirstPort, s.LastPort)
}
