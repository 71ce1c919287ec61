package pass

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// what becomes of a packet.
type fate int

const (
	stepped   fate = iota // went through all steps
	untouched             // is no IP
	malformed
)

// oddPackets, and what becomes of them.
func oddPackets() map[string]struct {
	frame []byte
	fate  fate
} {
	tcp := ports(1, 2)
	v4 := func(cut int, change func(ip []byte)) []byte {
		f := frame(ether(typeIPv4), ipv4(6, 0, 0, nil, len(tcp)), tcp)
		change(f[14:])
		return f[:len(f)-cut]
	}
	v6 := func(change func(ip []byte)) []byte {
		f := frame(ether(typeIPv6), ipv6(6, 0, len(tcp)), tcp)
		change(f[14:])
		return f
	}
	as := func([]byte) {}
	return map[string]struct {
		frame []byte
		fate  fate
	}{
		"IPv4":                       {v4(0, as), stepped},
		"padded to the least frame":  {frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 8), make([]byte, 18)), stepped},
		"longest options":            {frame(ether(typeIPv4), ipv4(6, 0, 0, make([]byte, 40), len(tcp)), tcp), stepped},
		"first fragment":             {frame(ether(typeIPv4), ipv4(17, 0, 0x2000, nil, 8), make([]byte, 8)), stepped},
		"later fragment":             {frame(ether(typeIPv4), ipv4(17, 0, 0x2001, nil, 8), make([]byte, 8)), stepped},
		"last fragment":              {frame(ether(typeIPv4), ipv4(17, 0, 0x0002, nil, 1), make([]byte, 1)), stepped},
		"ESP":                        {frame(ether(typeIPv4), ipv4(50, 0, 0, nil, 8), make([]byte, 8)), stepped},
		"no transport at all":        {frame(ether(typeIPv4), ipv4(6, 0, 0, nil, 0)), stepped},
		"jumbo":                      {frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 3000), make([]byte, 3000)), stepped},
		"wrong checksum":             {v4(0, func(ip []byte) { ip[10] ^= 0xff }), stepped},
		"IPv6":                       {v6(as), stepped},
		"IPv6 without payload":       {frame(ether(typeIPv6), ipv6(59, 0, 0)), stepped},
		"IPv6 with extensions":       {frame(ether(typeIPv6), ipv6(0, 0, 36), extension(60), extension(6), tcp), stepped},
		"IPv6 with a cut extension":  {frame(ether(typeIPv6), ipv6(0, 0, 2), []byte{6, 9}), stepped},
		"IPv6 with nine extensions":  {frame(ether(typeIPv6), ipv6(60, 0, 72), bytes.Repeat(extension(60), 9)), stepped},
		"IPv6 fragment":              {frame(ether(typeIPv6), ipv6(44, 0, 16), fragmentHeader(17, 5, true), make([]byte, 8)), stepped},
		"tag":                        {frame(ether(typeIPv4, 0x8100), ipv4(6, 0, 0, nil, len(tcp)), tcp), stepped},
		"two tags":                   {frame(ether(typeIPv6, 0x88a8, 0x8100), ipv6(6, 0, len(tcp)), tcp), stepped},
		"three tags":                 {frame(ether(typeIPv4, 0x88a8, 0x8100, 0x8100), ipv4(6, 0, 0, nil, len(tcp)), tcp), untouched},
		"cut within a tag":           {frame(ether(0x8100, 0x8100), []byte{0, 1}), untouched},
		"ARP":                        {frame(ether(typeARP), make([]byte, 28)), untouched},
		"ARP behind a tag":           {frame(ether(typeARP, 0x8100), make([]byte, 28)), untouched},
		"LLDP":                       {frame(ether(0x88cc), make([]byte, 46)), untouched},
		"IEEE 802.3 with a length":   {frame(ether(46), make([]byte, 46)), untouched},
		"MPLS":                       {frame(ether(0x8847), []byte{0, 0, 0x11, 64}, ipv4(6, 0, 0, nil, 20), tcp), untouched},
		"cut off":                    {v4(1, as), malformed},
		"cut within the header":      {frame(ether(typeIPv4, 0x8100), ipv4(6, 0, 0, nil, 0)[:19]), malformed},
		"cut within options":         {frame(ether(typeIPv4), ipv4(6, 0, 0, make([]byte, 8), 0)[:24]), malformed},
		"version 6 in IPv4":          {v4(0, func(ip []byte) { ip[0] = 0x65 }), malformed},
		"header of 16 bytes":         {v4(0, func(ip []byte) { ip[0] = 0x44 }), malformed},
		"length below the header":    {v4(0, func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 19) }), malformed},
		"length 0":                   {v4(0, func(ip []byte) { binary.BigEndian.PutUint16(ip[2:], 0) }), malformed},
		"version 4 in IPv6":          {v6(func(ip []byte) { ip[0] = 0x40 }), malformed},
		"IPv6 cut off":               {v6(func(ip []byte) { ip[5]++ }), malformed},
		"IPv6 cut within the header": {frame(ether(typeIPv6, 0x8100), ipv6(6, 0, 0)[:39]), malformed},
	}
}

// TestOddPackets have the fate that the package's comment says, and what goes through the
// steps has its code point.
func TestOddPackets(t *testing.T) {
	l := loaded(t, []Step{NewCount(5), NewDSCP(2, 46)})
	for name, p := range oddPackets() {
		t.Run(name, func(t *testing.T) {
			if !runs(p.frame) {
				t.Fatal("the kernel would not run it")
			}
			before := counted(t, l)
			verdict, out, _ := run(t, l.Program, given{frame: p.frame})
			after := counted(t, l)
			if want := map[fate]uint32{stepped: goesOn, untouched: goesOn, malformed: dropped}[p.fate]; verdict != want {
				t.Errorf("verdict %d, want %d", int32(verdict), int32(want))
			}
			bytes := uint64(len(p.frame))
			want := before
			want.Came.add(1, bytes)
			switch p.fate {
			case stepped:
				want.Slots[5].add(1, bytes)
				want.Slots[2].add(1, bytes)
			case untouched:
				want.Other.add(1, bytes)
			case malformed:
				want.Malformed.add(1, bytes)
			}
			if after != want {
				t.Errorf("counted %+v\nwant %+v", after, want)
			}
			wrote(t, p.frame, out, p.fate == stepped)
		})
	}
}

func counted(t *testing.T, l *Loaded) Counts {
	t.Helper()
	c, err := l.Counts()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wrote checks that nothing was changed but the code point, and what must go with it.
func wrote(t *testing.T, before, after []byte, stepped bool) {
	t.Helper()
	if !stepped {
		if !bytes.Equal(before, after) {
			t.Errorf("%x became %x", before, after)
		}
		return
	}
	at, version := ipOf(after)
	if class := classOf(after[at:], version); class>>2 != 46 || class&3 != classOf(before[at:], version)&3 {
		t.Errorf("traffic class %#x", class)
	}
	if version == 4 && total(after[at:at+4*int(after[at]&15)]) != total(before[at:at+4*int(before[at]&15)]) {
		t.Error("the checksum is not as right or wrong as it was")
	}
	same := bytes.Clone(after)
	if version == 4 {
		copy(same[at+1:], before[at+1:at+2])
		copy(same[at+10:], before[at+10:at+12])
	} else {
		same[at] = same[at]&0xf0 | before[at]&0xf
		same[at+1] = same[at+1]&0xf | before[at+1]&0xf0
	}
	if !bytes.Equal(same, before) {
		t.Errorf("%x became %x", before, after)
	}
}
