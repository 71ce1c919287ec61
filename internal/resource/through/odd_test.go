package through_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/framestest"
	bpf "nfchain.dev/nfchain/bpf/through"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// What the programs say of a packet that goes on.
const (
	redirected = 7 // TC_ACT_REDIRECT
	sentOn     = 4 // XDP_REDIRECT
)

// TestOddFrames go on as they are, both where they are the kernel's and in the driver, and are
// counted.
func TestOddFrames(t *testing.T) {
	nstest.Require(t, feature.BPFIngress, feature.BPFXDP)
	o := &bpf.ProgramObjects{}
	if err := bpf.LoadProgramObjects(o, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if err := o.Next.Put(uint32(0), uint32(1)); err != nil {
		t.Fatal(err)
	}
	want := bpf.ProgramCount{}
	frames := slices.Collect(framestest.Bent(20, 1))
	for _, odd := range framestest.Odd() {
		frames = append(frames, odd)
	}
	for _, sent := range frames {
		if !framestest.Runs(sent) {
			continue
		}
		for program, verdict := range map[*ebpf.Program]uint32{o.ThroughSkb: redirected, o.Through: sentOn} {
			got := make([]byte, len(sent))
			r := ebpf.RunOptions{Data: sent, DataOut: got}
			said, err := program.Run(&r)
			if err != nil || said != verdict || !bytes.Equal(r.DataOut, sent) {
				t.Fatalf("%x: verdict %d, error %v, and it became %x", sent, said, err, r.DataOut)
			}
			want.Packets++
			want.Bytes += uint64(len(sent))
		}
	}
	var each []bpf.ProgramCount
	if err := o.Passed.Lookup(uint32(0), &each); err != nil {
		t.Fatal(err)
	}
	var counted bpf.ProgramCount
	for _, c := range each {
		counted.Packets += c.Packets
		counted.Bytes += c.Bytes
	}
	if counted.Packets != want.Packets || counted.Bytes != want.Bytes {
		t.Errorf("counted %+v, want %+v", counted, want)
	}
}

// BenchmarkThrough has the kernel run a program again and again, so that b.N packets take what it
// adds to each.
func BenchmarkThrough(b *testing.B) {
	nstest.Require(b, feature.BPFIngress, feature.BPFXDP)
	o := &bpf.ProgramObjects{}
	if err := bpf.LoadProgramObjects(o, nil); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if err := o.Next.Put(uint32(0), uint32(1)); err != nil {
		b.Fatal(err)
	}
	for name, p := range map[string]*ebpf.Program{"tc": o.ThroughSkb, "xdp": o.Through} {
		b.Run(name, func(b *testing.B) {
			_, each, err := p.Benchmark(make([]byte, 60), b.N, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(each.Nanoseconds()), "ns/packet")
		})
	}
}
