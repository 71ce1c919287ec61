package pass

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"

	"nfchain.dev/nfchain/bpf/passnat"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// NATAddresses are those that connections are given as their source, or are sent to, by the NATs at the owner's interfaces, by whose they are
// ([WhoseNAT]). Those of another version of nfchain are not told.
func NATAddresses(p resource.Place) (map[uint32][]netip.Addr, error) {
	mine, err := p.Mine()
	if err != nil || len(mine) == 0 {
		return nil, err
	}
	found := map[uint32][]netip.Addr{}
	err = p.Do(func() error {
		for index, device := range mine {
			all, err := held.FindCalled(natName, p, index, held.Passes)
			for _, a := range all {
				if err == nil {
					err = attached{Program: a}.natAddresses(found)
				}
			}
			held.CloseAll(all)
			if err != nil {
				return fmt.Errorf("read what is translated at %s of namespace %q: %w", device, p.Ref, err)
			}
		}
		return nil
	})
	return found, err
}

// Addresses that connections are given as their source, or are sent to.
func (n NAT) Addresses() (all []netip.Addr) {
	for _, r := range n.Rules {
		if r.Source {
			all = append(all, r.Targets[0].Address)
		} else {
			all = append(all, r.Address)
		}
	}
	return all
}

// natAddresses adds those of a pass.
func (a attached) natAddresses(found map[uint32][]netip.Addr) error {
	c, err := a.read()
	if err != nil {
		return err
	}
	for _, s := range translations(c.steps) {
		first, length := uint32(s.Args[0]), uint32(s.Args[0]>>32)
		for i := first; i < first+length; i++ {
			own, err := a.natAddress(i)
			if err != nil {
				return err
			}
			if of := s.whose(); !slices.Contains(found[of], own) {
				found[of] = append(found[of], own)
			}
		}
	}
	return nil
}

// natAddress is the one of a rule.
func (a attached) natAddress(number uint32) (netip.Addr, error) {
	var r passnat.ProgramNatRule
	if err := a.Maps[natRulesMap].Lookup(number, &r); err != nil {
		return netip.Addr{}, err
	}
	if r.Kind != sourceRule {
		return unraw(r.Address, r.Version), nil
	}
	var target uint32
	if err := a.Maps[natRingMap].Lookup(r.Ring, &target); err != nil {
		return netip.Addr{}, err
	}
	var t passnat.ProgramNatTarget
	err := a.Maps[natTargetsMap].Lookup(target, &t)
	return unraw(t.Address, r.Version), err
}

// unraw is the address of a version that raw laid out.
func unraw(w [4]uint32, version uint8) netip.Addr {
	var b [16]byte
	for i, word := range w {
		binary.NativeEndian.PutUint32(b[4*i:], word)
	}
	if version == 4 {
		return netip.AddrFrom4([4]byte(b[:4]))
	}
	return netip.AddrFrom16(b)
}
