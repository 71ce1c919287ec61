package nsh_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/nsh"
)

// ends are two interfaces of an owner's in one namespace, each of a pair.
type ends struct{ resource.Place }

func newEnds(t *testing.T) *ends {
	t.Helper()
	nstest.Require(t, feature.Veth, feature.BPFXDP)
	e := &ends{resource.At(nstest.Open(t, nstest.Namespace(t)), nstest.Owner(t))}
	for _, device := range []string{"eth0", "send0"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: device}, PeerName: device + "far"}
		if err := errors.Join(e.LinkAdd(pair), e.LinkSetAlias(pair, resource.Mark(e.Owner)+device)); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

var (
	push = nsh.Push{Device: "eth0", Hop: nsh.Hop{Path: 0x123456, Index: 254}, From: "02:00:00:00:00:01", To: "02:00:00:00:00:02"}
	pop  = nsh.Pop{Device: "send0", Hop: push.Hop}
)

// sure makes a change of one kind.
func (e *ends) sure(t *testing.T, k resource.Kind, op resource.Op, s resource.Spec) {
	t.Helper()
	e.Place = resource.At(e.Handle, e.Owner)
	if err := k.Apply(e.Place, []resource.Change{{Op: op, Key: s.Key(), Spec: s}}); err != nil {
		t.Fatal(op, err)
	}
}

// reads is what is there of both kinds, by interface.
func (e *ends) reads(t *testing.T) map[string]string {
	t.Helper()
	e.Place = resource.At(e.Handle, e.Owner)
	all := map[string]string{}
	for _, k := range []resource.Kind{nsh.PushKind{}, nsh.PopKind{}} {
		found, err := k.Read(e.Place)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range found {
			all[o.Key] += o.Fingerprint
		}
	}
	return all
}

// program at an interface.
func (e *ends) program(t *testing.T, device string) *ebpf.Program {
	t.Helper()
	l, err := e.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ebpf.NewProgramFromID(ebpf.ProgramID(l.Attrs().Xdp.ProgId))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func (e *ends) counts(t *testing.T, device string) nsh.Counts {
	t.Helper()
	c, there, err := nsh.CountAt(resource.At(e.Handle, e.Owner), device)
	if err != nil || !there {
		t.Fatal(there, err)
	}
	return c
}

// TestReadsBack: what was made reads back the same, made twice too, and is gone once removed, also
// twice.
func TestReadsBack(t *testing.T) {
	e := newEnds(t)
	otherPush, otherPop := push, pop
	otherPush.Index, otherPop.Index, otherPop.Path = 7, 9, 1
	for i := range 2 {
		for _, op := range []resource.Op{resource.Create, resource.Update} {
			e.sure(t, nsh.PushKind{}, op, push)
			e.sure(t, nsh.PopKind{}, op, pop)
			if found := e.reads(t); len(found) != 2 || found["eth0"] != push.Fingerprint() || found["send0"] != pop.Fingerprint() {
				t.Fatalf("%d, %s: %v", i, op, found)
			}
		}
		before := e.program(t, "eth0")
		e.sure(t, nsh.PushKind{}, resource.Update, otherPush)
		e.sure(t, nsh.PopKind{}, resource.Update, otherPop)
		if found := e.reads(t); found["eth0"] != otherPush.Fingerprint() || found["send0"] != otherPop.Fingerprint() {
			t.Fatalf("changed: %v", found)
		}
		if is, was := number(t, e.program(t, "eth0")), number(t, before); is != was {
			t.Errorf("another index replaces program %d by %d", was, is)
		}
	}
	for range 2 {
		e.sure(t, nsh.PushKind{}, resource.Delete, push)
		e.sure(t, nsh.PopKind{}, resource.Delete, pop)
	}
	if found := e.reads(t); len(found) != 0 {
		t.Errorf("left: %v", found)
	}
}

func number(t *testing.T, p *ebpf.Program) ebpf.ProgramID {
	t.Helper()
	info, err := p.Info()
	if err != nil {
		t.Fatal(err)
	}
	id, _ := info.ID()
	return id
}

// TestLeavesOthers: a program that somebody else has put at XDP stays, and is told of.
func TestLeavesOthers(t *testing.T) {
	e := newEnds(t)
	e.sure(t, nsh.PushKind{}, resource.Create, push)
	foreign, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "stranger", Type: ebpf.XDP, License: "GPL", Instructions: pass()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = foreign.Close() }()
	l, err := e.LinkByName("send0")
	if err == nil {
		err = e.Do(func() error { return netlink.LinkSetXdpFd(l, foreign.FD()) })
	}
	if err != nil {
		t.Fatal(err)
	}
	e.Place = resource.At(e.Handle, e.Owner)
	err = nsh.PopKind{}.Apply(e.Place, []resource.Change{{Op: resource.Create, Key: pop.Device, Spec: pop}})
	if err == nil || number(t, e.program(t, "send0")) != number(t, foreign) {
		t.Errorf("error %v", err)
	}
	e.sure(t, nsh.PopKind{}, resource.Delete, pop)
	if number(t, e.program(t, "send0")) != number(t, foreign) || len(e.reads(t)) != 1 {
		t.Errorf("found %v", e.reads(t))
	}
}

// runs a frame through a program: its verdict, and what the frame is then.
func runs(t *testing.T, p *ebpf.Program, frame []byte) (uint32, []byte) {
	t.Helper()
	o := ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame)+256)}
	verdict, err := p.Run(&o)
	if err != nil {
		t.Fatal(err)
	}
	return verdict, o.DataOut
}

const (
	dropped = 1
	passed  = 2
)

// TestHeader is what RFC 8300 says, byte by byte, before the frame as it was; and it comes off again
// once the index is one less, or as it was, of frames of any length.
func TestHeader(t *testing.T) {
	e := newEnds(t)
	e.sure(t, nsh.PushKind{}, resource.Create, push)
	e.sure(t, nsh.PopKind{}, resource.Create, pop)
	on, off := e.program(t, "eth0"), e.program(t, "send0")
	want := []byte{
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x89, 0x4f,
		0x0f, 0xc2, 2, 3, // version 0, hop limit 63, two words; metadata of type 2, Ethernet
		0x12, 0x34, 0x56, 254,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i, length := range []int{14, 15, 60, 64, 128, 576, 1514, 3000} {
		frame := make([]byte, length)
		for j := range frame {
			frame[j] = byte(random.Uint32())
		}
		verdict, whole := runs(t, on, frame)
		if verdict != passed || !bytes.Equal(whole, append(bytes.Clone(want), frame...)) {
			t.Fatalf("%d bytes: verdict %d\n%x", length, verdict, whole)
		}
		for _, less := range []byte{0, 1} {
			returned := bytes.Clone(whole)
			returned[21] -= less
			if verdict, bare := runs(t, off, returned); verdict != passed || !bytes.Equal(bare, frame) {
				t.Errorf("%d bytes: verdict %d\n%x", length, verdict, bare)
			}
		}
		if c, d := e.counts(t, "eth0"), e.counts(t, "send0"); c.Frames != uint64(i+1) || d.Frames != uint64(2*i+2) || d.Kept != uint64(i+1) || c.Dropped()+d.Dropped() != 0 {
			t.Errorf("%+v, %+v", c, d)
		}
	}
}

// TestOlderFrames, which the function has yet when it is told another index or path, come back as well.
func TestOlderFrames(t *testing.T) {
	e := newEnds(t)
	e.sure(t, nsh.PopKind{}, resource.Create, pop)
	for _, hop := range []nsh.Hop{{Path: pop.Path, Index: 250}, {Path: pop.Path, Index: 100}, {Path: 77, Index: 3}} {
		e.sure(t, nsh.PopKind{}, resource.Update, nsh.Pop{Device: pop.Device, Hop: hop})
	}
	off := e.program(t, "send0")
	for _, c := range []struct {
		path  uint32
		index byte
		goes  bool
	}{
		{pop.Path, 254, true}, {pop.Path, 253, true}, {pop.Path, 249, true}, {pop.Path, 100, true}, {77, 3, true}, {77, 2, true},
		{77, 1, false}, {77, 252, false}, {77, 101, false}, {pop.Path, 255, false}, {78, 2, false}, {0, 2, false},
	} {
		verdict, _ := runs(t, off, behind(c.path, c.index, make([]byte, 60)))
		if (verdict == passed) != c.goes {
			t.Errorf("path %d, index %d: verdict %d", c.path, c.index, verdict)
		}
	}
	if c := e.counts(t, "send0"); c.Unknown != 6 || c.Frames != 6 {
		t.Errorf("%+v", c)
	}
}

// behind a header as a function gives it back.
func behind(path uint32, index byte, frame []byte) []byte {
	b := append(make([]byte, 12), 0x89, 0x4f, 0x0f, 0xc2, 2, 3)
	return append(binary.BigEndian.AppendUint32(b, path<<8|uint32(index)), frame...)
}

// TestAnyFrame that comes back is taken as a model in Go takes it, whatever was done to it.
func TestAnyFrame(t *testing.T) {
	e := newEnds(t)
	e.sure(t, nsh.PopKind{}, resource.Create, pop)
	off := e.program(t, "send0")
	random := rand.New(rand.NewPCG(3, 4))
	var want nsh.Counts
	for range 20000 {
		frame := behind(pop.Path, pop.Index-byte(random.IntN(2)), make([]byte, random.IntN(80)))
		for range random.IntN(4) {
			if i := random.IntN(min(len(frame), 26)); random.IntN(2) == 0 {
				frame[i] = byte(random.Uint32())
			} else {
				frame[i] ^= 1 << random.IntN(8)
			}
		}
		if random.IntN(8) == 0 {
			frame = frame[:15+random.IntN(len(frame)-14)]
		}
		at := taken(frame, &want)
		verdict, out := runs(t, off, frame)
		if at == 0 && verdict != dropped || at > 0 && (verdict != passed || !bytes.Equal(out, frame[at:])) {
			t.Fatalf("%x: verdict %d, %x", frame, verdict, out)
		}
	}
	if got := e.counts(t, "send0"); got != want || want.Frames == 0 || want.Plain*want.Malformed*want.Unknown*want.Expired*want.Kept == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// taken is where the frame begins behind a header, 0 where it is dropped; both are counted.
func taken(frame []byte, c *nsh.Counts) int {
	if len(frame) < 22 || binary.BigEndian.Uint16(frame[12:]) != nsh.EtherType {
		c.Plain++
		return 0
	}
	base := binary.BigEndian.Uint32(frame[14:])
	limit, words, kind := base>>22&63, int(base>>16&63), base>>8&15
	if base>>30 != 0 || base&255 != 3 || words < 2 || kind != 1 && kind != 2 || kind == 1 && words != 6 {
		c.Malformed++
		return 0
	}
	path, index := binary.BigEndian.Uint32(frame[18:])>>8, frame[21]
	switch {
	case index == 0 || limit == 1:
		c.Expired++
	case path != pop.Path || index != pop.Index && index != pop.Index-1:
		c.Unknown++
	case len(frame) < 14+words*4+14:
		c.Malformed++
	default:
		c.Frames++
		if index == pop.Index {
			c.Kept++
		}
		return 14 + words*4
	}
	return 0
}

// pass lets every frame go on.
func pass() asm.Instructions {
	return asm.Instructions{asm.LoadImm(asm.R0, passed, asm.DWord), asm.Return()}
}
