package wiring

import (
	"crypto/sha256"
	"encoding/hex"
	"net"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// silent keeps the kernel from sending anything of its own over what lies between
// neighbours.
var silent = []namespace.Sysctl{
	{Path: "net/ipv6/conf/all/disable_ipv6", Value: "1"},
	{Path: "net/ipv6/conf/default/disable_ipv6", Value: "1"},
}

// Home is the wiring's own namespace, in which the kernel says nothing by itself.
func (n Network) Home() resource.Resource {
	return resource.New("", namespace.Spec{Name: n.Namespace, Sysctls: silent})
}

// Own is an interface in the wiring's own namespace, with an address that follows from
// its name.
func (n Network) Own(device string) link.End {
	sum := sha256.Sum256([]byte(n.Owner + "/" + n.Node + "/" + device))
	mac := net.HardwareAddr(sum[:6])
	mac[0] = mac[0]&^3 | 2 // of one station, and nobody's but ours
	return link.End{Node: n.Node, Namespace: n.Namespace, Device: device, MAC: mac.String()}
}

// Pair is a virtual Ethernet pair for a hop, with nothing in between.
func (n Network) Pair(h Hop) resource.Resource {
	return resource.New(h.A.Namespace, link.Spec{Owner: n.Owner, MTU: n.MTU, A: link.End(h.A), B: link.End(h.B)}, h.Needs...)
}

// IsEnd tells whether a port is of one of the chain's two ends.
func (n Network) IsEnd(p Port) bool {
	for _, h := range n.Hops {
		if h.Direct {
			return p.Node == h.A.Node || p.Node == h.B.Node
		}
	}
	return p.Node == n.Hops[0].A.Node || p.Node == n.Hops[len(n.Hops)-1].B.Node
}

// Called names what belongs to a port, short enough for an interface behind a prefix of
// seven letters. It follows from the node's name, so that a function more or less leaves
// others' as they are.
func (p Port) Called(prefix string) string {
	sum := sha256.Sum256([]byte(p.Node + "/" + p.Device))
	return prefix + hex.EncodeToString(sum[:4])
}
