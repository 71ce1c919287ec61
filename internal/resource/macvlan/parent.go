package macvlan

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource"
)

// notes is the file that says that an owner has, or had, devices over an interface of
// the host. The kernel frees a namespace's devices a while after its name is gone, and
// until then the host's interface keeps their addresses, or takes every packet for
// them; an owner with such a file has its devices removed by hand.
func notes(owner, device string) string {
	return filepath.Join(rundir.Root, owner, "parent-"+device)
}

func noteParent(s Spec) error {
	if !s.Parent.OfHost() {
		return nil
	}
	path := notes(s.Owner, s.Parent.Device)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o644)
}

// OverHost tells whether an owner may have devices over an interface of the host.
func OverHost(owner string) bool {
	files, _ := filepath.Glob(notes(owner, "*"))
	return len(files) > 0
}

// Possible implements resource.Wary: the host's interfaces that are to be parents must
// be there, and be such as can be.
func (Kind) Possible(specs []resource.Spec) error {
	var host *netns.Handle
	checked := map[Parent]bool{}
	for _, spec := range specs {
		s := spec.(Spec)
		if !s.Parent.OfHost() || checked[s.Parent] {
			continue
		}
		checked[s.Parent] = true
		if host == nil {
			opened, err := netns.Open(netns.Host)
			if err != nil {
				return err
			}
			defer opened.Close()
			host = opened
		}
		if err := usable(host, s); err != nil {
			return fmt.Errorf("parent %s: %w", s.Parent.Device, err)
		}
	}
	return nil
}

// usable is an error that says why an interface of the host cannot be a parent.
func usable(host *netns.Handle, s Spec) error {
	l, err := host.LinkByName(s.Parent.Device)
	var gone netlink.LinkNotFoundError
	if errors.As(err, &gone) {
		return errors.New("the host has no such interface; `ip link` shows those there are")
	}
	if err != nil {
		return err
	}
	a := l.Attrs()
	switch {
	case a.Flags&net.FlagLoopback != 0:
		return errors.New("the loopback interface cannot have macvlan devices; name another, or none")
	case a.EncapType != "ether":
		return fmt.Errorf("it has no Ethernet addresses (it is of type %s), and macvlan devices are told apart by them", a.EncapType)
	case l.Type() == "macvlan" || l.Type() == "macvtap":
		return fmt.Errorf("it is a %s itself, and the kernel would take what that is over; name that", l.Type())
	case a.MasterIndex != 0:
		return errors.New("it is part of a bridge, bond or switch; take it out first, or name another")
	case a.MTU < s.MTU:
		return fmt.Errorf("its mtu is %d, and the chain's is %d; set the chain's mtu to %d or less, or raise its own by `ip link set %s mtu %d`",
			a.MTU, s.MTU, a.MTU, a.Name, s.MTU)
	case a.Flags&net.FlagUp == 0:
		return fmt.Errorf("it is down; `ip link set %s up`", a.Name)
	case a.RawFlags&unix.IFF_LOWER_UP == 0: // its operational state follows a while later
		return errors.New("it has no carrier, without which what is over it carries nothing; plug it in, or raise its other end")
	}
	return free(host, l)
}

// free is an error if a device of mode passthru has the interface for itself. One in
// another namespace is not seen.
func free(host *netns.Handle, parent netlink.Link) error {
	links, err := host.LinkList()
	if err != nil {
		return err
	}
	for _, l := range links {
		device, is := l.(*netlink.Macvlan)
		if is && device.Mode == netlink.MACVLAN_MODE_PASSTHRU && l.Attrs().ParentIndex == parent.Attrs().Index && l.Attrs().NetNsID < 0 {
			return fmt.Errorf("it is given to %s alone, a macvlan of mode passthru", l.Attrs().Name)
		}
	}
	return nil
}
