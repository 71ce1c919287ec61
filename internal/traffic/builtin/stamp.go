package builtin

import (
	"encoding/binary"

	"nfchain.dev/nfchain/bpf/source"
)

// mark is what varies from packet to packet.
type mark struct {
	flow, number uint32
	due          uint64 // ns
	tagged       bool
}

// tagFlag of a tagged frame.
const tagFlag = 0x8000

// write a packet into a frame, as bpf/source/source.c does in the kernel.
func (l *load) write(frame []byte, s *source.ProgramShape, m mark) {
	at := l.transport()
	copy(frame, s.Header[:at+udpHeader])
	network, udp := frame[l.network():], frame[at:]
	from, to, source, target := l.flowEnds(m.flow)
	sum := uint64(swapped(uint16(s.Sum))) + uint64(from) + uint64(to)
	if l.addresses {
		l.address(network, from, to)
	}
	binary.BigEndian.PutUint16(udp, source)
	binary.BigEndian.PutUint16(udp[2:], target)
	if l.to.Is4() {
		if l.addresses {
			binary.BigEndian.PutUint16(network[10:], ^fold(sum))
		}
	} else {
		check := ^fold(sum + uint64(source) + uint64(target))
		if check == 0 {
			check = 0xffff // 0 is none (RFC 768)
		}
		binary.BigEndian.PutUint16(udp[6:], check)
	}
	flags := uint16(0)
	if m.tagged {
		flags = tagFlag
	}
	stamp(udp[udpHeader:], l.signature, m.number, m.due, flags)
}

// address a packet.
func (l *load) address(network []byte, from, to uint32) {
	source, target := network[12:], network[16:]
	if !l.to.Is4() {
		source, target = network[20:], network[36:]
	}
	binary.BigEndian.PutUint32(source, from)
	binary.BigEndian.PutUint32(target, to)
}

// stamp a packet, as bpf/include/stamp.h has it.
func stamp(b []byte, signature, number uint32, due uint64, flags uint16) {
	order := binary.NativeEndian
	order.PutUint32(b, signature)
	order.PutUint32(b[4:], number)
	order.PutUint32(b[8:], uint32(due))
	order.PutUint16(b[12:], uint16(due>>32))
	order.PutUint16(b[14:], flags)
	binary.BigEndian.PutUint16(b[16:], ^fold(sum16(b[:16])))
}
