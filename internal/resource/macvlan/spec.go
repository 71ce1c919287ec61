// Package macvlan gives namespaces devices of their own over an interface that lies
// elsewhere, their parent: the chain's, or one of the host that others use too. They are
// macvlan devices, or ipvlan ones, which have no Ethernet address but the parent's.
package macvlan

import (
	"fmt"
	"net"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// KindName of macvlan devices in a plan.
const KindName = "macvlan"

// The modes, as ip-link(8) has them.
const (
	// Bridge has devices over one parent reach each other.
	Bridge = "bridge"
	// Private keeps them apart.
	Private = "private"
	// VEPA sends all that they say to each other out of the parent, where a switch has to
	// send it back (IEEE 802.1Qbg).
	VEPA = "vepa"
	// Passthru gives the parent to one device alone, with the parent's own address.
	Passthru = "passthru"
	// L2 is of ipvlan: a device gets what goes to its own IP addresses.
	L2 = "l2"
)

var modes = map[string]netlink.MacvlanMode{
	Bridge: netlink.MACVLAN_MODE_BRIDGE, Private: netlink.MACVLAN_MODE_PRIVATE,
	VEPA: netlink.MACVLAN_MODE_VEPA, Passthru: netlink.MACVLAN_MODE_PASSTHRU,
}

// Parent is what a device is over.
type Parent struct {
	Namespace string `json:"namespace"`
	Device    string `json:"device"`
}

// OfHost tells whether it is the host's, and not made for the chain.
func (p Parent) OfHost() bool { return p.Namespace == netns.Host }

// Spec of a device. The resource lives in the node's namespace.
type Spec struct {
	Owner  string `json:"owner"`
	Node   string `json:"node"`
	Device string `json:"device"`
	// MAC is the parent's own in modes passthru and l2.
	MAC    string `json:"mac"`
	MTU    int    `json:"mtu"`
	Mode   string `json:"mode"`
	Parent Parent `json:"parent"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the device's name.
func (s Spec) Key() string { return s.Device }

// Fingerprint is whose it is, how it is set, and what it is over.
func (s Spec) Fingerprint() string {
	return fingerprint(s.alias(), s.Mode, s.Parent.Device, !s.Parent.OfHost(), s.MTU, s.MAC, true)
}

func fingerprint(alias, mode, parent string, own bool, mtu int, mac string, up bool) string {
	whose := "host's"
	if own {
		whose = "chain's"
	}
	return fmt.Sprintf("%s mode=%s over=%s of=%s mtu=%d mac=%s up=%t", alias, mode, parent, whose, mtu, mac, up)
}

// aliasSign follows the owner's mark, so that a device is not taken for the end of a
// veth pair.
const aliasSign = "macvlan:"

// linkType is the kernel's word for the kind of device.
func (s Spec) linkType() string {
	if s.Mode == L2 {
		return "ipvlan"
	}
	return "macvlan"
}

// link is the device as it is to be made.
func (s Spec) link(attrs netlink.LinkAttrs) (netlink.Link, error) {
	if s.Mode == L2 {
		return &netlink.IPVlan{LinkAttrs: attrs, Mode: netlink.IPVLAN_MODE_L2}, nil
	}
	var err error
	attrs.HardwareAddr, err = net.ParseMAC(s.MAC)
	return &netlink.Macvlan{LinkAttrs: attrs, Mode: modes[s.Mode]}, err
}

func (s Spec) alias() string {
	return resource.Mark(s.Owner) + aliasSign + s.Node + ":" + s.Device
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	add := []string{"link", "add", "link", s.Parent.Device, "name", s.Device}
	if s.Mode != L2 {
		add = append(add, "address", s.MAC)
	}
	add = append(add, "mtu", fmt.Sprint(s.MTU), "netns", ns, "type", s.linkType(), "mode", s.Mode)
	all := []resource.Command{
		resource.IP(s.Parent.Namespace, add...),
		resource.IP(ns, "link", "set", s.Device, "up", "alias", s.alias()),
	}
	if s.Parent.OfHost() {
		note := resource.Cmd("install", "-D", "-m", "644", "/dev/null", notes(s.Owner, s.Parent.Device))
		all = append([]resource.Command{note}, all...)
	}
	return all
}
