package link

import (
	"errors"

	"nfchain.dev/nfchain/internal/netns"
)

// bring a pair to namespaces of others. It is made and marked in one that goes with this
// process, so that whatever of it comes to others has the mark from the first moment.
func bring(h, far *netns.Handle, s Spec) error {
	if err := errors.Join(removeStale(h, s.A.Device, s.Owner), removeStale(far, s.B.Device, s.Owner)); err != nil {
		return err
	}
	made := s
	made.B.Device = "far" // both ends may have one name
	return netns.Aside(func(aside *netns.Handle) error {
		if err := add(aside, aside, made); err != nil {
			return err
		}
		if err := move(aside, h, s.A.Device, s.A.Device, s.alias()); err != nil {
			return err
		}
		return move(aside, far, made.B.Device, s.B.Device, s.alias())
	})
}

// move an end to a namespace, marked and under its name.
func move(from, to *netns.Handle, name, as, alias string) error {
	l, err := from.LinkByName(name)
	if err != nil {
		return err
	}
	if err := from.LinkSetAlias(l, alias); err != nil {
		return err
	}
	if name != as {
		if err := from.LinkSetName(l, as); err != nil {
			return err
		}
	}
	return from.LinkSetNsFd(l, to.FD())
}
