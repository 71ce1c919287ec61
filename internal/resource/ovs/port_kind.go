package ovs

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/resource"
)

// PortKind brings ports into the nodes' namespaces.
type PortKind struct{}

// Name implements resource.Kind.
func (PortKind) Name() string { return PortKindName }

// Read implements resource.Kind.
func (PortKind) Read(p resource.Place) ([]resource.Observed, error) {
	links, err := p.Links()
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, l := range links {
		a := l.Attrs()
		switch {
		case internal(a.Alias, p.Owner):
			found = append(found, resource.Observed{Key: a.Name, Fingerprint: observe(a)})
		case paired(a.Alias, p.Owner):
			sums, err := computes(p.Ref, a.Name)
			if err != nil {
				return nil, err
			}
			if sums {
				found = append(found, resource.Observed{Key: a.Name, Fingerprint: computed})
			}
		}
	}
	return found, nil
}

// internal tells by the alias that a device is an internal port.
func internal(alias, owner string) bool {
	return strings.HasPrefix(alias, resource.Mark(owner)+aliasSign)
}

// paired tells by the alias, which both ends have, that a device is of a veth pair of which
// one end is a port.
func paired(alias, owner string) bool {
	a, b, _ := strings.Cut(alias, "=")
	return resource.Owned(alias, owner) && (isPort(a) || isPort(b))
}

// isPort tells one end of a pair, which an alias ends with as node:device.
func isPort(end string) bool {
	_, device, _ := strings.Cut(end, ":")
	return strings.HasPrefix(device, portPrefix)
}

func observe(a *netlink.LinkAttrs) string {
	return portFingerprint(a.Alias, a.HardwareAddr.String(), a.MTU, a.Flags&net.FlagUp != 0, switched(a))
}

// switched tells that a device has a carrier: one whose daemon died has none.
func switched(a *netlink.LinkAttrs) bool { return a.RawFlags&unix.IFF_LOWER_UP != 0 }

func computes(ref, device string) (bool, error) {
	s, err := ethtool.Open(ref)
	if err != nil {
		return false, err
	}
	defer s.Close()
	offloaded, err := s.TxChecksum(device)
	return !offloaded, err
}

// Apply implements resource.Kind.
func (PortKind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		if err := apply(p, c); err != nil {
			return fmt.Errorf("port %s of namespace %q: %w", c.Key, p.Ref, err)
		}
	}
	return nil
}

func apply(p resource.Place, c resource.Change) error {
	if c.Op == resource.Delete {
		return release(p, c.Key)
	}
	s := c.Spec.(PortSpec)
	if s.Port.Type == Device {
		return compute(p.Ref, s.Device, true)
	}
	from, err := netns.Open(s.From)
	if err != nil {
		return err
	}
	defer from.Close()
	if err := present(p, from, s); err != nil {
		return err
	}
	return set(p.Handle, s)
}

// compute has the kernel compute the checksums of what a device sends, or leave them.
func compute(ref, device string, on bool) error {
	e, err := ethtool.Open(ref)
	if err != nil {
		return err
	}
	defer e.Close()
	return e.SetTxChecksum(device, !on)
}

// release a device that is no port any more: one of the switch's own goes, and another
// is as it was.
func release(p resource.Place, name string) error {
	l, err := p.LinkByName(name)
	switch {
	case gone(err):
		return nil
	case err != nil:
		return err
	case paired(l.Attrs().Alias, p.Owner):
		return compute(p.Ref, name, false)
	case internal(l.Attrs().Alias, p.Owner):
		return discard(p.Handle, l)
	}
	return nil
}

// discard a device of the switch's own. Those of the datapath in the kernel go with the
// port alone.
func discard(h *netns.Handle, l netlink.Link) error {
	err := h.LinkDel(l)
	if errors.Is(err, unix.ENODEV) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	return err
}

// present sees to it that the device is in the place, under its own name. The switch
// makes it again where it was lost with a namespace, or lost its switch with a daemon.
func present(p resource.Place, from *netns.Handle, s PortSpec) error {
	if l, err := p.LinkByName(s.Device); err == nil {
		if internal(l.Attrs().Alias, s.Owner) && l.Attrs().Alias == s.alias() && attached(p.Handle, l) {
			return nil
		}
		if alias := l.Attrs().Alias; !resource.Owned(alias, s.Owner) && (alias != "" || !ofSwitch(l)) {
			return errors.New("there is another interface of this name, which is not this chain's; remove or rename it")
		}
		if err := discard(p.Handle, l); err != nil {
			return err
		}
	} else if !gone(err) {
		return err
	}
	if err := offered(p, from, s); err != nil {
		return err
	}
	return rename(p.Handle, s)
}

// ofSwitch tells whether a device is of a type that switches make. One that has no mark is what
// was left when somebody who ran a plan's script was killed between naming and marking.
func ofSwitch(l netlink.Link) bool { return l.Type() == "tuntap" || l.Type() == "openvswitch" }

// attached raises a device, without which none has a carrier, and looks for it.
func attached(h *netns.Handle, l netlink.Link) bool {
	if h.LinkSetUp(l) != nil {
		return false
	}
	now, err := h.LinkByIndex(l.Attrs().Index)
	return err == nil && switched(now.Attrs())
}

// offered moves the device here from the daemons' namespace. It may be here already,
// where a process was killed between moving and naming it.
func offered(p resource.Place, from *netns.Handle, s PortSpec) error {
	if l, err := p.LinkByName(s.Port.Name); err == nil && from.Ref != p.Ref {
		if attached(p.Handle, l) {
			return p.LinkSetDown(l)
		}
		if err := discard(p.Handle, l); err != nil {
			return err
		}
	}
	l, err := from.LinkByName(s.Port.Name)
	if gone(err) {
		if err = remake(s); err == nil {
			l, err = from.LinkByName(s.Port.Name)
		}
	}
	if err != nil {
		return err
	}
	return from.LinkSetNsFd(l, p.FD())
}

// remake has the switch make a port again whose device is gone.
func remake(s PortSpec) error {
	if err := change(s.Owner, s.From, []string{"--", "--if-exists", "del-port", s.Switch, s.Port.Name}); err != nil {
		return err
	}
	return change(s.Owner, s.From, s.Port.words(s.Switch))
}

// rename a device that has come here, once it is marked: after a kill nobody's else has its name.
func rename(h *netns.Handle, s PortSpec) error {
	l, err := h.LinkByName(s.Port.Name)
	if err != nil {
		return err
	}
	if err := h.LinkSetAlias(l, s.alias()); err != nil || s.Device == s.Port.Name {
		return err
	}
	return h.LinkSetName(l, s.Device)
}

// set brings a device that is present to what it should be.
func set(h *netns.Handle, s PortSpec) error {
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return err
	}
	l, err := h.LinkByName(s.Device)
	if err != nil {
		return err
	}
	return errors.Join(h.LinkSetHardwareAddr(l, mac), h.LinkSetMTU(l, s.Port.MTU), h.LinkSetUp(l))
}

func gone(err error) bool { return errors.As(err, new(netlink.LinkNotFoundError)) }
