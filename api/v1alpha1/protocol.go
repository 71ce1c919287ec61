package v1alpha1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Protocol is what IP carries, by its name or its number (IANA: Assigned Internet Protocol Numbers).
type Protocol string

// Numbers of protocols by which more is asked than whether a packet is of one.
const (
	numberICMP    = 1
	numberTCP     = 6
	numberUDP     = 17
	numberDCCP    = 33
	numberAH      = 51
	numberICMPv6  = 58
	numberSCTP    = 132
	numberUDPLite = 136
	numberHIP     = 139
)

// namedProtocols are the protocols that have a name in files, in the order in which they are told.
var namedProtocols = []struct {
	name   Protocol
	number uint8
}{
	{"tcp", numberTCP}, {"udp", numberUDP}, {"sctp", numberSCTP}, {"dccp", numberDCCP}, {"udplite", numberUDPLite},
	{"icmp", numberICMP}, {"icmpv6", numberICMPv6}, {"gre", 47}, {"esp", 50}, {"ah", numberAH},
}

// ProtocolNames are those that may stand for the number of a protocol.
func ProtocolNames() (names []string) {
	for _, p := range namedProtocols {
		names = append(names, string(p.name))
	}
	return names
}

// extensions are headers that IPv6 alone has, and that flows are not told apart by: what is behind them counts. They are hop-by-hop options,
// routing, fragment, destination options, mobility and shim6.
var extensions = []uint8{0, 43, 44, 60, 135, 140}

// UnmarshalText implements encoding.TextUnmarshaler. What is wrong is found when the chain is checked.
func (p *Protocol) UnmarshalText(text []byte) error {
	*p = Protocol(text)
	return nil
}

// Number of the protocol.
func (p Protocol) Number() (uint8, error) {
	for _, known := range namedProtocols {
		if known.name == p {
			return known.number, nil
		}
	}
	n, err := strconv.ParseUint(string(p), 10, 8)
	if err != nil {
		return 0, fmt.Errorf("%q is not a protocol; use %s, or a number from 1 to 255", string(p), strings.Join(ProtocolNames(), ", "))
	}
	if slices.Contains(extensions, uint8(n)) {
		return 0, fmt.Errorf("%d is an extension header of IPv6, and flows are known by the protocol behind those; write that one", n)
	}
	return uint8(n), nil
}

// ProtocolOf a number has its name, if it has one.
func ProtocolOf(number uint8) Protocol {
	for _, known := range namedProtocols {
		if known.number == number {
			return known.name
		}
	}
	return Protocol(strconv.Itoa(int(number)))
}

// Text is the protocol for a person: "tcp", or "protocol 89" of one without a name.
func (p Protocol) Text() string {
	if _, err := strconv.ParseUint(string(p), 10, 8); err == nil {
		return "protocol " + string(p)
	}
	return string(p)
}

// Ported tells whether its packets begin with ports, by which flows are told apart.
func (p Protocol) Ported() bool {
	n, err := p.Number()
	return err == nil && slices.Contains([]uint8{numberTCP, numberUDP, numberSCTP, numberDCCP, numberUDPLite}, n)
}

// Version of IP in which alone flows are of it, 4 or 6; 0 is both. The authentication header and the host identity protocol are extension
// headers in IPv6.
func (p Protocol) Version() int {
	switch n, err := p.Number(); {
	case err != nil:
		return 0
	case n == numberICMP, n == numberAH, n == numberHIP:
		return 4
	case n == numberICMPv6:
		return 6
	}
	return 0
}
