// Package pass is the inline functions of a hop: the steps that each packet goes through
// there, in one program (bpf/pass) that the kernel makes of them.
//
// What becomes of packets that are not as most are, whatever the steps:
//
//   - What is no IP (ARP, LLDP, a frame with more than two VLAN tags) goes on untouched
//     and is counted as Other; no step sees it.
//   - IP that no router forwards is dropped before the first step and counted as
//     Malformed: cut off within its header, of another version than its frame says, with
//     a header or a length that cannot be. The checksum of IPv4's header is not looked
//     at: a wrong one stays wrong, and the next kernel drops the packet.
//   - A frame with one or two VLAN tags is what it is behind them, and keeps them.
//   - Every fragment is a packet. Fragments, the first among them, are of a flow without
//     ports, so that all of a packet's are of one. What steps write, they write to each.
//   - IPv6's extension headers are looked through, eight of them at most; what follows
//     more is of a flow without ports. So is ESP, and a transport header that is cut off.
//   - Rules of firewalls see ports in the first fragment alone, and nothing where a header is
//     cut off. Fragments are not put together; where any rule asks for states, those behind a
//     first one that was accepted go as it did. Others behind the first, and a first that has
//     not all of its header, are of an invalid state. TCP's sequence numbers and checksums are
//     not looked at.
//   - What the kernel merged of several segments (GSO, GRO) is counted and charged as
//     those on a wire, and dropped, copied or let go on as one.
package pass

import (
	"fmt"
	"math/bits"
)

// Act is what a step does.
type Act uint32

// The acts, as bpf/include/pass.h numbers them.
const (
	End Act = iota // there are no more steps
	Count
	Mark
	DSCP
	Drop
	Limit
	Rules
	Mirror
	Translate
)

// Most steps that one pass has, and most slots for their counters.
const Most = 32

// Step is one thing done to each packet, laid out as the program reads it.
type Step struct {
	Act Act `json:"act"`
	// Slot is where it counts and remembers, below Most; no other step has it.
	Slot uint32 `json:"slot"`
	// Args of the act.
	Args [3]uint64 `json:"args"`
}

// NewCount counts packets.
func NewCount(slot uint32) Step { return Step{Act: Count, Slot: slot} }

// NewMark gives packets a mark; bits that are not in the mask stay as they were. The mark
// is the kernel's own, and goes no further than the next namespace.
func NewMark(slot, value, mask uint32) Step {
	return Step{Mark, slot, [3]uint64{uint64(value&mask) | uint64(mask)<<32}}
}

// NewDSCP gives packets a code point, 0 to 63 (RFC 2474 §3); the bits of explicit
// congestion notification stay as they were.
func NewDSCP(slot uint32, code uint8) Step { return Step{DSCP, slot, [3]uint64{uint64(code & 63)}} }

// Share of packets to drop. Which they are follows from their number alone, counted from 1.
type Share struct {
	// Every so many packets one, exactly; 0 is by Below.
	Every uint64
	// Below is the probability of each packet, times 2^53: 0 is none, 2^53 all.
	Below uint64
	// Dice is where random numbers begin.
	Dice uint64
}

// NewDrop drops a share of the packets.
func NewDrop(slot uint32, s Share) Step {
	return Step{Drop, slot, [3]uint64{s.Every, s.Below, s.Dice}}
}

// Per is whose bucket of tokens a packet is charged to.
type Per uint8

// Whose it is: one for all, one for each flow, or one for each prefix of source or
// destination addresses.
const (
	Chain Per = iota
	Flow
	Source
	Destination
)

// Bucket is a limit: what is over it is dropped. A packet passes while the bucket is not
// empty, and is charged whole, so that one larger than the burst passes too and the rate
// holds.
type Bucket struct {
	// Rate in bits per second, 8,000 to 10^12; one below that is 8,000. Bytes are counted from the Ethernet
	// header on, without the FCS, as queueing disciplines do.
	Rate uint64
	// Burst in bytes, 1 to 2^32-1.
	Burst uint64
	Per   Per
	// Bits4 and Bits6 are the lengths of prefixes of either family.
	Bits4, Bits6 uint8
}

// Bounds of a bucket.
const (
	LeastRate = 8000
	MostRate  = 1_000_000_000_000
	MostBurst = 1<<32 - 1
)

// ticks of the program's time in a second: 64 in a nanosecond.
const (
	ticks     = 64_000_000_000
	ticksInNs = ticks / 1_000_000_000
)

// NewLimit limits the rate of packets.
func NewLimit(slot uint32, b Bucket) Step {
	factor, shift := perByte(max(b.Rate, LeastRate))
	high, low := bits.Mul64(b.Burst, factor)
	burst := high<<(64-shift) | low>>shift
	return Step{Limit, slot, [3]uint64{factor | uint64(shift)<<32, burst, uint64(b.Per) | uint64(b.Bits4)<<8 | uint64(b.Bits6)<<16}}
}

// perByte is the time of a byte at a rate: factor / 2^shift ticks, with as many bits of
// the factor as 32 have room for.
func perByte(rate uint64) (factor uint64, shift uint) {
	for shift = 32; ; shift-- {
		high, low := bits.Mul64(8*ticks, 1<<shift)
		if high >= rate { // nothing that fits
			continue
		}
		if factor, _ = bits.Div64(high, low, rate); factor < 1<<32 {
			return factor, shift
		}
	}
}

// check that the program can take the steps.
func check(steps []Step) error {
	if len(steps) > Most {
		return fmt.Errorf("a pass of %d steps: %d is the most", len(steps), Most)
	}
	used := map[uint32]bool{}
	for i, s := range steps {
		switch {
		case s.Act == End || s.Act > Translate:
			return fmt.Errorf("step %d: there is no act %d", i, s.Act)
		case s.Slot >= Most || used[s.Slot]:
			return fmt.Errorf("step %d: slot %d is another step's, or above %d", i, s.Slot, Most-1)
		}
		used[s.Slot] = true
	}
	return nil
}
