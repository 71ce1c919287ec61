package pass

import (
	"fmt"
	"math/bits"

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
}

// MostTaps that a pass has.
const MostTaps = 8

// NewMirror sends copies of packets out by a tap, as the steps before it made them, but for those to link-local
// and to multicast addresses, which concern their link alone. It counts the copies that were taken there; what
// becomes of one is nothing to the packet.
func NewMirror(slot uint32, c Copies) Step {
	port := uint64(bits.ReverseBytes16(c.Port)) // as it stands in the packet
	return Step{Mirror, slot, [3]uint64{uint64(c.Tap) | uint64(c.Every)<<32, port | uint64(c.Version)<<16 | uint64(c.Protocol)<<24}}
}

// To gives a mirror's copies to another tap.
func (s Step) To(tap uint32) Step {
	s.Args[0] = s.Args[0]>>32<<32 | uint64(tap)
	return s
}

// tap of a mirror.
func (s Step) tap() uint32 { return uint32(s.Args[0]) }

// filters tells whether a mirror asks for a protocol or a port.
func (s Step) filters() bool { return s.Args[1]&0xff00ffff != 0 }

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

// wired tells a program where its taps are.
func (n numbers) wired(spec *ebpf.CollectionSpec, s Spec) error {
	if len(s.Taps) > MostTaps {
		return fmt.Errorf("a pass of %d taps: %d is the most", len(s.Taps), MostTaps)
	}
	for i, step := range s.Steps {
		if step.Act == Mirror && int(step.tap()) >= len(s.Taps) {
			return fmt.Errorf("step %d: there is no tap %d", i, step.tap())
		}
	}
	return spec.Variables["taps"].Set(n)
}
