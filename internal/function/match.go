package function

import (
	_ "embed" // this file
	"fmt"
	"net/netip"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// Match selects packets, as a user writes it: firewall rules and shaper classes
// share it. Absent fields select everything.
type Match struct {
	// Source and Destination are an address or a prefix, IPv4 or IPv6.
	Source      string `json:"source,omitempty"`
	Destination string `json:"destination,omitempty"`
	// Protocol is tcp, udp, sctp, icmp or icmpv6.
	Protocol string `json:"protocol,omitempty"`
	// SourcePort and DestinationPort are a port or an inclusive range "1000-2000".
	SourcePort      Ports `json:"source_port,omitempty"`
	DestinationPort Ports `json:"destination_port,omitempty"`
	// State lists connection states: new, established, related, invalid.
	State []string `json:"state,omitempty"`
}

//go:embed match.go
var declared string

// Declared implements api.Declared.
func (*Match) Declared() string { return declared }

// Validate reports everything wrong with the match.
func (m Match) Validate() []api.FieldProblem {
	var wrong []api.FieldProblem
	add := func(path string, err error) {
		if err != nil {
			wrong = append(wrong, api.FieldProblem{Path: path, Message: err.Error()})
		}
	}
	source, err := prefix(m.Source)
	add("source", err)
	destination, err := prefix(m.Destination)
	add("destination", err)
	if source.IsValid() && destination.IsValid() && source.Addr().Is4() != destination.Addr().Is4() {
		add("destination", fmt.Errorf("%s is of another address family than source %s", m.Destination, m.Source))
	}
	ports := m.SourcePort != "" || m.DestinationPort != ""
	switch m.Protocol {
	case "tcp", "udp", "sctp":
	case "", "icmp", "icmpv6":
		if ports {
			add("protocol", fmt.Errorf("ports need a protocol that has them: tcp, udp or sctp"))
		}
		for _, p := range []netip.Prefix{source, destination} {
			if m.Protocol != "" && p.IsValid() && p.Addr().Is4() != (m.Protocol == "icmp") {
				add("protocol", fmt.Errorf("%s has no packets of %s's address family", m.Protocol, p))
				break
			}
		}
	default:
		add("protocol", fmt.Errorf("%q is not a protocol; use tcp, udp, sctp, icmp or icmpv6", m.Protocol))
	}
	_, err = m.SourcePort.parse()
	add("source_port", err)
	_, err = m.DestinationPort.parse()
	add("destination_port", err)
	for i, s := range m.State {
		switch s {
		case "new", "established", "related", "invalid":
		default:
			add(fmt.Sprintf("state[%d]", i), fmt.Errorf("%q is not a connection state; use new, established, related or invalid", s))
		}
	}
	return wrong
}

// Compile turns a validated match into what a rule set takes.
func (m Match) Compile() ruleset.Match {
	out := ruleset.Match{Protocol: m.Protocol, States: m.State}
	out.Source, _ = prefix(m.Source)
	out.Destination, _ = prefix(m.Destination)
	out.SourcePorts, _ = m.SourcePort.parse()
	out.DestinationPorts, _ = m.DestinationPort.parse()
	switch m.Protocol {
	case "icmp":
		out.Family = 4
	case "icmpv6":
		out.Family = 6
	}
	return out
}

// Plain tells whether a name or comment can go into every rule language: at most
// 100 letters, digits, spaces and . , : _ - /
func Plain(text string) bool {
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" .,:_-/", r)) {
			return false
		}
	}
	return len(text) <= 100
}

func prefix(text string) (netip.Prefix, error) {
	if text == "" {
		return netip.Prefix{}, nil
	}
	return api.ParsePrefix(text)
}

// Ports is a port, which may be written as a number, or a range of them.
type Ports string

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found by
// [Match.Validate].
func (p *Ports) UnmarshalText(text []byte) error {
	*p = Ports(text)
	return nil
}

func (p Ports) parse() (ruleset.Ports, error) {
	if p == "" {
		return ruleset.Ports{}, nil
	}
	first, last, err := api.ParsePorts(string(p))
	return ruleset.Ports{First: first, Last: last}, err
}
