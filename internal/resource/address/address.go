// Package address gives interfaces their addresses, each with the one peer at
// the other end of the link.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource"
)

// KindName of addresses in a plan.
const KindName = "address"

// Spec of an address.
type Spec struct {
	Device  string     `json:"device"`
	Address netip.Addr `json:"address"`
	// Peer is the address at the other end; both are host routes. Without one the
	// address leads nowhere by itself.
	Peer netip.Addr `json:"peer,omitzero"`
}

// Kind implements resource.Spec.
func (Spec) Kind() string { return KindName }

// Key is the interface with the address.
func (s Spec) Key() string { return s.Device + "=" + s.Address.String() }

// Fingerprint is the peer.
func (s Spec) Fingerprint() string {
	if !s.Peer.IsValid() {
		return "no peer"
	}
	return s.Peer.String()
}

// Commands implements resource.Spec.
func (s Spec) Commands(ns string) []resource.Command {
	args := []string{"address", "add", s.Address.String()}
	if s.Peer.IsValid() {
		args = append(args, "peer", s.Peer.String())
	}
	args = append(args, "dev", s.Device)
	if s.Address.Is6() {
		args = append(args, "nodad")
	}
	return []resource.Command{resource.IP(ns, args...)}
}

// Kind makes addresses.
type Kind struct{}

// Name implements resource.Kind.
func (Kind) Name() string { return KindName }

// Read implements resource.Kind.
func (Kind) Read(p resource.Place) ([]resource.Observed, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	list, err := p.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return nil, err
	}
	var found []resource.Observed
	for _, a := range list {
		name, ours := mine[a.LinkIndex]
		if !ours || a.IPNet == nil || a.IP.IsLinkLocalUnicast() {
			continue
		}
		own := Spec{Device: name, Address: fromIP(a.IP)}
		if a.Peer != nil {
			own.Peer = fromIP(a.Peer.IP)
		}
		found = append(found, resource.Observed{Key: own.Key(), Fingerprint: own.Fingerprint()})
	}
	return found, nil
}

func fromIP(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a.Unmap()
}

// Apply implements resource.Kind.
func (Kind) Apply(p resource.Place, changes []resource.Change) error {
	for _, c := range changes {
		if c.Op != resource.Create {
			if err := remove(p, c.Key); err != nil {
				return err
			}
		}
		if c.Op != resource.Delete {
			if err := add(p, c.Spec.(Spec)); err != nil {
				return err
			}
		}
	}
	return nil
}

func add(p resource.Place, s Spec) error {
	dev, err := p.Device(s.Device)
	if err != nil {
		return err
	}
	a := &netlink.Addr{IPNet: host(s.Address)}
	if s.Peer.IsValid() {
		a.Peer = host(s.Peer)
	}
	if s.Address.Is6() {
		a.Flags = unix.IFA_F_NODAD
	}
	if err := p.AddrAdd(dev, a); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("give %s of namespace %q the address %s: %w", s.Device, p.Ref, s.Address, err)
	}
	return nil
}

func remove(p resource.Place, key string) error {
	mine, err := p.Mine()
	if err != nil {
		return err
	}
	list, err := p.AddrList(nil, netlink.FAMILY_ALL)
	if err != nil {
		return err
	}
	for _, a := range list {
		name, ours := mine[a.LinkIndex]
		if !ours || (Spec{Device: name, Address: fromIP(a.IP)}).Key() != key {
			continue
		}
		dev := &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: a.LinkIndex}}
		if err := p.AddrDel(dev, &a); err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
			return fmt.Errorf("take %s from namespace %q: %w", key, p.Ref, err)
		}
	}
	return nil
}

func host(a netip.Addr) *net.IPNet {
	return &net.IPNet{IP: a.AsSlice(), Mask: net.CIDRMask(a.BitLen(), a.BitLen())}
}
