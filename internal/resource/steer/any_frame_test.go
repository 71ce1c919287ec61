package steer_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/bpf/spread"
	bpf "nfchain.dev/nfchain/bpf/steer"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// What programs that steer say of a packet: it ends, or goes on to the port that they told the kernel.
const (
	ends   = 2
	goesOn = 7
)

// anyFrames are odd ones and those that somebody bent, as long as the kernel takes them in a test.
func anyFrames(do func(frame []byte)) {
	for _, f := range framestest.Odd() {
		do(f)
	}
	for f := range framestest.Bent(40, 3) {
		if framestest.Runs(f) {
			do(f)
		}
	}
}

// steered runs a program on a frame, which must stay as it is.
func steered(t testing.TB, p *ebpf.Program, frame []byte) uint32 {
	t.Helper()
	o := ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame)+64)}
	verdict, err := p.Run(&o)
	if err != nil {
		t.Fatalf("%v\n%x", err, frame)
	}
	if !bytes.Equal(o.DataOut, frame) {
		t.Errorf("%x\nbecame\n%x", frame, o.DataOut)
	}
	return verdict
}

// TestAnyFrameGoesOn as the port says, whatever it is, unchanged, and is counted.
func TestAnyFrameGoesOn(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	var o bpf.ProgramObjects
	if err := bpf.LoadProgramObjects(&o, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	packets, octets := uint64(0), uint64(0)
	for _, port := range []struct{ next, instead, verdict uint32 }{
		{7, 0, goesOn}, {0, 0, ends}, {7, steer.Nowhere, ends}, {0, 8, goesOn}, {7, 8, goesOn},
	} {
		if err := o.Next.Put(uint32(0), port.next); err != nil {
			t.Fatal(err)
		}
		if err := o.Instead.Put(uint32(0), port.instead); err != nil {
			t.Fatal(err)
		}
		anyFrames(func(frame []byte) {
			if got := steered(t, o.Steer, frame); got != port.verdict {
				t.Errorf("%+v: verdict %d of\n%x", port, int32(got), frame)
			}
			packets, octets = packets+1, octets+uint64(len(frame))
		})
	}
	var each []bpf.ProgramCount
	if err := o.Passed.Lookup(uint32(0), &each); err != nil {
		t.Fatal(err)
	}
	for _, c := range each {
		packets, octets = packets-c.Packets, octets-c.Bytes
	}
	if packets != 0 || octets != 0 {
		t.Errorf("%d packets and %d bytes too few were counted", int64(packets), int64(octets))
	}
}

// TestAnyFrameHasOneReplica, whatever it is, with what goes the other way, and goes on unchanged.
func TestAnyFrameHasOneReplica(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	spec, err := spread.LoadProgram()
	if err != nil {
		t.Fatal(err)
	}
	spec.Maps["flows"].MaxEntries = 1 << 16
	var o spread.ProgramObjects
	if err := spec.LoadAndAssign(&o, nil); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	shares := steer.SharesOf(among(1, 2, 3).Replicas)
	if err := errors.Join(o.Next.Put(uint32(0), uint32(steer.Replicas)), o.Shares.Put(uint32(0), shares[:])); err != nil {
		t.Fatal(err)
	}
	for n := range uint32(3) {
		if err := o.Replicas.Put(n+1, 10+n); err != nil {
			t.Fatal(err)
		}
	}
	met := 0
	anyFrames(func(frame []byte) {
		if got := steered(t, o.Spread, frame); got != goesOn {
			t.Errorf("verdict %d of\n%x", int32(got), frame)
		}
		known := entered(t, o.Dealt)
		if steered(t, o.Spread, frame); entered(t, o.Dealt) != known {
			t.Errorf("it is of another flow when it comes again:\n%x", frame)
		}
		if back := returned(frame); back != nil {
			met++
			if steered(t, o.Spread, back); entered(t, o.Dealt) != known {
				t.Errorf("what goes back is of another flow:\n%x\n%x", frame, back)
			}
		}
	})
	if n := entered(t, o.Dealt); met < 100 || n < 100 {
		t.Errorf("only %d frames were turned round, of %d flows", met, n)
	}
	var key spread.ProgramFlow
	var stay spread.ProgramStay
	for all := o.Flows.Iterate(); all.Next(&key, &stay); {
		if stay.Replica < 1 || stay.Replica > 3 {
			t.Errorf("%+v is with replica %d", key, stay.Replica)
		}
	}
}

// TestAnyFrameOnAPathHasOneReplica, where flows get their path and behind functions, whatever it is.
func TestAnyFrameOnAPathHasOneReplica(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	paths := steer.Paths{Ways: []steer.Way{{Path: "web", Number: 9, Of: "web"}}, Choice: &steer.Choice{Otherwise: "web"}, End: steer.FirstEnd, Usual: "web", Flows: 1 << 16, Idle: 1 << 40}
	for name, load := range map[string]func(steer.Paths, []uint32) (*steer.Entered, error){"where flows begin": steer.Enter, "between functions": steer.Between} {
		t.Run(name, func(t *testing.T) {
			e, err := load(paths, []uint32{steer.Replicas})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			dealtOut(t, e)
		})
	}
}

// TestAnyFrameWhereWaysPartHasOneReplica, whatever it is, on its way there and back.
func TestAnyFrameWhereWaysPartHasOneReplica(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFPeer)
	for name, back := range map[string]bool{"by labels": false, "by flows": true} {
		t.Run(name, func(t *testing.T) {
			ways := []steer.BranchWay{{Node: "web", Number: 9, Joint: !back}, {Node: "out", Number: 8, Port: "out"}}
			e, err := steer.Part(steer.Branch{Node: "tell", Number: 7, Back: back, Ways: ways, Flows: 1 << 16}, []uint32{steer.Replicas, 20})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			dealtOut(t, e)
			if n := e.Joined(); back && n > 0 || !back && n < 100 {
				t.Errorf("%d flows are known to have come this way", n)
			}
		})
	}
}

// dealtOut are all frames by a program whose first seat the function has that they go to.
func dealtOut(t *testing.T, e *steer.Entered) {
	t.Helper()
	anyFrames(func(frame []byte) {
		if got := steered(t, e.Program, frame); got != ends {
			t.Fatalf("without a table of flows: verdict %d of\n%x", int32(got), frame)
		}
	})
	of := among(1, 2, 3)
	of.Flows = 1 << 16
	replicas, err := e.Seat(*of, []uint32{11, 12, 13})
	if err != nil {
		t.Fatal(err)
	}
	sum := func() (n int) {
		for _, flows := range replicas() {
			n += flows
		}
		return n
	}
	met := 0
	anyFrames(func(frame []byte) {
		if got := steered(t, e.Program, frame); got != goesOn {
			t.Errorf("verdict %d of\n%x", int32(got), frame)
		}
		if back := returned(frame); back != nil && met < 300 {
			met++
			known := sum()
			if steered(t, e.Program, frame); sum() != known {
				t.Errorf("it is of another flow when it comes again:\n%x", frame)
			}
			if steered(t, e.Program, back); sum() != known {
				t.Errorf("what goes back is of another flow:\n%x\n%x", frame, back)
			}
		}
	})
	all := replicas()
	if met < 100 || all[1] < 20 || all[2] < 20 || all[3] < 20 || all[0] > 0 || len(all) > 3 {
		t.Errorf("%d frames were turned round, flows by replica: %v", met, all)
	}
}

// entered is how many flows a program has met that were not known.
func entered(t *testing.T, dealt *ebpf.Map) (n uint64) {
	t.Helper()
	var each []spread.ProgramDealt
	if err := dealt.Lookup(uint32(0), &each); err != nil {
		t.Fatal(err)
	}
	for _, d := range each {
		n += d.Fresh
	}
	return n
}

// returned is a packet of TCP or UDP in IP without options that goes the other way; nil of others.
func returned(frame []byte) []byte {
	b := slices.Clone(frame)
	swap := func(at, size int) {
		first := slices.Clone(b[at : at+size])
		copy(b[at:], b[at+size:at+2*size])
		copy(b[at+size:], first)
	}
	switch kind := binary.BigEndian.Uint16(b[12:]); {
	case kind == framestest.TypeIPv4 && len(b) >= 38 && b[14] == 0x45 && b[20]&0x3f == 0 && b[21] == 0 && (b[23] == 6 || b[23] == 17):
		swap(26, 4)
		swap(34, 2)
	case kind == framestest.TypeIPv6 && len(b) >= 58 && b[14]>>4 == 6 && (b[20] == 6 || b[20] == 17):
		swap(22, 16)
		swap(54, 2)
	default:
		return nil
	}
	return b
}
