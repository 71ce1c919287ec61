// Package neighbour makes permanent neighbour entries, so that a chain loses no
// packet to address resolution, least of all at saturation.
package neighbour

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of neighbours in a plan.
const KindName = "neighbour"

// Spec of a neighbour entry.
type Spec struct {
	Device  string     `json:"device"`
	Address netip.Addr `json:"address"`
	MAC     string     `json:"mac"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface with the neighbour's address.
func (s Spec) Key() string { return s.Device + "=" + s.Address.String() }

// Fingerprint is the neighbour's link-layer address.
func (s Spec) Fingerprint() string { return s.MAC }

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	return []resource.Command{resource.IP(ns, "neighbour", "replace", s.Address.String(),
		"lladdr", s.MAC, "dev", s.Device, "nud", "permanent")}
}

// Kind makes neighbour entries.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	list, err := p.NeighList(0, netlink.FAMILY_ALL)
	if err != nil {
		return nil, fmt.Errorf("list neighbours of namespace %q: %w", p.Ref, err)
	}
	var found []resource.Observed
	for _, n := range list {
		name, ours := mine[n.LinkIndex]
		if !ours || n.State&netlink.NUD_PERMANENT == 0 {
			continue
		}
		ip, _ := netip.AddrFromSlice(n.IP)
		s := Spec{Device: name, Address: ip.Unmap(), MAC: n.HardwareAddr.String()}
		found = append(found, resource.Observed{Key: s.Key(), Fingerprint: s.Fingerprint()})
	}
	return found, nil
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	return resource.Make(changes,
		func(key string) error { return remove(p, key) },
		func(s Spec) error { return set(p, s) })
}

func set(p resource.Place, s Spec) error {
	dev, err := p.Device(s.Device)
	if err != nil {
		return err
	}
	mac, err := net.ParseMAC(s.MAC)
	if err != nil {
		return err
	}
	n := &netlink.Neigh{LinkIndex: dev.Attrs().Index, State: netlink.NUD_PERMANENT, IP: s.Address.AsSlice(), HardwareAddr: mac}
	if err := p.NeighSet(n); err != nil {
		return fmt.Errorf("neighbour %s of %s in namespace %q: %w", s.Address, s.Device, p.Ref, err)
	}
	return nil
}

func remove(p resource.Place, key string) error {
	mine, err := p.Mine()
	if err != nil {
		return err
	}
	list, err := p.NeighList(0, netlink.FAMILY_ALL)
	if err != nil {
		return err
	}
	for _, n := range list {
		ip, _ := netip.AddrFromSlice(n.IP)
		name, ours := mine[n.LinkIndex]
		if !ours || (Spec{Device: name, Address: ip.Unmap()}).Key() != key {
			continue
		}
		if err := p.NeighDel(&n); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("remove neighbour %s of namespace %q: %w", key, p.Ref, err)
		}
	}
	return nil
}
