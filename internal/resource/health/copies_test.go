package health_test

import (
	"encoding/binary"
	"testing"

	"github.com/cilium/ebpf"

	bpf "nfchain.dev/nfchain/bpf/probe"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestCopiesEnd: of each probe one goes on, and none that was overtaken; a row that is begun anew takes any.
func TestCopiesEnd(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFIngress)
	o := loaded(t, 2)
	const loopback, another = 1, 7
	begin := func() {
		t.Helper()
		if err := o.Seen.Put(uint32(0), bpf.ProgramSeen{To: another, Next: 1, Port: loopback}); err != nil {
			t.Fatal(err)
		}
	}
	const last = ^uint64(0)
	begin()
	for i, c := range []struct {
		number uint64
		anew   bool
		goesOn bool
		latest uint64
	}{
		{5, false, true, 5}, {5, false, false, 5}, {5, false, false, 5}, {4, false, false, 5}, {0, false, false, 5}, {6, false, true, 6},
		{5, false, false, 6}, {last, false, true, last}, {last, false, false, last}, {7, false, false, last}, {1, true, true, 1}, {2, false, true, 2},
	} {
		if c.anew {
			begin()
		}
		frame := probe([]int{inIPv4, inIPv6}[i%2], signature, c.number, 0, 1)
		verdict, err := o.Probe.Run(&ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame)+64)})
		if err != nil {
			t.Fatal(err)
		}
		const ends, goesOn = 2, 7
		if want := map[bool]uint32{false: ends, true: goesOn}[c.goesOn]; verdict != want {
			t.Errorf("%d. number %d: verdict %d, want %d", i, c.number, verdict, want)
		}
		row, err := o.Seen.LookupBytes(uint32(0))
		if err != nil {
			t.Fatal(err)
		}
		if latest := binary.NativeEndian.Uint64(row[8:]); latest != c.latest {
			t.Errorf("%d. number %d: the latest is %d", i, c.number, latest)
		}
	}
}
