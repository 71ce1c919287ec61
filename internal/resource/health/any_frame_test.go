package health_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/framestest"
	bpf "nfchain.dev/nfchain/bpf/probe"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestOnlyProbesAreTaken of all frames, odd and bent ones too; a probe with one bit turned where its
// signature is, or a byte more or less, is none. What is taken for none goes on as it is.
func TestOnlyProbesAreTaken(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFIngress)
	o := loaded(t, 0)
	taken := func(frame []byte) bool {
		t.Helper()
		r := ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame)+64)}
		verdict, err := o.Probe.Run(&r)
		if err != nil {
			t.Fatalf("%v\n%x", err, frame)
		}
		if !bytes.Equal(r.DataOut, frame) || verdict != 2 && int32(verdict) != -1 {
			t.Errorf("verdict %d of\n%x, which became\n%x", int32(verdict), frame, r.DataOut)
		}
		return verdict == 2
	}
	for _, f := range framestest.Odd() {
		if taken(f) {
			t.Errorf("taken for a probe:\n%x", f)
		}
	}
	for f := range framestest.Bent(40, 5) {
		if framestest.Runs(f) && taken(f) {
			t.Errorf("taken for a probe:\n%x", f)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, at := range []int{inIPv4, inIPv6, aboutIPv4, aboutIPv6} {
		for range 200 {
			f := append(make([]byte, 12), 0x88, 0xb5)
			for len(f) < at {
				f = append(f, byte(random.Uint32()))
			}
			f = binary.NativeEndian.AppendUint64(f, signature)
			for range 40 {
				f = append(f, byte(random.Uint32()))
			}
			if !taken(f) {
				t.Errorf("no probe:\n%x", f)
			}
			if longer := append(bytes.Clone(f), 0); taken(longer) || taken(f[:len(f)-1]) {
				t.Errorf("of another length:\n%x", f)
			}
			if f[at+random.IntN(8)] ^= 1 << random.IntN(8); taken(f) {
				t.Errorf("somebody else's:\n%x", f)
			}
		}
	}
}

// loaded is the program, with so many rows of what was seen; 0 for as many as it says itself.
func loaded(t *testing.T, rows uint32) *bpf.ProgramObjects {
	t.Helper()
	spec, err := bpf.LoadProgram()
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Variables["signature"].Set(uint64(signature)); err != nil {
		t.Fatal(err)
	}
	if rows > 0 {
		spec.Maps["seen"].MaxEntries = rows
	}
	var o bpf.ProgramObjects
	if err := spec.LoadAndAssign(&o, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = o.Close() })
	return &o
}
