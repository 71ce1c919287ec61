package builtin

import (
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
)

// sender is a generator and what lets its frames onto a device: a program on the far
// side of a veth, or a helper veth beside a device of another kind.
type sender struct {
	*generator
	peer   *opened
	helper *helper
}

// newSender readies a load for a device. The far side of a veth is found among the
// namespaces that have names, or where it may be else.
func newSender(h *netns.Handle, out netlink.Link, l load, perhaps string) (s *sender, err error) {
	s = &sender{}
	if err := s.open(h, out, &l, perhaps); err != nil {
		s.close()
		return nil, err
	}
	if s.generator, err = newGenerator(l); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// open the way onto the device. The far side of a veth may be where it cannot be
// reached, in a namespace that has no name, or refuse the program; a helper needs
// nothing of it.
func (s *sender) open(h *netns.Handle, out netlink.Link, l *load, perhaps string) (err error) {
	if out.Type() == "veth" {
		if s.peer, err = openPeer(h, out, perhaps); err == nil {
			return nil
		}
	}
	if s.helper, err = newHelper(h, out); err != nil {
		return err
	}
	l.netns, l.device = s.helper.netns.Ref(), s.helper.device
	return nil
}

func (s *sender) close() {
	if s == nil {
		return
	}
	if s.generator != nil {
		s.generator.close()
	}
	s.peer.close()
	s.helper.close()
}
