package bridge

import (
	"encoding/binary"
	"net"
	"slices"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// The states of a port (BR_STATE_* of linux/if_bridge.h); those between are on the way to
// forwarding.
const (
	disabled   = 0
	forwarding = 3
	blocking   = 4
)

// seen is a bridge as it is.
type seen struct {
	index            int
	name, alias, mac string
	mtu              int
	up               bool
	stp, snooping    bool
	ageing           uint32
	vlans            bool
}

// seenPort is an interface that is some bridge's port.
type seenPort struct {
	name          string
	index, master int
	learning      bool
	// What the port is given though it is for others: frames for addresses that the
	// bridge does not know, and those for many.
	unknown, multicast, broadcast bool
	// hairpin lets what came in by the port leave by it again.
	hairpin bool
	state   uint8
	// carrier tells that the kernel has noticed the other end.
	carrier bool
}

// stopped tells that somebody keeps a port from forwarding; one without a carrier will
// when it has one.
func (p seenPort) stopped() bool {
	return p.state == blocking || p.state == disabled && p.carrier
}

// look lists the bridges and the ports of a place, in one dump. What the library does not
// tell of them is read here. Where interfaces are known already, and none is a bridge, none is asked for again.
func look(p resource.Place) (bridges []seen, ports []seenPort, err error) {
	if p.Keeps() {
		links, err := p.Links()
		if err != nil || !slices.ContainsFunc(links, func(l netlink.Link) bool { return l.Type() == "bridge" }) {
			return nil, nil, err
		}
	}
	r, err := p.Request(unix.RTM_GETLINK, unix.NLM_F_DUMP)
	if err != nil {
		return nil, nil, err
	}
	r.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	answers, err := r.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWLINK)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range answers {
		l, err := netlink.LinkDeserialize(nil, m)
		if err != nil {
			return nil, nil, err
		}
		kinds, err := kindData(m)
		if err != nil {
			return nil, nil, err
		}
		if data, is := kinds["bridge"]; is && l.Type() == "bridge" {
			bridges = append(bridges, bridgeOf(l.Attrs(), data))
		}
		if data, is := kinds["port of bridge"]; is {
			ports = append(ports, portOf(l.Attrs(), data))
		}
	}
	return bridges, ports, nil
}

// kindData are the attributes of what an interface is, and of what it is a port of.
func kindData(message []byte) (map[string]map[uint16][]byte, error) {
	attributes, err := byType(message[unix.SizeofIfInfomsg:])
	if err != nil {
		return nil, err
	}
	info, err := byType(attributes[unix.IFLA_LINKINFO])
	if err != nil {
		return nil, err
	}
	all := map[string]map[uint16][]byte{}
	for _, k := range []struct {
		prefix     string
		kind, data uint16
	}{{"", nl.IFLA_INFO_KIND, nl.IFLA_INFO_DATA}, {"port of ", nl.IFLA_INFO_SLAVE_KIND, nl.IFLA_INFO_SLAVE_DATA}} {
		name, there := info[k.kind]
		if !there {
			continue
		}
		if all[k.prefix+nl.BytesToString(name)], err = byType(info[k.data]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func byType(data []byte) (map[uint16][]byte, error) {
	list, err := nl.ParseRouteAttr(data)
	if err != nil {
		return nil, err
	}
	all := map[uint16][]byte{}
	for _, a := range list {
		all[a.Attr.Type&nl.NLA_TYPE_MASK] = a.Value
	}
	return all, nil
}

// hertz is the unit of times in rtnetlink: hundredths of a second (USER_HZ).
const hertz = 100

func bridgeOf(a *netlink.LinkAttrs, data map[uint16][]byte) seen {
	return seen{
		index: a.Index, name: a.Name, alias: a.Alias, mac: a.HardwareAddr.String(), mtu: a.MTU, up: a.Flags&net.FlagUp != 0,
		stp: number(data[unix.IFLA_BR_STP_STATE]) != 0, snooping: number(data[unix.IFLA_BR_MCAST_SNOOPING]) != 0,
		ageing: number(data[unix.IFLA_BR_AGEING_TIME]) / hertz, vlans: number(data[unix.IFLA_BR_VLAN_FILTERING]) != 0,
	}
}

func portOf(a *netlink.LinkAttrs, data map[uint16][]byte) seenPort {
	on := func(attribute uint16) bool { return number(data[attribute]) != 0 }
	return seenPort{
		name: a.Name, index: a.Index, master: a.MasterIndex, state: uint8(number(data[unix.IFLA_BRPORT_STATE])),
		carrier:  a.OperState == netlink.OperUp,
		learning: on(unix.IFLA_BRPORT_LEARNING), unknown: on(unix.IFLA_BRPORT_UNICAST_FLOOD),
		multicast: on(unix.IFLA_BRPORT_MCAST_FLOOD), broadcast: on(unix.IFLA_BRPORT_BCAST_FLOOD), hairpin: on(unix.IFLA_BRPORT_MODE),
	}
}

// number of an attribute of one or four bytes, 0 where it is not there.
func number(value []byte) uint32 {
	switch len(value) {
	case 1:
		return uint32(value[0])
	case 4:
		return binary.NativeEndian.Uint32(value)
	}
	return 0
}

// told lists the addresses that bridges were told of, by the port's index.
func told(p resource.Place) (map[int][]string, error) {
	list, err := p.NeighList(0, unix.AF_BRIDGE)
	if err != nil {
		return nil, err
	}
	return toldIn(list), nil
}

// toldIn a list of who is where. A kernel that knows VLANs notes each address once more, for the port's own one, of
// which a bridge makes no use that does not filter by them.
func toldIn(list []netlink.Neigh) map[int][]string {
	all := map[int][]string{}
	for _, n := range list {
		if n.MasterIndex != 0 && n.State&netlink.NUD_NOARP != 0 && n.Vlan == 0 {
			all[n.LinkIndex] = append(all[n.LinkIndex], n.HardwareAddr.String())
		}
	}
	for _, macs := range all {
		slices.Sort(macs)
	}
	return all
}
