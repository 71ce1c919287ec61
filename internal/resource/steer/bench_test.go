package steer_test

import (
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/spread"
	one "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// BenchmarkPort has the kernel run a port's program again and again, on a packet of a flow that
// is known, so that b.N packets take what a port adds to each.
func BenchmarkPort(b *testing.B) {
	nstest.Require(b, feature.BPFPeer)
	b.Run("one", func(b *testing.B) {
		o := &one.ProgramObjects{}
		if err := one.LoadProgramObjects(o, nil); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = o.Close() }()
		if err := o.Next.Put(uint32(0), uint32(1)); err != nil {
			b.Fatal(err)
		}
		repeats(b, o.Steer)
	})
	b.Run("several", func(b *testing.B) {
		spec, err := spread.LoadProgram()
		if err != nil {
			b.Fatal(err)
		}
		spec.Maps["flows"].MaxEntries = 1 << 16
		o := &spread.ProgramObjects{}
		if err := spec.LoadAndAssign(o, nil); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = o.Close() }()
		all := make([]byte, o.Shares.ValueSize())
		for i := range all {
			all[i] = 1
		}
		if err := o.Shares.Put(uint32(0), all); err != nil {
			b.Fatal(err)
		}
		if err := o.Replicas.Put(uint32(1), uint32(1)); err != nil {
			b.Fatal(err)
		}
		repeats(b, o.Spread)
	})
}

// redirected is the verdict of a program that sends a packet on (TC_ACT_REDIRECT).
const redirected = 7

func repeats(b *testing.B, program *ebpf.Program) {
	b.Helper()
	b.ResetTimer()
	verdict, each, err := program.Benchmark(flow{}.packet(1), b.N, nil)
	if err != nil || verdict != redirected {
		b.Fatalf("verdict %d, error %v", verdict, err)
	}
	b.ReportMetric(float64(each.Nanoseconds()), "ns/packet")
}
