package pass

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/bpf/passtest"
)

// contextSize is that of struct __sk_buff, of which these are the offsets.
const (
	contextSize = 192
	markAt      = 8
	cbAt        = 48
	segmentsAt  = 164
	segmentAt   = 176
)

// clocked loads the program whose clock packets bring along.
func clocked(tb testing.TB, steps []Step) *Loaded {
	tb.Helper()
	require(tb)
	spec, err := passtest.LoadProgram()
	if err != nil {
		tb.Fatal(err)
	}
	l, err := Spec{Steps: steps, Flows: LeastFlows, Taps: askers, Copied: asking}.furnished(spec, name, numbers{}, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// run the program on a packet in the kernel.
func run(tb testing.TB, p *ebpf.Program, g given) (verdict uint32, frame []byte, mark uint32) {
	tb.Helper()
	in, out := make([]byte, contextSize), make([]byte, contextSize)
	binary.NativeEndian.PutUint32(in[markAt:], g.mark)
	binary.NativeEndian.PutUint64(in[cbAt:], g.now)
	binary.NativeEndian.PutUint32(in[segmentsAt:], g.segments)
	binary.NativeEndian.PutUint32(in[segmentAt:], g.of)
	o := ebpf.RunOptions{Data: g.frame, DataOut: make([]byte, len(g.frame)), Context: in, ContextOut: out}
	verdict, err := p.Run(&o)
	if err != nil {
		tb.Fatalf("a frame of %d bytes, %+v: %v", len(g.frame), g, err)
	}
	return verdict, o.DataOut, binary.NativeEndian.Uint32(out[markAt:])
}

// alike runs packets through the program and the model.
func alike(tb testing.TB, steps []Step, packets []given) {
	tb.Helper()
	l, m := clocked(tb, steps), newModel(steps)
	defer func() { _ = l.Close() }()
	for i, g := range packets {
		if !runs(g.frame) {
			continue
		}
		verdict, frame, mark := run(tb, l.Program, g)
		wantVerdict, wantFrame, wantMark := m.run(g)
		if verdict != wantVerdict || !bytes.Equal(frame, wantFrame) || mark != wantMark {
			tb.Fatalf("packet %d of %+v by %+v:\nverdict %d, mark %d\n%x\nand by the model %d, mark %d\n%x", i, g, steps, int32(verdict), mark, frame, int32(wantVerdict), wantMark, wantFrame)
		}
	}
	counts, err := l.Counts()
	if err != nil {
		tb.Fatal(err)
	}
	if counts != m.counts {
		tb.Fatalf("%+v:\ncounted %+v\nby the model %+v", steps, counts, m.counts)
	}
}

// runs tells whether the kernel runs a program on a frame.
var runs = framestest.Runs
