package pass

import (
	"bytes"
	"testing"

	"nfchain.dev/nfchain/bpf/framestest"
)

// what becomes of a packet.
type fate int

const (
	stepped   fate = iota // went through all steps
	untouched             // is no IP
	malformed
)

// fates of odd packets; those that are not here go through all steps.
var fates = map[string]fate{
	"three tags":                 untouched,
	"cut within a tag":           untouched,
	"ARP":                        untouched,
	"ARP behind a tag":           untouched,
	"LLDP":                       untouched,
	"IEEE 802.3 with a length":   untouched,
	"MPLS":                       untouched,
	"cut off":                    malformed,
	"cut within the header":      malformed,
	"cut within options":         malformed,
	"version 6 in IPv4":          malformed,
	"header of 16 bytes":         malformed,
	"length below the header":    malformed,
	"length 0":                   malformed,
	"version 4 in IPv6":          malformed,
	"IPv6 cut off":               malformed,
	"IPv6 cut within the header": malformed,
}

// TestOddPackets have the fate that the package's comment says, and what goes through the
// steps has its code point.
func TestOddPackets(t *testing.T) {
	l := loaded(t, []Step{NewCount(5), NewDSCP(2, 46)})
	odd := framestest.Odd()
	for name := range fates {
		if odd[name] == nil {
			t.Errorf("there is no frame %q", name)
		}
	}
	for name, frame := range odd {
		t.Run(name, func(t *testing.T) {
			becomes := fates[name]
			if !runs(frame) {
				t.Fatal("the kernel would not run it")
			}
			before := counted(t, l)
			verdict, out, _ := run(t, l.Program, given{frame: frame})
			after := counted(t, l)
			if want := map[fate]uint32{stepped: goesOn, untouched: goesOn, malformed: dropped}[becomes]; verdict != want {
				t.Errorf("verdict %d, want %d", int32(verdict), int32(want))
			}
			bytes := uint64(len(frame))
			want := before
			want.Came.add(1, bytes)
			switch becomes {
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
			wrote(t, frame, out, becomes == stepped)
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
