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

// Called names what belongs to a port, short enough for an interface behind a prefix of
// seven letters. It follows from the node's name, so that a function more or less leaves
// others' as they are.
func (p Port) Called(prefix string) string {
	sum := sha256.Sum256([]byte(p.Node + "/" + p.Device))
	return prefix + hex.EncodeToString(sum[:4])
}
