package pass

import (
	"errors"
	"fmt"
	"math/bits"
	"net/netip"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
)

// Copies is what a mirror copies, and where to.
type Copies struct {
	// Tap that gets them, by its place among the spec's.
	Tap uint32
	// Every so many packets one, exactly; 0 and 1 are all.
	Every uint32
	// Version of IP and Protocol of those that are copied; 0 is any.
	Version, Protocol uint8
	// Port that they come from or go to; 0 is any. Fragments have none.
	Port uint16
	// Ends are where they come from and go to. A pass has those of a tap among its own.
	Ends Ends
}

// Ends are where packets come from and go to: prefixes of one family, of which each may be any address.
type Ends struct {
	Source      netip.Prefix `json:"source,omitzero"`
	Destination netip.Prefix `json:"destination,omitzero"`
}

// version of IP that packets have which are of the ends; 0 is any.
func (e Ends) version() uint8 {
	for _, p := range []netip.Prefix{e.Source, e.Destination} {
		switch {
		case !p.IsValid():
		case p.Addr().Is4():
			return 4
		default:
			return 6
		}
	}
	return 0
}

// masks are ends as a program asks for them.
type masks struct {
	Source, Destination struct{ Address, Mask [16]byte }
}

// masked are the ends under their masks.
func (e Ends) masked() (m masks) {
	if e.Source.IsValid() {
		copy(m.Source.Address[:], e.Source.Masked().Addr().AsSlice())
		fill(m.Source.Mask[:], e.Source.Bits())
	}
	if e.Destination.IsValid() {
		copy(m.Destination.Address[:], e.Destination.Masked().Addr().AsSlice())
		fill(m.Destination.Mask[:], e.Destination.Bits())
	}
	return m
}

// fill the first bits of a mask.
func fill(mask []byte, length int) {
	for i := range length {
		mask[i/8] |= 0x80 >> (i % 8)
	}
}

// words are what is asked for.
func (m masks) words(version uint8) (text string) {
	for _, end := range []struct {
		word          string
		address, mask [16]byte
	}{{"from", m.Source.Address, m.Source.Mask}, {"towards", m.Destination.Address, m.Destination.Mask}} {
		length, address := 0, netip.AddrFrom16(end.address)
		for _, b := range end.mask {
			length += bits.OnesCount8(b)
		}
		if version == 4 {
			address = netip.AddrFrom4([4]byte(end.address[:4]))
		}
		if length > 0 {
			text += fmt.Sprintf(" %s %s", end.word, netip.PrefixFrom(address, length))
		}
	}
	return text
}

// MostTaps that a pass has.
const MostTaps = 8

// NewMirror sends copies of packets out by a tap, as the steps before it made them, but for those to link-local
// and to multicast addresses, which concern their link alone. It counts the copies that were taken there; what
// becomes of one is nothing to the packet.
func NewMirror(slot uint32, c Copies) Step {
	port := uint64(bits.ReverseBytes16(c.Port)) // as it stands in the packet
	version, asks := c.Version, uint64(0)
	if of := c.Ends.version(); of != 0 {
		version = of
	}
	if c.Ends.masked() != (masks{}) {
		asks = 1
	}
	return Step{Mirror, slot, [3]uint64{uint64(c.Tap) | uint64(c.Every)<<32, port | uint64(version)<<16 | uint64(c.Protocol)<<24 | asks<<32}}
}

// To gives a mirror's copies to another tap.
func (s Step) To(tap uint32) Step {
	s.Args[0] = s.Args[0]>>32<<32 | uint64(tap)
	return s
}

// tap of a mirror.
func (s Step) tap() uint32 { return uint32(s.Args[0]) }

// version of IP that a mirror asks for.
func (s Step) version() uint8 { return uint8(s.Args[1] >> 16) }

// filters tells whether a mirror asks for a protocol, a port or addresses.
func (s Step) filters() bool { return s.Args[1]&0xffffffff_ff00ffff != 0 }

// copied are the ends that each of a spec's taps asks for.
func (s Spec) copied() (all [MostTaps]masks) {
	for i, name := range s.Taps[:min(len(s.Taps), MostTaps)] {
		all[i] = s.Copied[name].masked()
	}
	return all
}

// numbers of the interfaces that are a pass's taps; 0 is none.
type numbers [MostTaps]uint32

// tapsIn finds a spec's taps in a place.
func tapsIn(p resource.Place, s Spec) (n numbers, err error) {
	for i, name := range s.Taps[:min(len(s.Taps), MostTaps)] {
		dev, err := p.Device(name)
		if err != nil {
			return n, fmt.Errorf("copies to a tap: %w", err)
		}
		n[i] = uint32(dev.Attrs().Index)
	}
	return n, nil
}

// names of taps among the interfaces of a place; of one that has gone there is none.
func (n numbers) names(mine map[int]string) (all []string) {
	for _, index := range n {
		all = append(all, mine[int(index)])
	}
	return all
}

// wired tells a program where its taps are, and what they ask for.
func (n numbers) wired(spec *ebpf.CollectionSpec, s Spec) error {
	if len(s.Taps) > MostTaps {
		return fmt.Errorf("a pass of %d taps: %d is the most", len(s.Taps), MostTaps)
	}
	for i, step := range s.Steps {
		if step.Act == Mirror && int(step.tap()) >= len(s.Taps) {
			return fmt.Errorf("step %d: there is no tap %d", i, step.tap())
		}
	}
	return errors.Join(spec.Variables["taps"].Set(n), spec.Variables["copies"].Set(s.copied()))
}
