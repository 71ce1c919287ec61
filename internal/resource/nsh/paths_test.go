package nsh_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/nsh"
)

// on several paths, with the numbers that ports have of them.
var on = []nsh.OnPath{{Number: 7, Hop: push.Hop}, {Number: 255, Hop: nsh.Hop{Path: 0x800001, Index: 3}}}

// tagged is a frame as a port sends it that says its path.
func tagged(frame []byte, number byte) []byte {
	return slices.Concat(frame[:12], []byte{0x81, 0, 0xff, number}, frame[12:])
}

// TestHeadersOfPaths: a frame has the header of the path that the port says, and nothing of the tag by which it does; one
// without a tag, or of a path that is not known, has that of none, and tags of others stay.
func TestHeadersOfPaths(t *testing.T) {
	for _, mdType := range []int{0, nsh.FixedContext} {
		e := newEnds(t)
		s := push
		s.Hop, s.On, s.MDType = nsh.Hop{Path: 5, Index: 255}, on, mdType
		e.sure(t, nsh.PushKind{}, resource.Create, s)
		program := e.program(t, "eth0")
		plain := slices.Concat([]byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8, 0x08, 0}, bytes.Repeat([]byte{0x45}, 50))
		vlan := slices.Concat(plain[:12], []byte{0x81, 0, 0x0f, 0xa0}, plain[12:])
		for _, c := range []struct {
			sent, frame []byte
			hop         nsh.Hop
		}{
			{tagged(plain, 7), plain, push.Hop}, {tagged(plain, 255), plain, on[1].Hop}, {tagged(plain, 8), plain, s.Hop}, {tagged(plain, 0), plain, s.Hop},
			{plain, plain, s.Hop}, {vlan, vlan, s.Hop}, {tagged(vlan, 7), vlan, push.Hop}, {tagged(tagged(plain, 7), 255), tagged(plain, 7), on[1].Hop},
			{tagged(plain, 255)[:16], plain[:12], on[1].Hop}, // nothing behind the tag
		} {
			verdict, whole := runs(t, program, c.sent)
			if verdict != passed || len(whole) != nsh.LengthOf(mdType)+len(c.frame) || !bytes.Equal(whole[nsh.LengthOf(mdType):], c.frame) {
				t.Fatalf("MD type %d, of %x: verdict %d\n%x, want %x", mdType, c.sent, verdict, whole, c.frame)
			}
			if got := binary.BigEndian.Uint32(whole[18:]); got != c.hop.Path<<8|uint32(c.hop.Index) {
				t.Errorf("of %x: path and index %x, want %+v", c.sent, got, c.hop)
			}
		}
	}
}

// TestContextHeader is as RFC 8300 §2.4 has it: type 1, six words, of which four are 0.
func TestContextHeader(t *testing.T) {
	e := newEnds(t)
	s := push
	s.MDType = nsh.FixedContext
	e.sure(t, nsh.PushKind{}, resource.Create, s)
	if found := e.reads(t); found["eth0"] != s.Fingerprint() || s.Fingerprint() == push.Fingerprint() {
		t.Errorf("%v, want %s", found, s.Fingerprint())
	}
	frame := bytes.Repeat([]byte{0xaa}, 60)
	want := slices.Concat([]byte{
		2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x89, 0x4f,
		0x0f, 0xc6, 1, 3, // version 0, hop limit 63, six words; metadata of type 1, Ethernet
		0x12, 0x34, 0x56, 254,
	}, make([]byte, 16), frame)
	if verdict, whole := runs(t, e.program(t, "eth0"), frame); verdict != passed || !bytes.Equal(whole, want) {
		t.Errorf("verdict %d\n%x, want\n%x", verdict, whole, want)
	}
	e.sure(t, nsh.PopKind{}, resource.Create, pop)
	want[21]--
	if verdict, bare := runs(t, e.program(t, "send0"), want); verdict != passed || !bytes.Equal(bare, frame) {
		t.Errorf("comes off: verdict %d, %x", verdict, bare)
	}
	e.sure(t, nsh.PushKind{}, resource.Update, push)
	if found := e.reads(t); found["eth0"] != push.Fingerprint() {
		t.Errorf("without again: %v", found)
	}
}

// TestPathsReadBack, and are edited in place. Frames of paths that are no more have their headers as long as they come, and
// are no difference.
func TestPathsReadBack(t *testing.T) {
	e := newEnds(t)
	s, p := push, pop
	s.On, p.On = on, on
	for i := range 2 {
		e.sure(t, nsh.PushKind{}, []resource.Op{resource.Create, resource.Update}[i], s)
		e.sure(t, nsh.PopKind{}, []resource.Op{resource.Create, resource.Update}[i], p)
		if found := e.reads(t); found["eth0"] != s.Fingerprint() || found["send0"] != p.Fingerprint() {
			t.Fatalf("%v, want %s and %s", found, s.Fingerprint(), p.Fingerprint())
		}
	}
	programs := []uint32{uint32(number(t, e.program(t, "eth0"))), uint32(number(t, e.program(t, "send0")))}
	plain := bytes.Repeat([]byte{0x45}, 60)
	for _, less := range [][]nsh.OnPath{on[:1], nil} {
		s.On, p.On = less, less
		e.sure(t, nsh.PushKind{}, resource.Update, s)
		e.sure(t, nsh.PopKind{}, resource.Update, p)
		if found := e.reads(t); found["eth0"] != s.Fingerprint() || found["send0"] != p.Fingerprint() {
			t.Fatalf("%v, want %s and %s", found, s.Fingerprint(), p.Fingerprint())
		}
		if _, whole := runs(t, e.program(t, "eth0"), tagged(plain, 255)); !bytes.Equal(whole[18:22], []byte{0x80, 0, 1, 3}) || len(whole) != nsh.Length+len(plain) {
			t.Errorf("of an older path: %x", whole)
		}
		if verdict, bare := runs(t, e.program(t, "send0"), behind(0x800001, 2, plain)); verdict != passed || !bytes.HasSuffix(bare, plain) {
			t.Errorf("of an older path came back: verdict %d, %x", verdict, bare)
		}
	}
	if is := e.tagged(t); !is {
		t.Error("of one path again: tags are looked for no more before all have come")
	}
	for range 2 {
		e.untag(t)
	}
	if found := e.reads(t); e.tagged(t) || found["eth0"] != push.Fingerprint() {
		t.Errorf("tags are looked for still: %t; %v, want %s", e.tagged(t), found, push.Fingerprint())
	}
	own := tagged(plain, 255)
	if _, whole := runs(t, e.program(t, "eth0"), own); !bytes.HasSuffix(whole, own) || len(whole) != nsh.Length+len(own) || hopIn(whole) != push.Hop {
		t.Errorf("a tag of its sender's own: %x of %x", whole, own)
	}
	s.On = on[:1]
	e.sure(t, nsh.PushKind{}, resource.Update, s)
	e.untag(t) // which leaves those of several paths
	if _, whole := runs(t, e.program(t, "eth0"), tagged(plain, 7)); hopIn(whole) != on[0].Hop || len(whole) != nsh.Length+len(plain) {
		t.Errorf("of a path again: %x", whole)
	}
	if _, whole := runs(t, e.program(t, "eth0"), tagged(plain, 255)); hopIn(whole) != push.Hop || len(whole) != nsh.Length+len(plain) {
		t.Errorf("of an older path that was forgotten: %x", whole)
	}
	if now := []uint32{uint32(number(t, e.program(t, "eth0"))), uint32(number(t, e.program(t, "send0")))}; !slices.Equal(now, programs) {
		t.Errorf("programs %v were replaced by %v", programs, now)
	}
}

// hopIn is what a frame's header says.
func hopIn(whole []byte) nsh.Hop {
	word := binary.BigEndian.Uint32(whole[18:])
	return nsh.Hop{Path: word >> 8, Index: uint8(word)}
}

// tagged tells whether eth0 looks for tags that say a path, of one alone.
func (e *ends) tagged(t *testing.T) bool {
	t.Helper()
	is, err := nsh.Tagged(e.Place, "eth0")
	if err != nil {
		t.Fatal(err)
	}
	return is
}

func (e *ends) untag(t *testing.T) {
	t.Helper()
	if err := nsh.Untag(e.Place, "eth0"); err != nil {
		t.Fatal(err)
	}
}

// TestPathIsTold to the port by what stands before the frame, and each path takes its own indexes alone.
func TestPathIsTold(t *testing.T) {
	e := newEnds(t)
	p := pop
	p.On = on
	e.sure(t, nsh.PopKind{}, resource.Create, p)
	off, plain := e.program(t, "send0"), bytes.Repeat([]byte{0x45}, 60)
	for _, c := range []struct {
		path   uint32
		index  byte
		number uint32
	}{{pop.Path, 254, 7}, {pop.Path, 253, 7}, {0x800001, 3, 255}, {0x800001, 2, 255}, {pop.Path, 3, 0}, {pop.Path, 2, 0}, {0x800001, 254, 0}, {0x800001, 1, 0}, {5, 254, 0}, {1, 2, 0}} {
		verdict, out := runs(t, off, behind(c.path, c.index, plain))
		if c.number == 0 {
			if verdict != dropped {
				t.Errorf("path %x, index %d: verdict %d", c.path, c.index, verdict)
			}
			continue
		}
		want := slices.Concat([]byte("nnsh"), binary.NativeEndian.AppendUint32(nil, c.number), plain)
		if verdict != passed || !bytes.Equal(out, want) {
			t.Errorf("path %x, index %d: verdict %d\n%x, want\n%x", c.path, c.index, verdict, out, want)
		}
	}
	if c := e.counts(t, "send0"); c.Frames != 4 || c.Kept != 2 || c.Unknown != 6 {
		t.Errorf("%+v", c)
	}
}

// TestManyServicePaths come one after the other: those that are no more are forgotten before there is no room.
func TestManyServicePaths(t *testing.T) {
	e := newEnds(t)
	p := pop
	for i := range uint32(10) {
		p.On = nil
		for number := range uint32(200) {
			p.On = append(p.On, nsh.OnPath{Number: int(number + 1), Hop: nsh.Hop{Path: 1 + i*1000 + number, Index: 200}})
		}
		op := resource.Update
		if i == 0 {
			op = resource.Create
		}
		e.sure(t, nsh.PopKind{}, op, p)
	}
	if found := e.reads(t); found["send0"] != p.Fingerprint() || strings.Count(found["send0"], "index 200") != 200 {
		t.Errorf("%v", found)
	}
	for path, goes := range map[uint32]bool{9001: true, 9200: true, 8001: true, 1: false} {
		if verdict, _ := runs(t, e.program(t, "send0"), behind(path, 199, make([]byte, 60))); (verdict == passed) != goes {
			t.Errorf("path %d: verdict %d", path, verdict)
		}
	}
}
