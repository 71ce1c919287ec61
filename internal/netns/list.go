package netns

import (
	"errors"

	"github.com/vishvananda/netlink"
)

// The lists below are asked for again when something changed while the kernel was
// giving them, since what it gave then may lack something.

// tries of a list before its inconsistency is reported.
const tries = 100

func whole[T any](list func() ([]T, error)) ([]T, error) {
	var all []T
	var err error
	for range tries {
		if all, err = list(); !errors.Is(err, netlink.ErrDumpInterrupted) {
			return all, err
		}
	}
	return nil, err
}

// LinkList lists the interfaces.
func (h *Handle) LinkList() ([]netlink.Link, error) { return whole(h.Handle.LinkList) }

// AddrList lists the addresses of an interface, or with nil of all.
func (h *Handle) AddrList(l netlink.Link, family int) ([]netlink.Addr, error) {
	return whole(func() ([]netlink.Addr, error) { return h.Handle.AddrList(l, family) })
}

// RouteListFiltered lists the routes that the filter's masked fields select.
func (h *Handle) RouteListFiltered(family int, filter *netlink.Route, mask uint64) ([]netlink.Route, error) {
	return whole(func() ([]netlink.Route, error) { return h.Handle.RouteListFiltered(family, filter, mask) })
}

// RouteList lists the routes over an interface, or with nil all, of the main table.
func (h *Handle) RouteList(l netlink.Link, family int) ([]netlink.Route, error) {
	return whole(func() ([]netlink.Route, error) { return h.Handle.RouteList(l, family) })
}

// NeighList lists the neighbours on an interface, or with 0 on all.
func (h *Handle) NeighList(index, family int) ([]netlink.Neigh, error) {
	return whole(func() ([]netlink.Neigh, error) { return h.Handle.NeighList(index, family) })
}

// QdiscList lists the queueing disciplines of an interface, or with nil of all.
func (h *Handle) QdiscList(l netlink.Link) ([]netlink.Qdisc, error) {
	return whole(func() ([]netlink.Qdisc, error) { return h.Handle.QdiscList(l) })
}

// ClassList lists the classes of an interface.
func (h *Handle) ClassList(l netlink.Link, parent uint32) ([]netlink.Class, error) {
	return whole(func() ([]netlink.Class, error) { return h.Handle.ClassList(l, parent) })
}
