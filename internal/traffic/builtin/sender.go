package builtin

import (
	"context"
	"fmt"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/trial"
)

// offering is a source that sends a load.
type offering interface {
	// begin the load at a time, ns, which its steps count from.
	begin(at uint64) error
	run(ctx context.Context) error
	progress() (source.ProgramProgress, error)
	lateness() ([trial.Buckets]uint64, error)
	had() turn
	// bySteps is what was sent, by the step of the trial that it was due in.
	bySteps() ([moments]uint64, error)
	close()
}

// The ways onto a device.
type way int

const (
	wayAny    way = iota
	wayVeth       // from the kernel, to the far side of a veth
	wayHelper     // from the kernel, through a helper veth
	wayPacket     // through a packet socket
)

// liveLongest is the longest frame, FCS counted, that the kernel's own source sends: it
// must leave room for what surrounds it in a page.
const liveLongest = 3400

// sender is a source and what lets its frames onto a device: a program on the far
// side of a veth, or a helper veth beside a device of another kind.
type sender struct {
	offering
	way    way
	peer   *opened
	helper *helper
}

// newSender readies a load for a device. The far side of a veth is found among the
// namespaces that have names, or where it may be else.
func newSender(h *netns.Handle, out netlink.Link, l load, perhaps string) (*sender, error) {
	if room := out.Attrs().MTU + l.network() + fcs; l.longest() > room {
		return nil, fmt.Errorf("a frame of %d bytes does not fit through %s, whose MTU of %d takes %d: raise the MTU or send shorter ones",
			l.longest(), out.Attrs().Name, out.Attrs().MTU, room)
	}
	if l.way != wayPacket && l.longest() <= liveLongest {
		s := &sender{}
		err := s.open(h, out, l, perhaps)
		if err == nil {
			return s, nil
		}
		s.close()
		if !refused(err) {
			return nil, err
		}
	}
	p, err := newPacketSource(l)
	if err != nil {
		return nil, err
	}
	return &sender{offering: p, way: wayPacket}, nil
}

// open a way onto the device for the kernel's own source. The far side of a veth may be
// where it cannot be reached, in a namespace that has no name, or refuse the program; a
// helper needs nothing of it.
func (s *sender) open(h *netns.Handle, out netlink.Link, l load, perhaps string) (err error) {
	s.way = wayVeth
	if out.Type() == "veth" && l.way != wayHelper {
		s.peer, _ = openPeer(h, out, perhaps) // without one there is the helper
	}
	if s.peer == nil {
		if s.helper, err = newHelper(h, out); err != nil {
			return err
		}
		s.way, l.netns, l.device = wayHelper, s.helper.netns.Ref(), s.helper.device
	}
	g, err := newGenerator(l)
	if err == nil {
		s.offering = g
	}
	return err
}

// remark on what a way costs.
func (w way) remark() string {
	switch w {
	case wayHelper:
		return "the generator sends through a helper veth, because the interface takes no frames from XDP or its far side cannot be reached: its ceiling is lower"
	case wayPacket:
		return "the generator sends through a packet socket, because its frames are too long for the kernel's own source or BPF is refused: its ceiling is lower and its times are coarser"
	}
	return ""
}

func (s *sender) close() {
	if s == nil {
		return
	}
	if s.offering != nil {
		s.offering.close()
	}
	s.peer.close()
	s.helper.close()
}
