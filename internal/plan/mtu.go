package plan

import "fmt"

// mtus warns of interfaces that endpoints take in and whose MTU is not the chain's. All
// that the chain makes has its MTU, so that it loses no packet for its length without a
// word; between such an interface and the chain lies a router, the endpoint, which does
// as routers do.
func (b *builder) mtus() (warnings []string) {
	for _, n := range b.nodes {
		name, of := n.endpoint.Interface, b.chain.Spec.MTU
		mtu := b.facts.MTUs[name]
		if mtu == 0 || mtu == of {
			continue
		}
		warnings = append(warnings, fmt.Sprintf(
			"endpoint %s: the MTU of interface %s is %d, and the chain's is %d; packets of more than %d bytes are cut up there, or their sender is told by ICMP what fits (RFC 1191, RFC 8201), which firewalls must let pass; mtu: %d makes them alike",
			n.Name, name, mtu, of, min(mtu, of), mtu))
	}
	return warnings
}
