package macvlan

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// Kind makes macvlan and ipvlan devices.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind. It lists interfaces anew, for the parents of an
// earlier stage may have taken some with them.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	links, err := p.LinkList()
	if err != nil {
		return nil, fmt.Errorf("list interfaces of namespace %q: %w", p.Ref, err)
	}
	var found []resource.Observed
	for _, l := range links {
		if ours(l, p.Owner) {
			found = append(found, resource.Observed{Key: l.Attrs().Name, Fingerprint: observe(p, l)})
		}
	}
	return found, nil
}

func ours(l netlink.Link, owner string) bool {
	return strings.HasPrefix(l.Attrs().Alias, resource.Mark(owner)+aliasSign)
}

func observe(p resource.Place, l netlink.Link) string {
	a := l.Attrs()
	mode := modeOf(l)
	if mode == "" {
		return "a " + l.Type()
	}
	above, err := parent(p, a)
	if err != nil {
		return fmt.Sprintf("parent unknown: %v", err)
	}
	own := resource.Owned(above.Alias, p.Owner)
	return fingerprint(a.Alias, mode, above.Name, own, a.MTU, a.HardwareAddr.String(), a.Flags&net.FlagUp != 0)
}

func parent(p resource.Place, a *netlink.LinkAttrs) (*netlink.LinkAttrs, error) {
	l, err := netlink.Link(nil), error(nil)
	if a.NetNsID < 0 {
		l, err = p.LinkByIndex(a.ParentIndex)
	} else {
		l, err = p.Elsewhere(a.NetNsID, a.ParentIndex)
	}
	if err != nil {
		return nil, err
	}
	return l.Attrs(), nil
}

// modeOf a device; "" for one of another type.
func modeOf(l netlink.Link) string {
	switch d := l.(type) {
	case *netlink.Macvlan:
		for name, m := range modes {
			if m == d.Mode {
				return name
			}
		}
		return fmt.Sprintf("number %d", d.Mode)
	case *netlink.IPVlan:
		if d.Mode == netlink.IPVLAN_MODE_L2 {
			return L2
		}
		return fmt.Sprintf("ipvlan's number %d", d.Mode)
	}
	return ""
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes, func(name string) error { return remove(p, name) }, func(s Spec) error { return set(p, s) })
}

// set makes a device anew: its parent, mode and passthru address cannot be changed.
func set(p resource.Place, s Spec) error {
	if err := clear(p, s); err != nil {
		return err
	}
	if err := noteParent(s); err != nil {
		return err
	}
	above, err := netns.Open(s.Parent.Namespace)
	if err != nil {
		return err
	}
	defer above.Close()
	if err := eventually(s.Mode, func() error { return create(p, above, s) }); err != nil {
		return fmt.Errorf("%s of %s: %s over %s, mode %s: %w", s.Device, s.Node, s.linkType(), s.Parent.Device, s.Mode, explain(err))
	}
	return nil
}

// clear the device's name. What has no mark is what a killed process left between making
// and marking, but in a container of another runtime's, which may have such devices itself; what has the owner's is from
// before an edit. Any other belongs to somebody.
func clear(p resource.Place, s Spec) error {
	l, err := p.LinkByName(s.Device)
	if err != nil {
		return ifThere(err)
	}
	alias := l.Attrs().Alias
	_, _, brought := namespace.SplitBrought(p.Ref)
	if !resource.Owned(alias, s.Owner) && (alias != "" || modeOf(l) == "" || brought) {
		return fmt.Errorf("interface %s already exists in namespace %q and is not this chain's; remove or rename it", s.Device, p.Ref)
	}
	return remove(p, s.Device)
}

// create makes, marks and raises the device, or leaves nothing.
func create(p resource.Place, above *netns.Handle, s Spec) error {
	parent, err := above.LinkByName(s.Parent.Device)
	if err != nil {
		return err
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.MTU, attrs.ParentIndex = s.Device, s.MTU, parent.Attrs().Index
	device, err := s.link(attrs)
	if err != nil {
		return err
	}
	if namespace.Owns(s.Owner, p.Ref) {
		err = made(p.Handle, above, device, s.alias())
	} else {
		err = bring(p.Handle, above, device, s.alias())
	}
	if err != nil {
		return err
	}
	l, err := p.LinkByName(s.Device)
	if err != nil {
		return err
	}
	if err := p.LinkSetUp(l); err != nil {
		return errors.Join(err, remove(p, s.Device))
	}
	return nil
}

// made and marked in a namespace: what a process that was killed between left there
// unmarked goes with the namespace, if that is the owner's.
func made(in, above *netns.Handle, device netlink.Link, alias string) error {
	device.Attrs().Namespace = netlink.NsFd(in.FD())
	if err := above.LinkAdd(device); err != nil {
		return err
	}
	l, err := in.LinkByName(device.Attrs().Name)
	if err != nil {
		return err
	}
	if err := in.LinkSetAlias(l, alias); err != nil {
		return errors.Join(err, in.LinkDel(l))
	}
	return nil
}

// bring a device to a namespace of others. It is made in one that goes with this process, so
// that it has the mark there from the first moment.
func bring(to, above *netns.Handle, device netlink.Link, alias string) error {
	return netns.Aside(func(aside *netns.Handle) error {
		if err := made(aside, above, device, alias); err != nil {
			return err
		}
		l, err := aside.LinkByName(device.Attrs().Name)
		if err != nil {
			return err
		}
		return aside.LinkSetNsFd(l, to.FD())
	})
}

// frees is how long the kernel may take to free the namespace of a device from before,
// which still has the address, or a parent that takes one device alone: it frees them one
// after the other, also those of other chains, of which there may be a thousand.
const frees = 60 * time.Second

// eventually does what the kernel may refuse until it has freed what was removed.
func eventually(mode string, do func() error) error {
	for deadline := time.Now().Add(frees); ; time.Sleep(5 * time.Millisecond) {
		err := do()
		taken := errors.Is(err, unix.EADDRINUSE) || mode == Passthru && errors.Is(err, unix.EINVAL)
		if !taken || time.Now().After(deadline) {
			return err
		}
	}
}

// explain what the kernel says in one word.
func explain(err error) error {
	for _, known := range []struct{ err, why error }{
		{unix.EADDRINUSE, errors.New("another macvlan over it has the same address")},
		{unix.EBUSY, errors.New("it is part of a bridge, bond or switch; take it out first, or name another parent")},
		{unix.EINVAL, errors.New("it takes none: it is given to a macvlan of mode passthru alone, is the loopback interface, has a smaller mtu, or no Ethernet addresses")},
	} {
		if errors.Is(err, known.err) {
			return fmt.Errorf("%w (%w)", known.why, err)
		}
	}
	return err
}

func remove(p resource.Place, name string) error {
	l, err := p.LinkByName(name)
	if err != nil {
		return ifThere(err)
	}
	if err := p.LinkDel(l); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("remove interface %s of namespace %q: %w", name, p.Ref, err)
	}
	return nil
}

// ifThere forgives that an interface was not found.
func ifThere(err error) error {
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) {
		return nil
	}
	return err
}
