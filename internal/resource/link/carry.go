package link

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// Carry takes ends of pairs from a namespace to the one that comes in its place, and raises them there: the pairs stay the ones that they are,
// with all that is at their other ends and with the programs that their own have. Addresses, routes and queueing disciplines are left behind.
// It tells whether all were there; an end that was not is to be made anew.
func Carry(from, to resource.Place, pairs []Spec) (all bool, err error) {
	all = true
	for _, s := range pairs {
		for _, end := range []End{s.A, s.B} {
			if end.Namespace != from.Ref {
				continue
			}
			there, err := carry(from, to, s, end)
			if err != nil {
				return false, err
			}
			all = all && there
		}
	}
	return all, nil
}

func carry(from, to resource.Place, s Spec, end End) (there bool, err error) {
	l, err := from.Device(end.Device)
	if errors.Is(err, resource.ErrNoInterface) {
		return false, nil
	}
	if err != nil || l.Attrs().Alias != s.alias() || l.Type() != "veth" {
		return false, err
	}
	hushed := s.Quiet && end == s.A
	if err := moveUp(from, to, l.Attrs().Index, !hushed && !s.Holds); err != nil {
		return false, fmt.Errorf("take interface %s of namespace %q to that of its container: %w", end.Device, from.Ref, err)
	}
	if hushed {
		if err := silence(to.Handle, end.Device); err != nil {
			return false, err
		}
	}
	if hushed || s.Holds {
		return true, Kind{}.raise(to, end.Device, s.alias(), s.Holds)
	}
	return true, nil
}

// moveUp takes an interface to another namespace and raises it there, in one request where it is to be raised at once.
func moveUp(from, to resource.Place, index int, up bool) error {
	r, err := from.Request(unix.RTM_SETLINK, unix.NLM_F_ACK)
	if err != nil {
		return err
	}
	about := nl.NewIfInfomsg(unix.AF_UNSPEC)
	about.Index = int32(index)
	if up {
		about.Flags, about.Change = unix.IFF_UP, unix.IFF_UP
	}
	r.AddData(about)
	r.AddData(nl.NewRtAttr(unix.IFLA_NET_NS_FD, nl.Uint32Attr(uint32(to.FD()))))
	_, err = r.Execute(unix.NETLINK_ROUTE, 0)
	return err
}
