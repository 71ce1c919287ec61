package watch

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
)

// sums a packet's words the slow way, end around (RFC 1071).
func sums(parts ...[]byte) uint16 {
	total := 0
	for _, p := range parts {
		for i, b := range p {
			if i%2 == 0 {
				total += int(b) << 8
			} else {
				total += int(b)
			}
			if total > 0xffff {
				total -= 0xffff
			}
		}
	}
	return uint16(total)
}

// TestFrames are whole packets of UDP with right checksums, whatever they carry.
func TestFrames(t *testing.T) {
	for _, c := range []struct {
		from, to           string
		kind               uint16
		header, addresses  int
		length, lengthFrom int
	}{
		{"198.18.0.1", "198.18.255.254", 0x0800, 20, 12, 20 + 8 + payloadSize, 2},
		{"2001:2::1", "2001:2:0:ffff::2", 0x86dd, 40, 8, 8 + payloadSize, 4},
	} {
		f, err := newFrame(process.Probe{FromMAC: "02:00:00:00:00:01", ToMAC: "02:00:00:00:00:02", From: netip.MustParseAddr(c.from), To: netip.MustParseAddr(c.to)})
		if err != nil {
			t.Fatal(err)
		}
		for number := range uint64(70000) {
			b := f.with(payload{Signature: number * 0x9e3779b97f4a7c15, Number: number, SentNS: number << 20, Row: uint32(number)})
			ip, udp := b[14:14+c.header], b[14+c.header:]
			if binary.BigEndian.Uint16(b[12:]) != c.kind || len(b) != 14+c.header+8+payloadSize || int(binary.BigEndian.Uint16(ip[c.lengthFrom:])) != c.length {
				t.Fatalf("%x", b)
			}
			if c.kind == 0x0800 && sums(ip) != 0xffff {
				t.Fatalf("the sum of the header is %x: %x", sums(ip), ip)
			}
			pseudo := []byte{0, 17, 0, 8 + payloadSize}
			if s := sums(ip[c.addresses:], pseudo, udp); s != 0xffff || binary.BigEndian.Uint16(udp[6:]) == 0 {
				t.Fatalf("the sum is %x: %x", s, b)
			}
			if binary.NativeEndian.Uint64(udp[16:]) != number || binary.NativeEndian.Uint32(udp[32:]) != uint32(number) {
				t.Fatalf("number %d: %x", number, udp)
			}
		}
	}
	if _, err := newFrame(process.Probe{FromMAC: "02:00:00:00:00:01", ToMAC: "02:00:00:00:00:02", From: netip.MustParseAddr("198.18.0.1"), To: netip.MustParseAddr("::1")}); err == nil {
		t.Error("a packet between families")
	}
}
