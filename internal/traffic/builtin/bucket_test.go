package builtin

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"nfchain.dev/nfchain/bpf/buckettest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestBucketsAreNarrow holds every bucket to its promise and to its neighbours.
func TestBucketsAreNarrow(t *testing.T) {
	var next uint64
	for b := range buckets {
		low, above := bounds(b)
		if low != next || above <= low {
			t.Fatalf("bucket %d is [%d, %d), the one before ends at %d", b, low, above, next)
		}
		if width := above - low; width > 1 && float64(width)/float64(low) > 1.0/64 {
			t.Fatalf("bucket %d is [%d, %d): wider than a 64th", b, low, above)
		}
		if bucket(low) != b || bucket(above-1) != b {
			t.Fatalf("bucket %d: its ends fall into %d and %d", b, bucket(low), bucket(above-1))
		}
		next = above
	}
	if next != 1<<bucketTop || bucket(next) != buckets-1 || bucket(1<<63) != buckets-1 {
		t.Errorf("the buckets end at %d", next)
	}
}

// TestKernelBucketsAlike runs the kernel's half on the ends of every bucket and on
// random values.
func TestKernelBucketsAlike(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFXDP)
	var objects buckettest.ProgramObjects
	if err := buckettest.LoadProgramObjects(&objects, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = objects.Close() }()
	values := []uint64{1 << 42, 1<<42 + 1, 1<<64 - 1}
	for b := range buckets {
		low, above := bounds(b)
		values = append(values, low, above-1)
	}
	for range 5000 {
		values = append(values, rand.Uint64()>>rand.IntN(64))
	}
	for _, v := range values {
		packet := make([]byte, 30)
		binary.NativeEndian.PutUint64(packet[14:], v)
		_, out, err := objects.Bucketed.Test(packet)
		if err != nil {
			t.Fatal(err)
		}
		if got := binary.NativeEndian.Uint64(out[22:]); got != uint64(bucket(v)) {
			t.Fatalf("%d falls into bucket %d in the kernel, and %d here", v, got, bucket(v))
		}
	}
}

func TestHistogramKeepsWhatWasSeen(t *testing.T) {
	counts := make([]uint64, buckets)
	for _, v := range []uint64{5, 1000, 1000, 123456789} {
		counts[bucket(v)]++
	}
	h := histogram(counts, 5, 123456789)
	if h.TotalCount() != 4 || h.Min() != 5 {
		t.Errorf("%d values from %d", h.TotalCount(), h.Min())
	}
	if p := float64(h.ValueAtPercentile(50)); p < 1000*0.99 || p > 1000*1.01 {
		t.Errorf("median %v, want 1000 within 1%%", p)
	}
	if p := float64(h.Max()); p < 123456789*0.99 || p > 123456789*1.01 {
		t.Errorf("maximum %v", p)
	}
	if q := nth(counts, 2); bucket(q) != bucket(1000) {
		t.Errorf("the third value is %d", q)
	}
	if q := nth(counts, 4); q != 0 {
		t.Errorf("the fifth of four values is %d", q)
	}
}
