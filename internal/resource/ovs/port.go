package ovs

import (
	"fmt"

	"nfchain.dev/nfchain/internal/resource"
)

// PortSpec of a port's end in a node's namespace, where the resource lives.
type PortSpec struct {
	Owner  string `json:"owner"`
	Node   string `json:"node"`
	Device string `json:"device"`
	// Port of type internal is the switch's own interface, which is moved here from the
	// daemons' namespace; of type system it is the other end of this device's veth pair.
	Port Port `json:"port"`
	// From is the daemons' namespace, where the port of Switch is made; of type
	// internal alone, as is the MAC address.
	From   string `json:"from,omitempty"`
	Switch string `json:"switch,omitempty"`
	MAC    string `json:"mac,omitempty"`
}

// Kind implements resource.Spec.
func (PortSpec) Kind() string { return PortKindName }

// Key is the device's name.
func (s PortSpec) Key() string { return s.Device }

// Fingerprint of an internal port is whose it is, how it is set, and that a switch has
// its other end; of another, that its checksums are computed.
func (s PortSpec) Fingerprint() string {
	if s.Port.Type == Device {
		return computed
	}
	return portFingerprint(s.alias(), s.MAC, s.Port.MTU, true, true)
}

// computed tells that the kernel computes the checksums of what a device sends, and
// cuts it into packets of the device's size. On a veth it leaves both for later, since
// nothing is lost on the way to the other end; but the datapath in user space reads
// packets there as they are, passes them on, and the receiver drops them.
const computed = "checksums computed"

func portFingerprint(alias, mac string, mtu int, up, carrier bool) string {
	return fmt.Sprintf("%s mac=%s mtu=%d up=%t switched=%t", alias, mac, mtu, up, carrier)
}

// aliasSign follows the owner's mark, so that the device is not taken for the end of a
// link.
const aliasSign = "ovs:"

func (s PortSpec) alias() string {
	return resource.Mark(s.Owner) + aliasSign + s.Node + ":" + s.Port.Name
}

// Commands implements resource.Spec.
func (s PortSpec) Commands(ns string) []resource.Command {
	if s.Port.Type == Device {
		return []resource.Command{resource.In(ns, "sh", "-c", "ethtool -K "+s.Device+" tx off >/dev/null")}
	}
	into := ns
	if into == "" {
		into = "1"
	}
	return []resource.Command{
		resource.IP(s.From, "link", "set", s.Port.Name, "netns", into, "name", s.Device),
		resource.IP(ns, "link", "set", s.Device, "address", s.MAC, "mtu", fmt.Sprint(s.Port.MTU), "up", "alias", s.alias()),
	}
}
