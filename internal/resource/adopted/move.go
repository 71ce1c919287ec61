package adopted

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/resource"
)

// adopt moves an interface. A record from before is the truth about what it was:
// what is seen now may be half of the way there or back.
func adopt(p resource.Place, s Spec) error {
	r, err := load(p.Owner, s.Interface)
	if errors.Is(err, fs.ErrNotExist) {
		r, err = describe(p.Handle, s)
		if err == nil {
			err = save(p.Owner, r)
		}
	}
	if err != nil {
		return err
	}
	to, err := netns.Open(s.Into)
	if err != nil {
		return err
	}
	defer to.Close()
	if l, err := p.LinkByName(s.Interface); err == nil {
		if err := p.LinkSetNsFd(l, to.FD()); err != nil {
			return fmt.Errorf("move to namespace %s: %w", s.Into, err)
		}
	}
	l, err := to.LinkByName(s.Interface)
	if err != nil {
		return fmt.Errorf("it is neither on the host nor in namespace %s: %w", s.Into, err)
	}
	// Not the mark of what the chain made: what carries that is removed.
	if err := to.LinkSetAlias(l, mark(p.Owner)); err != nil {
		return err
	}
	if err := to.LinkSetUp(l); err != nil {
		return err
	}
	return addresses(to, l, r)
}

// describe writes down what an interface is.
func describe(h *netns.Handle, s Spec) (record, error) {
	r := record{Interface: s.Interface, Into: s.Into}
	l, err := h.LinkByName(s.Interface)
	if err != nil {
		return r, ErrNotFound
	}
	if l.Attrs().MasterIndex != 0 {
		return r, errors.New("it is part of a bridge or bond; take it out first")
	}
	r.Settings = settings(s.Interface)
	r.Up, r.Alias = l.Attrs().Flags&net.FlagUp != 0, l.Attrs().Alias
	list, err := h.AddrList(l, netlink.FAMILY_ALL)
	if err != nil {
		return r, err
	}
	for _, a := range list {
		if !a.IP.IsLinkLocalUnicast() {
			r.Addresses = append(r.Addresses, netlink.Addr{IPNet: a.IPNet, Label: a.Label, Peer: a.Peer, Broadcast: a.Broadcast, Scope: a.Scope})
		}
	}
	r.Routes, err = routes(h, l)
	return r, err
}

// routes over an interface, in all tables, which somebody gave it: those that others' gateways are reached by before these.
func routes(h *netns.Handle, l netlink.Link) (kept []netlink.Route, err error) {
	all, err := h.RouteListFiltered(netlink.FAMILY_ALL, &netlink.Route{LinkIndex: l.Attrs().Index, Table: unix.RT_TABLE_UNSPEC}, netlink.RT_FILTER_OIF|netlink.RT_FILTER_TABLE)
	for _, route := range all {
		if route.Protocol != unix.RTPROT_KERNEL && route.Protocol != unix.RTPROT_RA {
			kept = append(kept, netlink.Route{Dst: route.Dst, Src: route.Src, Gw: route.Gw, Protocol: route.Protocol,
				Priority: route.Priority, Scope: route.Scope, Flags: route.Flags & unix.RTNH_F_ONLINK, Table: route.Table,
				MTU: route.MTU, MTULock: route.MTULock, AdvMSS: route.AdvMSS, InitCwnd: route.InitCwnd, InitRwnd: route.InitRwnd})
		}
	}
	slices.SortStableFunc(kept, func(a, b netlink.Route) int { return min(len(a.Gw), 1) - min(len(b.Gw), 1) })
	return kept, err
}

func addresses(h *netns.Handle, l netlink.Link, r record) error {
	for _, a := range r.Addresses {
		if a.IP.To4() == nil {
			a.Flags |= unix.IFA_F_NODAD
		} else if a.Broadcast == nil {
			a.Broadcast = net.IPv4zero // none, where the library would work one out
		}
		if err := h.AddrAdd(l, &a); err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("address %s: %w", a.IPNet, err)
		}
	}
	return nil
}

// restore puts an interface back: its place, addresses, routes, alias and state.
// One that was removed meanwhile is let go. Routes that the kernel does not take any more are told of once: what they need may be gone for good, and the
// rest of the chain goes when it is asked again.
func restore(owner, name string) error {
	r, err := load(owner, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	host, err := netns.Open(netns.Host)
	if err != nil {
		return err
	}
	defer host.Close()
	if err := moveBack(host, r); err != nil {
		return err
	}
	var refused error
	if l, err := host.LinkByName(name); err == nil {
		if err := asItWas(host, l, r); err != nil {
			return err
		}
		refused = lead(host, l, r)
	}
	return errors.Join(refused, os.Remove(path(owner, name)))
}

func moveBack(host *netns.Handle, r record) error {
	if !netns.Exists(r.Into) {
		return nil
	}
	from, err := netns.Open(r.Into)
	if err != nil {
		return err
	}
	defer from.Close()
	l, err := from.LinkByName(r.Interface)
	if err != nil {
		return nil
	}
	return from.LinkSetNsFd(l, host.FD())
}

func asItWas(host *netns.Handle, l netlink.Link, r record) error {
	putSettings(r)
	if err := host.LinkSetAlias(l, r.Alias); err != nil {
		return err
	}
	set := host.LinkSetDown
	if r.Up {
		set = host.LinkSetUp
	}
	if err := set(l); err != nil {
		return err
	}
	return addresses(host, l, r)
}

// lead packets by it again, if it was up: one that is down has no routes.
func lead(host *netns.Handle, l netlink.Link, r record) error {
	if !r.Up {
		return nil
	}
	var refused []error
	for _, route := range r.Routes {
		route.LinkIndex = l.Attrs().Index
		if err := host.RouteReplace(&route); err != nil {
			refused = append(refused, fmt.Errorf("the kernel does not take its route %s any more, which is left out: %w", route, err))
		}
	}
	return errors.Join(refused...)
}

// MTU of an interface of the host, or of one that the owner has taken.
func MTU(owner, name string) (int, error) {
	r, err := load(owner, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, ref := range []string{r.Into, netns.Host} {
		if mtu, err := mtuIn(ref, name); err == nil {
			return mtu, nil
		}
	}
	return 0, fmt.Errorf("interface %s: %w", name, ErrNotFound)
}

func mtuIn(ref, name string) (int, error) {
	h, err := netns.Open(ref)
	if err != nil {
		return 0, err
	}
	defer h.Close()
	l, err := h.LinkByName(name)
	if err != nil {
		return 0, err
	}
	return l.Attrs().MTU, nil
}

// Networks are the networks that an interface's addresses are in, wherever it is
// now: on the host, or adopted by the owner.
func Networks(owner, name string) ([]netip.Prefix, error) {
	r, err := load(owner, name)
	if errors.Is(err, fs.ErrNotExist) {
		host, err := netns.Open(netns.Host)
		if err != nil {
			return nil, err
		}
		defer host.Close()
		if r, err = describe(host, Spec{Interface: name}); err != nil {
			return nil, fmt.Errorf("interface %s: %w", name, err)
		}
	} else if err != nil {
		return nil, err
	}
	var out []netip.Prefix
	for _, a := range r.Addresses {
		ip, _ := netip.AddrFromSlice(a.IP)
		ones, _ := a.Mask.Size()
		out = append(out, netip.PrefixFrom(ip.Unmap(), ones).Masked())
	}
	return out, nil
}
