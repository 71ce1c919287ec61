// Package route makes the routes of a chain, marked with a routing protocol
// number of nfchain's own.
package route

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of routes in a plan.
const KindName = "route"

// Protocol marks routes that nfchain made (rtnetlink(7), rtm_protocol); it is
// not one of those that iproute2's rt_protos names.
const Protocol = 78

// Spec of a route.
type Spec struct {
	Destination netip.Prefix `json:"destination"`
	Via         netip.Addr   `json:"via"`
	Device      string       `json:"device"`
	// Source is the address that packets come from which the namespace sends itself;
	// the kernel chooses where it is not given.
	Source netip.Addr `json:"source,omitzero"`
	// Table is another than the main one; 0 is that.
	Table uint32 `json:"table,omitempty"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the destination.
func (s Spec) Key() string {
	if s.Table == 0 {
		return s.Destination.String()
	}
	return fmt.Sprintf("%s in table %d", s.Destination, s.Table)
}

// Fingerprint is the next hop, and the source where it is given.
func (s Spec) Fingerprint() string {
	hop := s.Via.String() + "%" + s.Device
	if s.Source.IsValid() {
		hop += " from " + s.Source.String()
	}
	return hop
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	args := []string{"route", "add", s.Destination.String(), "via", s.Via.String(), "dev", s.Device, "onlink", "proto", fmt.Sprint(Protocol)}
	if s.Source.IsValid() {
		args = append(args, "src", s.Source.String())
	}
	if s.Table != 0 {
		args = append(args, "table", fmt.Sprint(s.Table))
	}
	return []resource.Command{resource.IP(ns, args...)}
}

// Kind makes routes.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	var found []resource.Observed
	err := each(p, func(r netlink.Route, s Spec) error {
		found = append(found, resource.Observed{Key: s.Key(), Fingerprint: s.Fingerprint()})
		return nil
	})
	return found, err
}

// each visits the owner's routes of a namespace.
func each(p resource.Place, visit func(netlink.Route, Spec) error) error {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return err
	}
	filter := &netlink.Route{Protocol: Protocol, Table: unix.RT_TABLE_UNSPEC}
	list, err := p.RouteListFiltered(netlink.FAMILY_ALL, filter, netlink.RT_FILTER_PROTOCOL|netlink.RT_FILTER_TABLE)
	if err != nil {
		return fmt.Errorf("list routes of namespace %q: %w", p.Ref, err)
	}
	for _, r := range list {
		name, ours := mine[r.LinkIndex]
		if !ours || r.Dst == nil {
			continue
		}
		ones, _ := r.Dst.Mask.Size()
		dst, _ := netip.AddrFromSlice(r.Dst.IP)
		via, _ := netip.AddrFromSlice(r.Gw)
		source, _ := netip.AddrFromSlice(r.Src)
		spec := Spec{Destination: netip.PrefixFrom(dst.Unmap(), ones), Via: via.Unmap(), Device: name, Source: source.Unmap()}
		if r.Table != unix.RT_TABLE_MAIN {
			spec.Table = uint32(r.Table)
		}
		if err := visit(r, spec); err != nil {
			return err
		}
	}
	return nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes,
		func(key string) error { return remove(p, key) },
		func(s Spec) error { return replace(p, s) })
}

func replace(p resource.Place, s Spec) error {
	dev, err := p.Device(s.Device)
	if err != nil {
		return err
	}
	r := &netlink.Route{
		LinkIndex: dev.Attrs().Index, Gw: s.Via.AsSlice(), Protocol: Protocol, Table: int(s.Table),
		// The next hop is the peer of the interface's own address. Saying so spares
		// the kernel looking it up, which for IPv6 fails now and then while the link
		// is coming up.
		Flags: int(netlink.FLAG_ONLINK),
		Dst:   &net.IPNet{IP: s.Destination.Addr().AsSlice(), Mask: net.CIDRMask(s.Destination.Bits(), s.Destination.Addr().BitLen())},
	}
	if s.Source.IsValid() {
		r.Src = s.Source.AsSlice()
	}
	err = p.RouteReplace(r)
	if errors.Is(err, unix.EINVAL) && s.Via.Is6() {
		// A route over another interface was there, by which the kernel found the next
		// hop while the link of this one is coming up.
		if err = remove(p, s.Key()); err == nil {
			err = p.RouteReplace(r)
		}
	}
	if err != nil {
		return fmt.Errorf("route %s via %s in namespace %q: %w", s.Destination, s.Via, p.Ref, err)
	}
	return nil
}

func remove(p resource.Place, key string) error {
	return each(p, func(r netlink.Route, s Spec) error {
		if s.Key() != key {
			return nil
		}
		if err := p.RouteDel(&r); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("remove route %s of namespace %q: %w", key, p.Ref, err)
		}
		return nil
	})
}
