package builtin

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// sender is a generator and what lets its frames onto a device.
type sender struct {
	*generator
	peer *opened
}

// newSender readies a load for a device. The far side of a veth is found among the
// namespaces that have names, or where it may be else.
func newSender(h *netns.Handle, out netlink.Link, l load, perhaps string) (s *sender, err error) {
	if out.Type() != "veth" {
		return nil, fmt.Errorf("%s is a %s: the generator sends from a veth", out.Attrs().Name, out.Type())
	}
	s = &sender{}
	if s.peer, err = openPeer(h, out, perhaps); err != nil {
		return nil, err
	}
	if s.generator, err = newGenerator(l); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *sender) close() {
	if s == nil {
		return
	}
	if s.generator != nil {
		s.generator.close()
	}
	s.peer.close()
}
