// Package rules turns a firewall's rules into a table in which the first rule that matches a
// packet is found in a time that hardly grows with their number. The table is one block of
// memory, which programs in the kernel search (bpf/include/rules.h), and which [Table.Find]
// searches alike. It neither loads nor runs them.
//
// The method is that of aggregated bit vectors (F. Baboescu, G. Varghese: Scalable Packet
// Classification, SIGCOMM 2001). Each dimension of a packet (source, destination, their ports, and
// what kind of packet it is) is cut into ranges in which the same rules match; a range has a
// vector with a bit for each rule. The first bit that the vectors of all dimensions have in common is
// the rule. Vectors are made of blocks, and a summary says which of these have a bit at all; blocks
// and vectors that are equal are kept once, so that memory grows about linearly with the rules.
package rules

import (
	"fmt"
	"net/netip"
	"strconv"

	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// State of the connection that a packet belongs to, as netfilter has them.
type State uint8

// The states. A packet that is Untracked is in none that a rule can ask for.
const (
	New State = iota
	Established
	Related
	Invalid
	Untracked
	states
)

var stateNames = map[string]State{"new": New, "established": Established, "related": Related, "invalid": Invalid}

// NoPort is the port of a packet that has none, or whose header is not there to be read.
const NoPort = -1

// NoProtocol is the protocol of an IPv6 packet whose extension headers cannot be read. IANA
// reserves the number, so that no rule of a firewall asks for it.
const NoProtocol = 255

// Packet is what rules ask of a packet.
type Packet struct {
	// Source and Destination are of one family.
	Source, Destination netip.Addr
	// Protocol is that of the header behind those of IP.
	Protocol uint8
	// SourcePort and DestinationPort are NoPort, or 0 to 65535.
	SourcePort, DestinationPort int32
	State                       State
}

// neverCarried is a number of bytes that no connection reaches: at 100 Gb/s it takes three years.
const neverCarried = 1 << 60

// protocols that rules of firewalls name.
var protocols = map[string]uint8{"icmp": 1, "tcp": 6, "udp": 17, "icmpv6": 58, "sctp": 132}

// anyProtocol is asked for by rules that name none, and otherProtocol is one that none names.
const (
	anyProtocol   = -1
	otherProtocol = 256
)

// protocolsOf rules are the numbers that they ask for, by name or by that number.
func protocolsOf(rules []ruleset.Rule) []int {
	all := make([]int, len(rules))
	for i, r := range rules {
		all[i] = anyProtocol
		if number, named := protocols[r.Protocol]; named {
			all[i] = int(number)
		} else if number, err := strconv.ParseUint(r.Protocol, 10, 8); r.Protocol != "" && err == nil {
			all[i] = int(number)
		}
	}
	return all
}

// check refuses what a table cannot decide by itself.
func check(rules []ruleset.Rule) error {
	for i, r := range rules {
		if what := undecidable(r); what != "" {
			return fmt.Errorf("rule %d %s, which a table of rules cannot hold; use the namespace function", i+1, what)
		}
	}
	return nil
}

func undecidable(r ruleset.Rule) string {
	_, known := protocols[r.Protocol]
	switch {
	case r.Verdict != "accept" && r.Verdict != "drop":
		return fmt.Sprintf("has verdict %q", r.Verdict)
	case r.InputDevice != "" || r.OutputDevice != "":
		return "names an interface"
	case r.Class != 0 || r.HopLimit != 0 || r.Translate != nil:
		return "changes the packet"
	case r.OneIn != 0 || r.Share.Of != 0:
		return "matches a share of packets"
	case r.ConnectionBytes != 0 && r.ConnectionBytes < neverCarried:
		return "asks for the bytes of a connection"
	case r.Protocol != "" && !known:
		return fmt.Sprintf("asks for protocol %q", r.Protocol)
	}
	for _, s := range r.States {
		if _, known := stateNames[s]; !known {
			return fmt.Sprintf("asks for state %q", s)
		}
	}
	return ""
}

// asksBehind tells whether a rule asks for what is behind the headers of IP. Firewalls with such a rule drop packets with
// more extension headers of IPv6 than the program looks behind.
func asksBehind(r ruleset.Rule) bool {
	return r.Protocol != "" || len(r.States) > 0 || r.SourcePorts != ruleset.Ports{} || r.DestinationPorts != ruleset.Ports{}
}

// stateful tells whether a rule asks for a connection's state.
func stateful(rules []ruleset.Rule) bool {
	for _, r := range rules {
		if len(r.States) > 0 {
			return true
		}
	}
	return false
}
