package bridge

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// PortKind gives bridges their ports.
type PortKind struct{}

// Name implements resource.Kind.
func (PortKind) Name() string { return PortKindName }

// Read implements resource.Kind: every port of the owner's bridges, whoever put it there.
func (PortKind) Read(p resource.Place) ([]resource.Observed, error) {
	bridges, ports, err := look(p)
	if err != nil || len(bridges) == 0 {
		return nil, err
	}
	macs, err := told(p)
	if err != nil {
		return nil, fmt.Errorf("list what the bridges of namespace %q know: %w", p.Ref, err)
	}
	names := map[int]string{}
	for _, b := range bridges {
		if resource.Owned(b.alias, p.Owner) {
			names[b.index] = b.name
		}
	}
	var found []resource.Observed
	for _, port := range ports {
		if of := names[port.master]; of != "" {
			found = append(found, resource.Observed{Key: port.name, Fingerprint: port.fingerprint(of, macs[port.index])})
		}
	}
	return found, nil
}

// Apply implements resource.Kind. It returns when the ports pass packets on.
func (PortKind) Apply(p resource.Place, changes []resource.Change) error {
	links, err := p.LinkList()
	if err != nil {
		return fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	at := join{p, map[string]netlink.Link{}}
	for _, l := range links {
		at.links[l.Attrs().Name] = l
	}
	waits := map[string]bool{}
	for _, c := range changes {
		waits[c.Key] = c.Op != resource.Delete
	}
	if err := resource.Make(changes, at.leave, at.set); err != nil {
		return err
	}
	return await(p, waits)
}

// join is the interfaces of a place by name, as they are before ports are set.
type join struct {
	resource.Place
	links map[string]netlink.Link
}

func (j join) leave(name string) error {
	l := j.links[name]
	if l == nil {
		return nil
	}
	if err := j.LinkSetNoMaster(l); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("take port %s from its bridge in namespace %q: %w", name, j.Ref, err)
	}
	return nil
}

// set makes an interface a port. One that is a port already leaves first, and what its
// bridge was told of it goes with that.
func (j join) set(s PortSpec) error {
	l, bridge := j.links[s.Device], j.links[s.Bridge]
	if l == nil || bridge == nil {
		return fmt.Errorf("make %s a port of bridge %s in namespace %q: one of them is not there", s.Device, s.Bridge, j.Ref)
	}
	if l.Attrs().MasterIndex != 0 {
		if err := j.leave(s.Device); err != nil {
			return err
		}
	}
	err := j.LinkSetMasterByIndex(l, bridge.Attrs().Index)
	if errors.Is(err, unix.EXFULL) {
		return fmt.Errorf("bridge %s has no room for port %s: the kernel gives a bridge %d ports: %w", s.Bridge, s.Device, MostPorts, err)
	}
	if err == nil {
		err = j.flags(l, s)
	}
	if err == nil {
		err = j.tell(l, s)
	}
	if err != nil {
		return fmt.Errorf("make %s a port of bridge %s in namespace %q: %w", s.Device, s.Bridge, j.Ref, err)
	}
	return nil
}

// flags of a port, in one request.
func (j join) flags(l netlink.Link, s PortSpec) error {
	r, err := j.Request(unix.RTM_NEWLINK, unix.NLM_F_ACK)
	if err != nil {
		return err
	}
	about := nl.NewIfInfomsg(unix.AF_UNSPEC)
	about.Index = int32(l.Attrs().Index)
	r.AddData(about)
	info := nl.NewRtAttr(unix.IFLA_LINKINFO, nil)
	info.AddRtAttr(nl.IFLA_INFO_SLAVE_KIND, nl.NonZeroTerminated(KindName))
	data := info.AddRtAttr(nl.IFLA_INFO_SLAVE_DATA, nil)
	data.AddRtAttr(unix.IFLA_BRPORT_LEARNING, nl.Uint8Attr(uint8(flag(s.Learns))))
	data.AddRtAttr(unix.IFLA_BRPORT_UNICAST_FLOOD, nl.Uint8Attr(uint8(flag(s.Learns))))
	data.AddRtAttr(unix.IFLA_BRPORT_MCAST_FLOOD, nl.Uint8Attr(uint8(flag(s.Floods))))
	data.AddRtAttr(unix.IFLA_BRPORT_BCAST_FLOOD, nl.Uint8Attr(uint8(flag(s.Floods))))
	data.AddRtAttr(unix.IFLA_BRPORT_MODE, nl.Uint8Attr(uint8(flag(s.Hairpin))))
	r.AddData(info)
	_, err = r.Execute(unix.NETLINK_ROUTE, 0)
	return err
}

// tell the bridge who is at a port.
func (j join) tell(l netlink.Link, s PortSpec) error {
	for _, text := range s.told() {
		mac, err := net.ParseMAC(text)
		if err != nil {
			return err
		}
		if err := j.NeighSet(&netlink.Neigh{
			LinkIndex: l.Attrs().Index, Family: unix.AF_BRIDGE, Flags: netlink.NTF_MASTER, State: netlink.NUD_NOARP, HardwareAddr: mac,
		}); err != nil {
			return err
		}
	}
	return nil
}

// forwardsWithin is how long ports may take until they pass packets on: the kernel
// notices in work that it puts off that both ends of a pair are up, unless it is asked, and
// with a spanning tree it listens and learns first.
const forwardsWithin = 30 * time.Second

// await ports that are to forward.
func await(p resource.Place, ports map[string]bool) error {
	for deadline := time.Now().Add(forwardsWithin); ; time.Sleep(2 * time.Millisecond) {
		_, now, err := look(p)
		if err != nil {
			return err
		}
		idle := ""
		for _, port := range now {
			if ports[port.name] && port.state != forwarding {
				idle = port.name
				if _, err := p.Notice(idle); err != nil {
					return err
				}
			}
		}
		if idle == "" {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("port %s in namespace %q passes nothing on after %v; `nfchain show %s` tells what is not as planned", idle, p.Ref, forwardsWithin, p.Owner)
		}
	}
}
