package held_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/held"
)

// TestCell has what the library finds in maps of both kinds, and what it is changed to.
func TestCell(t *testing.T) {
	nstest.Require(t, feature.Root)
	for _, spec := range []*ebpf.MapSpec{
		{Type: ebpf.Array, KeySize: 4, ValueSize: 12, MaxEntries: 3},
		{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 3},
	} {
		m, err := ebpf.NewMap(spec)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		cell, err := held.NewCell(m, 2)
		if err != nil {
			t.Fatal(err)
		}
		for round := range byte(3) {
			want := bytes.Repeat([]byte{round + 1}, int(spec.ValueSize))
			cores := 1
			var put any = want
			if spec.Type == ebpf.PerCPUArray {
				cores = ebpf.MustPossibleCPU()
				each := slices.Repeat([][]byte{make([]byte, spec.ValueSize)}, cores)
				each[cores-1] = want
				put = each
			}
			if err := m.Put(uint32(2), put); err != nil {
				t.Fatal(err)
			}
			got, err := cell.Look()
			if err != nil {
				t.Fatal(err)
			}
			before, last := got[:(cores-1)*len(want)], got[(cores-1)*len(want):]
			if !bytes.Equal(last, want) || !bytes.Equal(before, make([]byte, len(before))) {
				t.Errorf("%s: %v, want %v of the last core", spec.Type, got, want)
			}
		}
		none, err := held.NewCell(m, 3)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := none.Look(); !errors.Is(err, unix.ENOENT) {
			t.Errorf("%s: of a key that is not there: %v", spec.Type, err)
		}
	}
}
