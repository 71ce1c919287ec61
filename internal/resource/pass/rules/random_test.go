package rules_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"

	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// one of some values.
func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// address is one of few, so that rules overlap and packets meet them; bits are at both ends.
func address(r *rand.Rand, six bool) netip.Addr {
	if !six {
		return netip.AddrFrom4([4]byte{one[byte](r, 0, 10, 127, 255), one[byte](r, 0, 1, 255), byte(r.IntN(4)), one(r, 0, 1, 254, byte(r.IntN(256)), 255)})
	}
	a := [16]byte{0: one[byte](r, 0, 0x20, 0xff), 1: one[byte](r, 0, 1, 0xff), 7: byte(r.IntN(3)), 8: one[byte](r, 0, 0x80, 0xff), 15: byte(r.IntN(4))}
	if r.IntN(8) == 0 {
		for i := range a {
			a[i] = 0xff
		}
	}
	return netip.AddrFrom16(a)
}

func prefix(r *rand.Rand, six bool) netip.Prefix {
	a := address(r, six)
	bits := one(r, a.BitLen(), a.BitLen(), a.BitLen()-1, r.IntN(a.BitLen()+1), 8, 0)
	return netip.PrefixFrom(a, bits).Masked()
}

func port(r *rand.Rand) uint16 {
	return one[uint16](r, 1, 2, 53, 80, 443, 1023, 1024, 32767, 32768, 65534, 65535)
}

func ports(r *rand.Rand) ruleset.Ports {
	a, b := port(r), port(r)
	switch r.IntN(4) {
	case 0:
		return ruleset.Ports{First: min(a, b), Last: max(a, b)}
	case 1:
		return ruleset.Ports{First: a, Last: a}
	}
	return ruleset.Ports{}
}

// randomRule is one that a firewall may have.
func randomRule(r *rand.Rand, withState bool) ruleset.Rule {
	rule := ruleset.Rule{Verdict: one(r, "accept", "drop"), Counted: true}
	six := r.IntN(3) == 0
	if r.IntN(3) > 0 {
		rule.Source = prefix(r, six)
	}
	if r.IntN(3) > 0 {
		rule.Destination = prefix(r, six)
	}
	switch r.IntN(5) {
	case 0, 1:
		rule.Protocol = one(r, "tcp", "udp", "sctp")
		rule.SourcePorts, rule.DestinationPorts = ports(r), ports(r)
	case 2:
		rule.Protocol, rule.Family = "icmp", 4
		if six {
			rule.Protocol, rule.Family = "icmpv6", 6
		}
	}
	if withState && r.IntN(3) == 0 {
		rule.States = one(r, []string{"new"}, []string{"established", "related"}, []string{"invalid"}, []string{"new", "invalid"})
	}
	return rule
}

func randomRules(r *rand.Rand, n int, withState bool) []ruleset.Rule {
	list := make([]ruleset.Rule, n)
	for i := range list {
		list[i] = randomRule(r, withState)
	}
	return list
}

// randomPacket has ports exactly where its protocol has them, unless it is cut off.
func randomPacket(r *rand.Rand) rules.Packet {
	six := r.IntN(3) == 0
	p := rules.Packet{
		Source: address(r, six), Destination: address(r, six), SourcePort: rules.NoPort, DestinationPort: rules.NoPort,
		Protocol: one[uint8](r, 6, 6, 17, 17, 132, 1, 58, 0, rules.NoProtocol, uint8(r.IntN(256))),
		State:    one(r, rules.New, rules.Established, rules.Related, rules.Invalid, rules.Untracked),
	}
	if p.Protocol == 6 || p.Protocol == 17 || p.Protocol == 132 {
		if r.IntN(8) > 0 {
			p.SourcePort = one(r, int32(port(r)), int32(r.IntN(65536)), 0)
		}
		if p.SourcePort >= 0 && r.IntN(8) > 0 {
			p.DestinationPort = one(r, int32(port(r)), int32(r.IntN(65536)), 0)
		}
	}
	return p
}

// first is what rules mean, asked one by one.
func first(list []ruleset.Rule, p rules.Packet) int {
	for i, r := range list {
		if matches(r, p) {
			return i
		}
	}
	return len(list)
}

var numbers = map[string]uint8{"icmp": 1, "tcp": 6, "udp": 17, "icmpv6": 58, "sctp": 132}

func matches(r ruleset.Rule, p rules.Packet) bool {
	family := 4
	if p.Source.Is6() {
		family = 6
	}
	switch {
	case r.ConnectionBytes > 0:
		return false
	case r.Family != 0 && r.Family != family:
		return false
	case r.Source.IsValid() && !r.Source.Contains(p.Source):
		return false
	case r.Destination.IsValid() && !r.Destination.Contains(p.Destination):
		return false
	case r.Protocol != "" && numbers[r.Protocol] != p.Protocol:
		return false
	}
	return in(r.SourcePorts, p.SourcePort) && in(r.DestinationPorts, p.DestinationPort) && asked(r.States, p.State)
}

func in(range_ ruleset.Ports, port int32) bool {
	return range_ == (ruleset.Ports{}) || port >= int32(range_.First) && port <= int32(range_.Last)
}

func asked(names []string, s rules.State) bool {
	if len(names) == 0 {
		return true
	}
	for _, name := range names {
		if name == (map[rules.State]string{rules.New: "new", rules.Established: "established", rules.Related: "related", rules.Invalid: "invalid"})[s] {
			return true
		}
	}
	return false
}

// manyRules are different, and each of them can be the first that matches.
func manyRules(n int) []ruleset.Rule {
	list := make([]ruleset.Rule, n)
	for i := range list {
		source := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		list[i] = ruleset.Rule{Verdict: []string{"accept", "drop"}[i%2], Match: ruleset.Match{
			Source: netip.PrefixFrom(source, 32-i%3).Masked(), Protocol: "udp",
			DestinationPorts: ruleset.Ports{First: uint16(1 + i%1000), Last: uint16(1 + i%1000 + i%7*100)},
		}}
		if i%4 == 3 {
			list[i].Destination = netip.MustParsePrefix(fmt.Sprintf("172.16.%d.0/24", i%256))
		}
	}
	return list
}
