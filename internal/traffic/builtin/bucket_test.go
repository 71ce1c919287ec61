package builtin

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"nfchain.dev/nfchain/bpf/buckettest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

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
	for b := range trial.Buckets {
		low, above := trial.BucketBounds(b)
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
		if got := binary.NativeEndian.Uint64(out[22:]); got != uint64(trial.Bucket(v)) {
			t.Fatalf("%d falls into bucket %d in the kernel, and %d here", v, got, trial.Bucket(v))
		}
	}
}

func TestNth(t *testing.T) {
	counts := make([]uint64, trial.Buckets)
	for _, v := range []uint64{5, 1000, 1000, 123456789} {
		counts[trial.Bucket(v)]++
	}
	if q := nth(counts, 2); trial.Bucket(q) != trial.Bucket(1000) {
		t.Errorf("the third value is %d", q)
	}
	if q := nth(counts, 4); q != 0 {
		t.Errorf("the fifth of four values is %d", q)
	}
}
