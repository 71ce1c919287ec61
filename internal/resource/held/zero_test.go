package held_test

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/held"
)

// TestZeroes some counters, of which there are more than are set at once, and no others.
func TestZeroes(t *testing.T) {
	nstest.Require(t, feature.Root)
	type counter struct{ Packets, Bytes uint64 }
	const all, first, n = 1 << 16, 100, 60_000
	cores, err := ebpf.PossibleCPU()
	if err != nil {
		t.Fatal(err)
	}
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 16, MaxEntries: all})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	one := slices.Repeat([]counter{{1, 2}}, cores)
	edges := []uint32{0, first - 1, first, first + 1023, first + 1024, first + n/2, first + n - 1, first + n, all - 1}
	for _, key := range edges {
		if err := m.Put(key, one); err != nil {
			t.Fatal(err)
		}
	}
	if err := held.Zero[counter](m, first, n); err != nil {
		t.Fatal(err)
	}
	for _, key := range edges {
		want := one
		if key >= first && key < first+n {
			want = make([]counter, cores)
		}
		var got []counter
		if err := m.Lookup(key, &got); err != nil || !slices.Equal(got, want) {
			t.Errorf("counter %d is %v, error %v, want %v", key, got, err, want)
		}
	}
	if err := held.Zero[counter](m, all, 0); err != nil {
		t.Errorf("none: %v", err)
	}
}
