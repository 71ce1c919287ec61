// Package bridge makes Linux bridges and gives them their ports. A bridge is told what
// is at each port, as neighbours are told of each other: it learns nothing, so it floods
// nothing while it would and forgets nothing afterwards. One that learns can be had too.
//
// Spanning tree and multicast snooping are as the spec says. What a bridge passes on is
// kept from the packet filter of its namespace (br_netfilter), which is nobody's.
package bridge

import (
	"fmt"

	"nfchain.dev/nfchain/internal/resource"
)

// The kinds in a plan.
const (
	KindName     = "bridge"
	PortKindName = "bridgeport"
)

// MostPorts of one bridge: the kernel numbers them with ten bits, from 1, and answers
// EXFULL to the next (BR_MAX_PORTS in net/bridge/br_private.h).
const MostPorts = 1<<10 - 1

// Spec of a bridge.
type Spec struct {
	Owner  string `json:"owner"`
	Device string `json:"device"`
	// Joins says what the bridge is between, for those who look at it.
	Joins string `json:"joins"`
	MAC   string `json:"mac"`
	MTU   int    `json:"mtu"`
	// STP is the spanning tree protocol; Snooping is of multicast (IGMP and MLD).
	STP      bool `json:"stp"`
	Snooping bool `json:"snooping"`
	// AgeingS is how long the bridge remembers what it learned, in seconds.
	AgeingS int `json:"ageing_s"`
}

// delayS is how long a port listens, and again learns, before it forwards where there is
// a spanning tree: the least that the kernel takes, in seconds.
const delayS = 2

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the bridge's name.
func (s Spec) Key() string { return s.Device }

// Fingerprint is whose it is, and how it is set.
func (s Spec) Fingerprint() string {
	return seen{alias: s.alias(), mac: s.MAC, mtu: s.MTU, up: true, stp: s.STP, snooping: s.Snooping, ageing: uint32(s.AgeingS)}.fingerprint(false)
}

// fingerprint of a bridge; filtered tells whether what it passes on goes through the
// packet filter.
func (b seen) fingerprint(filtered bool) string {
	ageing := fmt.Sprintf("%ds", b.ageing)
	if b.stp { // which shortens it now and then (IEEE 802.1D-1998, section 8.3.5)
		ageing = "varies"
	}
	return fmt.Sprintf("%s mtu=%d mac=%s up=%t stp=%t snooping=%t ageing=%s vlan_filtering=%t packet_filter=%t",
		b.alias, b.mtu, b.mac, b.up, b.stp, b.snooping, ageing, b.vlans, filtered)
}

// aliasSign follows the owner's mark, so that a bridge is not taken for the end of a
// link.
const aliasSign = "bridge:"

func (s Spec) alias() string { return resource.Mark(s.Owner) + aliasSign + s.Joins }

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	return []resource.Command{
		resource.In(ns, "sh", "-c", `for f in `+filters+`; do [ ! -e "$f" ] || echo 0 >"$f"; done`),
		resource.IP(ns, "link", "add", "name", s.Device, "address", s.MAC, "type", "bridge", "forward_delay", fmt.Sprint(delayS*100),
			"stp_state", bit(s.STP), "mcast_snooping", bit(s.Snooping), "ageing_time", fmt.Sprint(s.AgeingS*100)),
		resource.IP(ns, "link", "set", s.Device, "mtu", fmt.Sprint(s.MTU), "up", "alias", s.alias()),
	}
}

func bit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
