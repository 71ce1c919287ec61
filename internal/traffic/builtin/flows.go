package builtin

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// maxFlows of a load. The kernel keeps 8 bytes for each of them, and nothing of packets.
const maxFlows = 1 << 20

// MaxFlows implements traffic.ManyFlows.
func (Tool) MaxFlows() int { return maxFlows }

var _ traffic.ManyFlows = Tool{}

// maxSources of IPv4: a network of 16 bits has no more addresses.
const maxSources = 1 << 16

// maxTargets of a load, as bpf/source/source.c has it: RFC 2544 §12 asks for that many.
const maxTargets = 1 << 8

// flowsByPort differ in their source port; those beyond in their destination port too.
const flowsByPort = 1 << 14

// variety is how the flows of a load differ, by their number.
type variety struct {
	ports, addresses bool
	// nearest is the source address of the first flow; those of others follow it.
	nearest netip.Addr
	// targets are where packets go in turn, as many as a power of two.
	targets []netip.Addr
}

// varietyOf flows, by the rule that a condition has.
func varietyOf(rule string) variety {
	return variety{
		ports:     rule != trial.FlowsByAddresses,
		addresses: rule == trial.FlowsByAddresses || rule == trial.FlowsByBoth,
	}
}

// spareNetworks are for benchmarks (RFC 2544 appendix C.2.2, RFC 5180 §8), and in none of
// them is a chain whose block is in another.
var spareNetworks = []netip.Prefix{
	netip.MustParsePrefix("198.19.0.0/16"), netip.MustParsePrefix("198.18.0.0/16"),
	netip.MustParsePrefix("2001:2:0:ffff::/64"), netip.MustParsePrefix("2001:2:0:fffe::/64"),
}

// spread the flows of a load over addresses, if its rule asks for that: over sources of a
// network that neither end is in, or from a given one on, and over those of the spare
// addresses that lie near the target.
func (l *load) spread(first netip.Addr, spare []netip.Addr) error {
	if !l.addresses {
		return nil
	}
	if l.to.Is4() && l.flows > maxSources {
		return fmt.Errorf("there are %d addresses of IPv4 for flows to come from, not %d: have them differ in their ports, or use IPv6", maxSources, l.flows)
	}
	for _, n := range spareNetworks {
		if !first.IsValid() && n.Addr().Is4() == l.to.Is4() && !n.Contains(l.from) && !n.Contains(l.to) {
			first = n.Addr()
		}
	}
	if !first.IsValid() {
		return fmt.Errorf("%s and %s are in the networks that flows come from by default, %v: say where they come from", l.from, l.to, spareNetworks)
	}
	if uint64(low(first))+uint64(l.flows) > 1<<32 {
		return fmt.Errorf("%d addresses from %s on are not there", l.flows, first)
	}
	l.nearest, l.targets = first, []netip.Addr{l.to}
	for _, a := range spare {
		if high(a) == high(l.to) && a != l.to && len(l.targets) < maxTargets {
			l.targets = append(l.targets, a)
		}
	}
	l.targets = l.targets[:powerBelow(len(l.targets))]
	return nil
}

// powerBelow is the largest power of two that is no more than a number.
func powerBelow(n int) int {
	p := 1
	for 2*p <= n {
		p *= 2
	}
	return p
}

// low 32 bits of an address, and high the others: of IPv4 none.
func low(a netip.Addr) uint32 { b := a.AsSlice(); return binary.BigEndian.Uint32(b[len(b)-4:]) }

func high(a netip.Addr) string { b := a.AsSlice(); return string(b[:len(b)-4]) }

// without its low bits.
func without(a netip.Addr) netip.Addr {
	b := a.AsSlice()
	copy(b[len(b)-4:], []byte{0, 0, 0, 0})
	out, _ := netip.AddrFromSlice(b)
	return out
}

// ends of a flow: the low bits of the addresses, and the ports.
func (l *load) flowEnds(flow uint32) (from, to uint32, source, target uint16) {
	place := uint32(0)
	if l.ports {
		place = flow
	}
	source, target = uint16(firstSourcePort+place%flowsByPort), uint16(uint32(l.port)+place/flowsByPort)
	if l.addresses {
		from, to = low(l.nearest)+flow, low(l.targets[int(flow)%len(l.targets)])
	}
	return from, to, source, target
}

// swappedTargets are the targets as the kernel's half writes them.
func (l *load) swappedTargets() (t [maxTargets]uint32) {
	for i, a := range l.targets {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], low(a))
		t[i] = binary.NativeEndian.Uint32(b[:])
	}
	return t
}

// firstSource is the low bits of where the first flow comes from.
func (l *load) firstSource() uint32 {
	if !l.addresses {
		return 0
	}
	return low(l.nearest)
}

// flowLosses are the extremes of what flows lost, of all lanes, and how many flows nothing
// came of. Each flow was sent every so many packets, from the first flow on.
func flowLosses(lanes []outcome, m map[string]float64) (warnings []string) {
	lowest, highest, silent, all := 1.0, 0.0, 0, 0
	for _, o := range lanes {
		for flow, came := range o.ByFlow {
			sent := sentOf(o.Progress.Sent, flow, len(o.ByFlow))
			if sent == 0 {
				continue
			}
			loss := 1 - float64(came)/float64(sent)
			lowest, highest = min(lowest, loss), max(highest, loss)
			if all++; came == 0 {
				silent++
			}
		}
	}
	if all < 2 {
		return nil
	}
	m["silent_flows"], m["flow_loss_min_ratio"], m["flow_loss_max_ratio"] = float64(silent), lowest, highest
	if silent > 0 && silent < all {
		flows := "flows"
		if silent == 1 {
			flows = "flow"
		}
		return []string{fmt.Sprintf("of %d %s of %d nothing came", silent, flows, all)}
	}
	return nil
}

// sentOf a flow, when flows take so many packets in turn.
func sentOf(packets uint64, flow, flows int) uint64 {
	return (packets + uint64(flows-1-flow)) / uint64(flows)
}
