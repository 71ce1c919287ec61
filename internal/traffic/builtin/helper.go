package builtin

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/bpf/feed"
	"nfchain.dev/nfchain/internal/netns"
)

// helper is a veth pair that feeds a device which takes no XDP frames. One end is in a
// namespace without a name, in which the source sends; what reaches the other end, beside
// the device, goes out of the device. All of it goes with that namespace.
type helper struct {
	netns   *netns.Unnamed
	device  int // of the end to send from
	objects feed.ProgramObjects
	links   []io.Closer
}

// newHelper makes a helper for a device.
func newHelper(h *netns.Handle, out netlink.Link) (*helper, error) {
	unnamed, err := netns.NewUnnamed()
	if err != nil {
		return nil, err
	}
	s := &helper{netns: unnamed}
	if err := s.make(h, out); err != nil {
		s.close()
		return nil, fmt.Errorf("make a helper veth for %s, which takes no frames from XDP: %w", out.Attrs().Name, err)
	}
	return s, nil
}

func (s *helper) make(h *netns.Handle, out netlink.Link) error {
	own, err := netns.Open(s.netns.Ref())
	if err != nil {
		return err
	}
	defer own.Close()
	if err := own.Do(quiet); err != nil {
		return err
	}
	name := fmt.Sprintf("nfgen-%08x", rand.Uint32())
	pair := netlink.NewVeth(netlink.LinkAttrs{Name: helperName, MTU: out.Attrs().MTU})
	pair.PeerName, pair.PeerNamespace = name, netlink.NsFd(h.FD())
	if err := own.LinkAdd(pair); err != nil {
		return err
	}
	near, err := raise(own, helperName)
	if err != nil {
		return err
	}
	far, err := raise(h, name)
	if err != nil {
		return err
	}
	s.device = near
	return s.attach(h, far, out.Attrs().Index)
}

// quiet has the kernel send nothing of its own from this namespace.
func quiet() error {
	err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644)
	if os.IsNotExist(err) {
		return nil // a kernel without IPv6
	}
	return err
}

// raise an interface and give its index.
func raise(h *netns.Handle, name string) (int, error) {
	l, err := h.LinkByName(name)
	if err != nil {
		return 0, err
	}
	return l.Attrs().Index, h.LinkSetUp(l)
}

// attach what takes frames at the far end, and what sends them from the device.
func (s *helper) attach(h *netns.Handle, far, device int) error {
	spec, err := feed.LoadProgram()
	if err != nil {
		return err
	}
	if err := spec.Variables["device"].Set(uint32(device)); err != nil {
		return err
	}
	if err := spec.LoadAndAssign(&s.objects, nil); err != nil {
		return err
	}
	return h.Do(func() error {
		native, err := link.AttachXDP(link.XDPOptions{Program: s.objects.Pass, Interface: far, Flags: link.XDPDriverMode})
		if err != nil {
			return err
		}
		s.links = append(s.links, native)
		tcx, err := link.AttachTCX(link.TCXOptions{Program: s.objects.Feed, Interface: far, Attach: ebpf.AttachTCXIngress})
		if err == nil {
			s.links = append(s.links, tcx)
		}
		return err
	})
}

func (s *helper) close() {
	if s == nil {
		return
	}
	for _, l := range s.links {
		_ = l.Close()
	}
	_ = s.objects.Close()
	// With the namespace the pair would go a little later.
	if own, err := netns.Open(s.netns.Ref()); err == nil {
		_ = own.LinkDel(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Index: s.device, Name: helperName}})
		own.Close()
	}
	s.netns.Close()
}

// helperName is the device of a helper that the source sends from.
const helperName = "helper"
