package builtin

import (
	"net"
	"net/netip"
	"slices"
	"testing"
)

// TestDamaged changes each bit of a packet that a checksum is of.
func TestDamaged(t *testing.T) {
	for _, version := range []int{4, 6} {
		o, frame, want := newOffline(t), frameOf(t, version), uint64(0)
		for bit := range 8 * len(frame) {
			if !checked(version, bit/8) {
				continue
			}
			b := slices.Clone(frame)
			b[bit/8] ^= 1 << (bit % 8)
			want++
			verdict, _, err := o.objects.Sink.Test(b)
			must(t, err)
			if p, ours := parsePacket(b, testSignature); verdict != 1 || !ours || !p.damaged {
				t.Fatalf("IPv%d: bit %d of byte %d: verdict %d, here ours %v, damaged %v", version, bit%8, bit/8, verdict, ours, p.damaged)
			}
		}
		if verdict, _, err := o.objects.Sink.Test(frame); verdict != 1 || err != nil {
			t.Errorf("verdict %d on the whole packet, %v", verdict, err)
		}
		if c, err := o.count(); err != nil || c.Damaged != want || c.Packets != 1 {
			t.Errorf("IPv%d: %d of %d are damaged, %d are counted, %v", version, c.Damaged, want, c.Packets, err)
		}
	}
}

// checked tells whether a byte is under a checksum, and none by which a packet is known:
// in IPv4 its header and the stamp, in IPv6 the addresses, the header of UDP and the stamp.
func checked(version, at int) bool {
	switch at -= ethernet; version {
	case 4:
		return at >= 1 && at < ipv4Header && at != 9 || at >= ipv4Header+udpHeader+4
	default:
		return at >= 8 && at < ipv6Header+udpHeader || at >= ipv6Header+udpHeader+4
	}
}

// frameOf a packet: the smallest that there is.
func frameOf(t *testing.T, version int) []byte {
	t.Helper()
	l := load{headers: headers{fromMAC: make(net.HardwareAddr, 6), toMAC: make(net.HardwareAddr, 6), signature: testSignature,
		from: netip.MustParseAddr("192.0.2.1"), to: netip.MustParseAddr("192.0.2.2")}, port: 5201}
	if version == 6 {
		l.from, l.to = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	}
	s, err := l.shape(l.smallest())
	must(t, err)
	frame := make([]byte, s.Length)
	l.write(frame, &s, mark{number: 7, due: monotonic(t)})
	return frame
}

// TestDamagedIsLost has a router that changes a byte of one packet in ten: they are told,
// and count as lost.
func TestDamagedIsLost(t *testing.T) {
	r := newRouted(t, conditionOf(1000))
	r.rules(t, "table ip damaging { chain forward { type filter hook forward priority 0; udp dport 5201 numgen inc mod 10 == 0 @th,128,8 set 0xff\n}\n}")
	s := r.run(t)
	o := raw(t, s)
	if o.Damaged == 0 || o.Damaged > (o.Sent+9)/10 || o.Received+o.Damaged != o.Sent || !warned(s, "damaged") {
		t.Errorf("%d came of %d, %d damaged: %q", o.Received, o.Sent, o.Damaged, s.Warnings)
	}
	if got, want := s.Metrics["damaged_ratio"], float64(o.Damaged)/float64(o.Sent); got != want || s.Metrics["loss_ratio"] == 0 {
		t.Errorf("a share of %v is damaged, want %v; loss %v", got, want, s.Metrics["loss_ratio"])
	}
}
