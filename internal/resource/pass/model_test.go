package pass

import (
	"encoding/binary"
	"net/netip"
	"slices"
)

// model is what a pass is to do, written without a look at how the program does it.
type model struct {
	steps   []Step
	counts  Counts
	dropped [Most]uint64      // packets that a step that drops has seen
	buckets map[bucket]uint64 // when each is full again
	written bool              // the packet is to be as steps made it, for a copy
}

// bucket is whose it is.
type bucket struct {
	slot                uint32
	version, protocol   byte
	source, destination [16]byte
	ports               [4]byte
}

// given is one packet, and what the kernel knows of it.
type given struct {
	frame        []byte
	mark         uint32
	segments, of uint32 // how many, of which size, if the kernel merged it
	now          uint64 // ns
}

func newModel(steps []Step) *model { return &model{steps: steps, buckets: map[bucket]uint64{}} }

// The verdicts.
const (
	goesOn  = 0xffffffff
	dropped = 2
)

// run gives the verdict, and what the packet and its mark are then.
func (m *model) run(g given) (verdict uint32, frame []byte, mark uint32) {
	frame, mark = slices.Clone(g.frame), g.mark
	at, version := ipOf(frame)
	length := Tally{1, uint64(len(frame))}
	good := version != 0 && sound(frame[at:], version, g.of > 0)
	if good && g.segments > 1 {
		length.Packets = uint64(g.segments)
		length.Bytes += uint64(g.segments-1) * uint64(headers(frame, at, version))
	}
	sum(&m.counts.Came, length)
	switch {
	case version == 0:
		sum(&m.counts.Other, length)
		return goesOn, frame, mark
	case !good:
		sum(&m.counts.Malformed, length)
		return dropped, frame, mark
	}
	ip := frame[at:]
	class := classOf(ip, version)
	for _, s := range m.steps {
		hit, drop := m.step(s, g, ip, version, length)
		if hit {
			sum(&m.counts.Slots[s.Slot], length)
		}
		if m.written {
			setClass(ip, version, class)
			m.written = false
		}
		if hit && drop {
			return dropped, frame, g.mark
		}
		switch s.Act {
		case Mark:
			mark = mark&^uint32(s.Args[0]>>32) | uint32(s.Args[0])
		case DSCP:
			class = byte(s.Args[0])<<2 | class&3
		}
	}
	setClass(ip, version, class)
	return goesOn, frame, mark
}

func sum(t *Tally, more Tally) { t.add(more.Packets, more.Bytes) }

// step tells whether it acts on a packet, and whether it drops those it acts on.
func (m *model) step(s Step, g given, ip []byte, version byte, length Tally) (hit, drop bool) {
	switch s.Act {
	case Drop:
		m.dropped[s.Slot]++
		return picks(s, m.dropped[s.Slot]), true
	case Limit:
		return m.over(s, g, ip, version, length.Bytes), true
	case Mirror: // there is no tap
		if copies(s, ip, version) {
			if every := s.Args[0] >> 32; every > 1 {
				m.dropped[s.Slot]++
				if m.dropped[s.Slot]%every != 0 {
					return false, false
				}
			}
			m.counts.Lost[s.Slot]++
			m.written = true
		}
		return false, false
	}
	return true, false
}

// copies tells whether a mirror is for a packet.
func copies(s Step, ip []byte, version byte) bool {
	if want := byte(s.Args[1] >> 16); want != 0 && want != version {
		return false
	}
	if version == 4 && ip[16] >= 224 || version == 6 && ip[24]&0xfe == 0xfe { // of the link alone
		return false
	}
	if !has(asking[askers[s.tap()]], ip, version) {
		return false
	}
	at, protocol, _, whole := transport(ip, version)
	if want := byte(s.Args[1] >> 24); want != 0 && want != protocol {
		return false
	}
	want := binary.NativeEndian.AppendUint16(nil, uint16(s.Args[1]))
	if want[0] == 0 && want[1] == 0 {
		return true
	}
	if !whole || !slices.Contains([]byte{6, 17, 33, 132, 136}, protocol) || at+4 > len(ip) {
		return false
	}
	return slices.Equal(ip[at:at+2], want) || slices.Equal(ip[at+2:at+4], want)
}

// askers are taps that are nowhere, and asking is what goes to them: to the first all.
var (
	askers = []string{"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"}
	asking = map[string]Ends{
		"t1": {Source: netip.MustParsePrefix("10.1.2.0/28")},
		"t2": {Source: netip.MustParsePrefix("10.1.0.0/15"), Destination: netip.MustParsePrefix("10.4.5.6/32")},
		"t3": {Destination: netip.MustParsePrefix("0.0.0.0/0")},
		"t4": {Source: netip.MustParsePrefix("fd01:203:405:607:809:a0b:c0d:e0f/128")},
		"t5": {Source: netip.MustParsePrefix("fd00::/9"), Destination: netip.MustParsePrefix("fd10:1112:1314:1516:1718::/77")},
		"t6": {Destination: netip.MustParsePrefix("fd10:1112:1314:1516:1718:191a:1b1c:0/119")},
		"t7": {Source: netip.MustParsePrefix("::/0")},
	}
)

// has tells whether a packet comes from and goes to where it is asked for.
func has(e Ends, ip []byte, version byte) bool {
	width, source := 4, 12
	if version == 6 {
		width, source = 16, 8
	}
	from, _ := netip.AddrFromSlice(ip[source : source+width])
	to, _ := netip.AddrFromSlice(ip[source+width : source+2*width])
	return (!e.Source.IsValid() || e.Source.Contains(from)) && (!e.Destination.IsValid() || e.Destination.Contains(to))
}

func picks(s Step, n uint64) bool {
	if every := s.Args[0]; every > 0 {
		return n%every == 0
	}
	return splitmix(s.Args[2]+2*splitmix(n)+1)>>11 < s.Args[1]
}

func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

func (m *model) over(s Step, g given, ip []byte, version byte, bytes uint64) bool {
	b := bucket{slot: s.Slot}
	per := Per(s.Args[2])
	if per != Chain {
		b = owner(s, per, ip, version)
	}
	now := g.now << 6
	full, there := m.buckets[b]
	if !there && per != Chain {
		full = now
	}
	if int64(full-now) < 0 {
		full = now
	}
	if full-now >= s.Args[1] {
		return true
	}
	m.buckets[b] = full + bytes*(s.Args[0]&0xffffffff)>>(s.Args[0]>>32)
	return false
}

// owner of the bucket that a packet is charged to.
func owner(s Step, per Per, ip []byte, version byte) bucket {
	b := bucket{slot: s.Slot, version: version}
	width, length := 4, byte(s.Args[2]>>8)
	source, destination := 12, 16
	if version == 6 {
		width, length, source, destination = 16, byte(s.Args[2]>>16), 8, 24
	}
	switch per {
	case Flow:
		copy(b.source[:], ip[source:source+width])
		copy(b.destination[:], ip[destination:destination+width])
		at, protocol, named, whole := transport(ip, version)
		if b.protocol = named; whole && slices.Contains([]byte{6, 17, 33, 132, 136}, protocol) && at+4 <= len(ip) {
			copy(b.ports[:], ip[at:])
		}
	case Source:
		b.source = prefix(ip[source:source+width], int(length))
	case Destination:
		b.destination = prefix(ip[destination:destination+width], int(length))
	}
	return b
}

func prefix(address []byte, length int) (kept [16]byte) {
	for i := range min(length, 8*len(address)) {
		kept[i/8] |= address[i/8] & (0x80 >> (i % 8))
	}
	return kept
}

// transport finds where the transport's header begins and whose it is; whole tells that it
// can be read there, and is not in a fragment. What all fragments of a packet name is named: the first alone
// may have others behind that.
func transport(ip []byte, version byte) (at int, protocol, named byte, whole bool) {
	if version == 4 {
		return 4 * int(ip[0]&15), ip[9], ip[9], binary.BigEndian.Uint16(ip[6:])&0x3fff == 0
	}
	at, protocol, whole = 40, ip[6], true
	for extensions := 0; ; extensions++ {
		if whole {
			named = protocol
		}
		if !slices.Contains([]byte{0, 43, 44, 51, 60, 135, 139, 140}, protocol) {
			return at, protocol, named, whole
		}
		if extensions == 8 || at+4 > len(ip) {
			return at, protocol, named, false
		}
		h := ip[at:]
		next := h[0]
		switch protocol {
		case 44:
			if whole, named, at = false, next, at+8; binary.BigEndian.Uint16(h[2:])&0xfff8 != 0 {
				return at, next, named, false
			}
		case 51:
			at += 4 * (int(h[1]) + 2)
		default:
			at += 8 * (int(h[1]) + 1)
		}
		protocol = next
	}
}

// headers is the length of what each segment of a merged packet has of its own.
func headers(frame []byte, at int, version byte) int {
	off, protocol, _, _ := transport(frame[at:], version)
	off += at
	switch protocol {
	case 6:
		if off+12 < len(frame) {
			off += 4 * int(frame[off+12]>>4)
		}
	case 17:
		off += 8
	}
	return off
}

func classOf(ip []byte, version byte) byte {
	if version == 4 {
		return ip[1]
	}
	return byte(binary.BigEndian.Uint16(ip) >> 4)
}

// setClass writes a traffic class; IPv4's checksum is as right or wrong then as before.
func setClass(ip []byte, version, class byte) {
	if classOf(ip, version) == class {
		return
	}
	if version == 6 {
		binary.BigEndian.PutUint16(ip, binary.BigEndian.Uint16(ip)&0xf00f|uint16(class)<<4)
		return
	}
	wrong := total(ip[:20])
	ip[1] = class
	binary.BigEndian.PutUint16(ip[10:], 0)
	binary.BigEndian.PutUint16(ip[10:], uint16((wrong+0xffff-total(ip[:20]))%0xffff))
}
