package steer_test

import (
	"errors"
	"math"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/spread"
	"nfchain.dev/nfchain/bpf/stay"
	one "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/steer"
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
		if err := errors.Join(o.Next.Put(uint32(0), uint32(steer.Replicas)), o.Replicas.Put(uint32(1), uint32(1))); err != nil {
			b.Fatal(err)
		}
		repeats(b, o.Spread)
	})
	for name, until := range map[string]uint64{"staying": math.MaxUint64, "beside those that stay": 0} {
		b.Run(name, func(b *testing.B) {
			spec, err := stay.LoadProgram()
			if err != nil {
				b.Fatal(err)
			}
			spec.Maps["staying"].MaxEntries = 1 << 16
			o := &stay.ProgramObjects{}
			if err := spec.LoadAndAssign(o, nil); err != nil {
				b.Fatal(err)
			}
			defer func() { _ = o.Close() }()
			const before, newest = 1, 2
			err = errors.Join(o.Ways.Put(uint32(before), uint32(1)), o.Ways.Put(uint32(newest), uint32(1)),
				o.Versions.Put(uint32(0), stay.ProgramVersions{Until: until, Idle: math.MaxInt64, Newest: before<<32 | newest}))
			if err != nil {
				b.Fatal(err)
			}
			repeats(b, o.Stay)
		})
	}
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
