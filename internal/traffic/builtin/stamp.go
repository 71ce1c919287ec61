package builtin

import (
	"encoding/binary"

	"nfchain.dev/nfchain/bpf/source"
	"nfchain.dev/nfchain/internal/trial"
)

// mark is what varies from packet to packet.
type mark struct {
	flow, number uint32
	due, late    uint64 // ns, and ns after that
	tagged       bool
}

// tagBit beside the bucket of the lateness is that of a tagged frame.
const tagBit = 0x8000

// flowsByPort differ in their source port; those beyond in their destination port too.
const flowsByPort = 1 << 14

// write a packet into a frame, as bpf/source/source.c does in the kernel.
func (l *load) write(frame []byte, s *source.ProgramShape, m mark) {
	at := l.transport()
	copy(frame, s.Header[:at+udpHeader])
	udp := frame[at:]
	from, to := uint16(firstSourcePort+m.flow%flowsByPort), uint16(uint32(l.port)+m.flow/flowsByPort)
	binary.BigEndian.PutUint16(udp, from)
	binary.BigEndian.PutUint16(udp[2:], to)
	stamp := udp[udpHeader:]
	order := binary.NativeEndian
	order.PutUint32(stamp, l.signature)
	order.PutUint32(stamp[4:], m.number)
	order.PutUint32(stamp[8:], uint32(m.due))
	order.PutUint16(stamp[12:], uint16(m.due>>32))
	order.PutUint16(stamp[14:], l.stream)
	late := uint16(trial.Bucket(m.late))
	if m.tagged {
		late |= tagBit
	}
	order.PutUint16(stamp[16:], late)
	if !l.to.Is4() {
		sum := uint64(swapped(uint16(s.UdpSum))) + uint64(from) + uint64(to) + sum16(stamp[:stampSize])
		check := ^fold(sum)
		if check == 0 {
			check = 0xffff // 0 is none (RFC 768)
		}
		binary.BigEndian.PutUint16(udp[6:], check)
	}
}
