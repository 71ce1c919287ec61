package rules_test

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
)

// cut is a packet in fragments, about which netfilter, which puts them together, and an inline firewall, which does not, are asked.
type cut struct {
	whole  []byte
	pieces [][]byte
	// first and later are what an inline firewall knows of those that are of no connection that it knows.
	first, later rules.Packet
	// headed tells whether the first has all of the transport's header.
	headed bool
}

// cutUp a packet that [tried] gives, behind which there may be more bytes then. It is none where what there is of its transport is
// not all in the first fragment, as of an error of ICMP; where its lengths are not its own; or with headers that all fragments have.
func cutUp(r *rand.Rand, b []byte, id uint16) (c cut, is bool) {
	at, protocol := behind(b)
	head, next := 40, b[6]
	if b[0]>>4 == 4 {
		head, next = int(b[0]&15)*4, b[9]
	}
	if !own(b) || beyond(b) || at+8 > len(b) || errs(b[at], protocol, head == 40) || protocol == unix.IPPROTO_UDP && int(binary.BigEndian.Uint16(b[at+4:])) > len(b)-at {
		return cut{}, false
	}
	size := (at - head + one(r, 8, 16, 24, 24, 40) + 7) &^ 7
	c.whole = append(slices.Clone(b), make([]byte, max(0, size+1+r.IntN(2*size)-(len(b)-head)))...)
	for from := head; from < len(c.whole); from += size {
		piece := c.whole[from:min(from+size, len(c.whole))]
		c.pieces = append(c.pieces, fragment(b[:head], next, id, from-head, from+size < len(c.whole), piece))
	}
	source, destination := addressesOf(b)
	c.later = rules.Packet{Source: source, Destination: destination, Protocol: next, SourcePort: rules.NoPort, DestinationPort: rules.NoPort, State: rules.Invalid}
	if head < at && head == 40 {
		c.later.Protocol = rules.NoProtocol
	}
	c.first, c.headed = c.later, true
	if c.first.Protocol = protocol; protocol == unix.IPPROTO_TCP {
		has, length := size-(at-head), int(c.whole[at+12]>>4)*4
		c.headed = has >= 20 && (length <= has || length > len(c.whole)-at)
	}
	if protocol == unix.IPPROTO_TCP || protocol == unix.IPPROTO_UDP {
		c.first.SourcePort, c.first.DestinationPort = int32(binary.BigEndian.Uint16(b[at:])), int32(binary.BigEndian.Uint16(b[at+2:]))
	}
	return c, true
}

// own tells whether the lengths of IP are those of a packet, and whether all behind the fixed header of IPv6 may be in fragments.
func own(b []byte) bool {
	if b[0]>>4 == 4 {
		return int(binary.BigEndian.Uint16(b[2:])) == len(b)
	}
	at, _ := behind(b)
	for from, next := 40, b[6]; from < at; next, from = b[from], from+8*(int(b[from+1])+1) {
		if next != unix.IPPROTO_DSTOPTS {
			return false
		}
	}
	return int(binary.BigEndian.Uint16(b[4:])) == len(b)-40
}

// errs tells whether a message is an error of ICMP, which is about a packet that it has behind it.
func errs(typ, protocol byte, six bool) bool {
	return six && protocol == unix.IPPROTO_ICMPV6 && typ < 128 || !six && protocol == unix.IPPROTO_ICMP && slices.Contains([]byte{3, 4, 5, 11, 12}, typ)
}

func addressesOf(b []byte) (source, destination netip.Addr) {
	if b[0]>>4 == 6 {
		return netip.AddrFrom16([16]byte(b[8:])), netip.AddrFrom16([16]byte(b[24:]))
	}
	return netip.AddrFrom4([4]byte(b[12:])), netip.AddrFrom4([4]byte(b[16:]))
}

// fragment of a packet with a header, of so many bytes behind that.
func fragment(header []byte, next byte, id uint16, offset int, more bool, piece []byte) []byte {
	h := slices.Clone(header)
	if h[0]>>4 == 6 {
		f := framestest.Fragment(next, uint16(offset/8), more)
		binary.BigEndian.PutUint32(f[4:], uint32(id))
		h[6] = unix.IPPROTO_FRAGMENT
		binary.BigEndian.PutUint16(h[4:], uint16(len(f)+len(piece)))
		return slices.Concat(h, f, piece)
	}
	field := uint16(h[6]&0x40)<<8 | uint16(offset/8)
	if more {
		field |= 0x2000
	}
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+len(piece)))
	binary.BigEndian.PutUint16(h[4:], id)
	binary.BigEndian.PutUint16(h[6:], field)
	return append(headed(h), piece...)
}

// sameInPieces holds what an inline firewall makes of fragments to what netfilter makes of the packet, as docs/functions.md has it: those behind a first one
// that is accepted go as that did, and others are of an invalid state, as is a first one that has not all of TCP's header. It tells whether rules were asked
// there, and whether both know the same connections after it.
func sameInPieces(t *testing.T, n *netfilter, here inline, c cut, order fragmentOrder) (asked, agree bool) {
	t.Helper()
	list := n.rules.Rules
	accepts := func(rule int) bool { return rule < len(list) && list[rule].Verdict == "accept" }
	meets := func(i, want int) {
		t.Helper()
		before := here.counted(t)
		goes := here.accepts(t, c.pieces[i])
		if got := counts(before, here.counted(t)); got != want || goes != accepts(want) {
			t.Fatalf("fragment %d of %d, %s, meets rule %d, accepted %t, and not %d, accepted %t, of %s\n%x", i, len(c.pieces), order, got, goes, want, accepts(want), texts(list), c.pieces)
		}
	}
	before := n.counted(t)
	send := func(pieces ...[]byte) (want int) {
		for _, p := range pieces {
			if _, err := unix.Write(n.device, p); err != nil && err != unix.EINVAL {
				t.Fatal(err)
			}
		}
		return counts(before, n.counted(t))
	}
	if order == firstMissing {
		if want := send(c.pieces[1:]...); want >= 0 {
			t.Fatalf("netfilter has rules for fragments without the first: %x", c.pieces)
		}
		for i := range c.pieces[1:] {
			meets(i+1, first(list, c.later))
		}
		return true, true
	}
	pieces := slices.Clone(c.pieces)
	if order == firstLast {
		slices.Reverse(pieces)
	}
	want := send(pieces...)
	if want < 0 {
		return false, true // it did not come to the rules
	}
	agree = c.headed
	if !c.headed {
		want = first(list, c.first)
	}
	behind := first(list, c.later)
	if order == firstLast {
		for i := len(pieces) - 1; i > 0; i-- {
			meets(i, behind)
		}
		meets(0, want)
		return true, agree
	}
	meets(0, want)
	if accepts(want) {
		behind = want
	}
	for i := range pieces[1:] {
		meets(i+1, behind)
	}
	return true, agree
}

// fragmentOrder is in which order the fragments of a packet come.
type fragmentOrder string

const (
	inOrder      fragmentOrder = "in order"
	firstLast    fragmentOrder = "the first last"
	firstMissing fragmentOrder = "without the first"
)
