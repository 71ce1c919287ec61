package watch

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource/process"
)

// The headers of a probe.
const (
	udp      = 8
	hopLimit = 64
	// discard is the port of UDP that probes come from and go to (RFC 863), so that nothing answers
	// where one gets astray.
	discard = 9
)

// payload of a probe, as bpf/probe has it.
type payload struct {
	Signature, Number, SentNS uint64
	// Row where it is noted first, and Last where it is noted last: functions between it goes through, too.
	Row, Last uint32
}

// payloadSize in bytes; the last four are always 0.
const payloadSize = 48

// frame is a probe without what differs from one to the next.
type frame struct {
	bytes []byte
	// at is where the payload begins.
	at int
	// sum of what the checksum of UDP is over, but for the payload.
	sum uint32
}

// newFrame makes the headers.
func newFrame(p process.Probe) (*frame, error) {
	to, err := net.ParseMAC(p.ToMAC)
	if err != nil {
		return nil, fmt.Errorf("a probe to %q: %w", p.ToMAC, err)
	}
	from, err := net.ParseMAC(p.FromMAC)
	if err != nil {
		return nil, fmt.Errorf("a probe from %q: %w", p.FromMAC, err)
	}
	if p.From.Is4() != p.To.Is4() {
		return nil, fmt.Errorf("a probe from %s to %s, which is of another family", p.From, p.To)
	}
	b := append(append([]byte{}, to...), from...)
	if p.To.Is4() {
		b = ipv4(b, p.From, p.To)
	} else {
		b = ipv6(b, p.From, p.To)
	}
	f := &frame{at: len(b) + udp}
	b = binary.BigEndian.AppendUint16(b, discard)
	b = binary.BigEndian.AppendUint16(b, discard)
	b = binary.BigEndian.AppendUint16(b, udp+payloadSize)
	b = append(b, 0, 0)
	// The pseudo-header: addresses, protocol and length (RFC 768, RFC 8200 section 8.1).
	f.sum = add(add(add(unix.IPPROTO_UDP+udp+payloadSize, p.From.AsSlice()), p.To.AsSlice()), b[f.at-udp:])
	f.bytes = append(b, make([]byte, payloadSize)...)
	return f, nil
}

func ipv4(b []byte, from, to netip.Addr) []byte {
	h := make([]byte, 20)
	h[0], h[8], h[9] = 0x45, hopLimit, unix.IPPROTO_UDP
	binary.BigEndian.PutUint16(h[2:], uint16(len(h)+udp+payloadSize))
	copy(h[12:], from.AsSlice())
	copy(h[16:], to.AsSlice())
	binary.BigEndian.PutUint16(h[10:], ^fold(add(0, h)))
	return append(binary.BigEndian.AppendUint16(b, unix.ETH_P_IP), h...)
}

func ipv6(b []byte, from, to netip.Addr) []byte {
	h := make([]byte, 40)
	h[0], h[6], h[7] = 0x60, unix.IPPROTO_UDP, hopLimit
	binary.BigEndian.PutUint16(h[4:], udp+payloadSize)
	copy(h[8:], from.AsSlice())
	copy(h[24:], to.AsSlice())
	return append(binary.BigEndian.AppendUint16(b, unix.ETH_P_IPV6), h...)
}

// family of its addresses.
func (f *frame) family() string {
	if f.bytes[12] == unix.ETH_P_IPV6>>8 {
		return "IPv6"
	}
	return "IPv4"
}

// with gives the probe with its payload.
func (f *frame) with(p payload) []byte {
	b := f.bytes[f.at:]
	binary.NativeEndian.PutUint64(b, p.Signature)
	binary.NativeEndian.PutUint64(b[8:], p.Number)
	binary.NativeEndian.PutUint64(b[16:], p.SentNS)
	binary.NativeEndian.PutUint32(b[24:], p.Row)
	binary.NativeEndian.PutUint32(b[28:], p.Last)
	binary.NativeEndian.PutUint64(b[32:], ^p.SentNS)
	binary.NativeEndian.PutUint32(b[40:], ^p.Row)
	sum := ^fold(add(f.sum, f.bytes[f.at:]))
	if sum == 0 {
		sum = 0xffff // 0 says that there is none
	}
	binary.BigEndian.PutUint16(f.bytes[f.at-2:], sum)
	return f.bytes
}

// add an even number of bytes to a sum (RFC 1071).
func add(sum uint32, bytes []byte) uint32 {
	for i := 0; i < len(bytes); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(bytes[i:]))
	}
	return sum
}

func fold(sum uint32) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
