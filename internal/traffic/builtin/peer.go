package builtin

import (
	"errors"
	"fmt"
	"io"

	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/feed"
	"nfchain.dev/nfchain/internal/netns"
)

// opened is what makes a veth take XDP frames that its peer sends it.
type opened struct {
	objects feed.ProgramObjects
	link    io.Closer
}

// openPeer attaches a program that lets everything pass to the far side of a veth:
// without one there the kernel takes no frames (veth_xdp_xmit). It goes with its
// descriptors. Where a program is attached already, nothing has to be. The far side may be in
// a namespace without a name, which is then given.
func openPeer(h *netns.Handle, l netlink.Link, perhaps string) (*opened, error) {
	ref, err := peerNamespace(h, l, perhaps)
	if err != nil {
		return nil, err
	}
	spec, err := feed.LoadProgram()
	if err != nil {
		return nil, err
	}
	o := &opened{}
	if err := spec.LoadAndAssign(&o.objects, nil); err != nil {
		return nil, fmt.Errorf("load a program for the peer of %s: %w", l.Attrs().Name, err)
	}
	err = netns.Do(ref, func() error {
		at, err := link.AttachXDP(link.XDPOptions{Program: o.objects.Pass, Interface: l.Attrs().ParentIndex, Flags: link.XDPDriverMode})
		if err == nil {
			o.link = at
		}
		return err
	})
	if err != nil && !errors.Is(err, unix.EBUSY) {
		o.close()
		return nil, fmt.Errorf("attach a program to the peer of %s in %q: %w", l.Attrs().Name, ref, err)
	}
	return o, nil
}

func (o *opened) close() {
	if o == nil {
		return
	}
	if o.link != nil {
		_ = o.link.Close()
	}
	_ = o.objects.Close()
}

// peerNamespace finds the namespace of a veth's other end among those that have names,
// and one more.
func peerNamespace(h *netns.Handle, l netlink.Link, perhaps string) (string, error) {
	id := l.Attrs().NetNsID
	if id < 0 {
		return h.Ref, nil
	}
	names, err := netns.List()
	if err != nil {
		return "", err
	}
	for _, name := range append([]string{perhaps, netns.Host}, names...) {
		other, err := netns.Open(name)
		if err != nil {
			continue // one that is going
		}
		found, err := h.GetNetNsIdByFd(other.FD())
		other.Close()
		if err == nil && found == id {
			return name, nil
		}
	}
	return "", fmt.Errorf("the namespace of the peer of %s has no name under %s", l.Attrs().Name, netns.Dir)
}
