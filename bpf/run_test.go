package bpf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// object is what a directory's programs were compiled to, loaded as it stands: with none of what
// their loaders set.
func object(tb testing.TB, file string) *ebpf.Collection {
	tb.Helper()
	nstest.Require(tb, feature.Root, feature.BPFIngress, feature.BPFTrace)
	spec, err := ebpf.LoadCollectionSpec(file)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		var refused *ebpf.VerifierError
		if errors.As(err, &refused) {
			tb.Fatalf("%+v", refused)
		}
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// verdicts that programs of a type may have.
var verdicts = map[ebpf.ProgramType][]int32{
	ebpf.SchedCLS: {-1, 0, 2, 7}, // TC_ACT_UNSPEC, OK, SHOT, REDIRECT
	ebpf.XDP:      {0, 1, 2, 3, 4},
}

// answers are programs of tests that take questions in the place of packets: what they answer with is
// no verdict.
var answers = map[string]bool{"buckettest": true, "rulestest": true}

// meets runs a program on a frame.
func meets(tb testing.TB, dir, name string, p *ebpf.Program, frame []byte) {
	tb.Helper()
	allowed := verdicts[p.Type()]
	if allowed == nil || answers[dir] || !framestest.Runs(frame) {
		return
	}
	verdict, out, err := p.Test(bytes.Clone(frame))
	switch {
	case err != nil:
		tb.Fatalf("%s of %s: %v\n%x", name, dir, err, frame)
	case len(out) == 0:
		tb.Errorf("%s of %s leaves nothing of\n%x", name, dir, frame)
	}
	for _, v := range allowed {
		if int32(verdict) == v {
			return
		}
	}
	tb.Errorf("%s of %s says %d of\n%x", name, dir, int32(verdict), frame)
}

// mostVerified is how many instructions the kernel's verifier may go through with a program. It does so for each port that gets one: some
// 500,000 take it a second, and while that lasts an edit does.
const mostVerified = 80_000

// TestProgramsRun: the kernel takes every program that there is, soon enough, and those that meet packets have a
// verdict on each frame, odd and bent ones too.
func TestProgramsRun(t *testing.T) {
	files, err := filepath.Glob("*/*_bpfel.o")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no programs: %v", err)
	}
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(dir, func(t *testing.T) {
			for name, p := range object(t, file).Programs {
				if info, err := p.Info(); err != nil {
					t.Error(err)
				} else if n, known := info.VerifiedInstructions(); known && n > mostVerified {
					t.Errorf("%s takes the verifier %d instructions; have it see fewer states (numbers that it knows, counted in loops, are one each)", name, n)
				}
				for _, frame := range framestest.Odd() {
					meets(t, dir, name, p, frame)
				}
				for frame := range framestest.Bent(20, 1) {
					meets(t, dir, name, p, frame)
				}
			}
		})
	}
}

// BenchmarkLoad: how long it takes the kernel to verify and compile each program that steers packets, as it stands.
func BenchmarkLoad(b *testing.B) {
	nstest.Require(b, feature.Root, feature.BPFIngress)
	for _, dir := range []string{"branch", "classify", "opens", "spread", "stay", "steer", "versions"} {
		all, err := ebpf.LoadCollectionSpec(filepath.Join(dir, dir+"_bpfel.o"))
		if err != nil {
			b.Fatal(err)
		}
		for name := range all.Programs {
			b.Run(dir+"/"+name, func(b *testing.B) {
				one := all.Copy()
				one.Programs = map[string]*ebpf.ProgramSpec{name: one.Programs[name]}
				for b.Loop() {
					c, err := ebpf.NewCollection(one)
					if err != nil {
						b.Fatal(err)
					}
					c.Close()
				}
			})
		}
	}
}

// FuzzPrograms runs all that meet packets on any frame.
func FuzzPrograms(f *testing.F) {
	files, err := filepath.Glob("*/*_bpfel.o")
	if err != nil {
		f.Fatal(err)
	}
	all := map[string]*ebpf.Collection{}
	for _, file := range files {
		if dir := filepath.Dir(file); !strings.HasSuffix(dir, "test") {
			all[dir] = object(f, file)
		}
	}
	for _, frame := range framestest.Odd() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		if len(frame) < 15 || len(frame) > 3000 {
			return
		}
		for dir, c := range all {
			for name, p := range c.Programs {
				meets(t, dir, name, p, frame)
			}
		}
	})
}

// context is the part of struct __sk_buff that tests give.
func context(gsoSegments, gsoSize uint32) []byte {
	in := make([]byte, 192)
	binary.NativeEndian.PutUint32(in[164:], gsoSegments)
	binary.NativeEndian.PutUint32(in[176:], gsoSize)
	return in
}

// TestMergedFramesRun: those that the kernel merged of several too.
func TestMergedFramesRun(t *testing.T) {
	files, err := filepath.Glob("*/*_bpfel.o")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Dir(file), func(t *testing.T) {
			for name, p := range object(t, file).Programs {
				if p.Type() != ebpf.SchedCLS {
					continue
				}
				for odd, frame := range framestest.Odd() {
					if !framestest.Runs(frame) {
						continue
					}
					for _, merged := range [][]byte{context(2, 1), context(40, 1448), context(1<<16-1, 1<<16-1)} {
						o := ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame)+256), Context: merged}
						if verdict, err := p.Run(&o); err != nil || int32(verdict) > 7 {
							t.Errorf("%s, %s: verdict %d, error %v", name, odd, int32(verdict), err)
						}
					}
				}
			}
		})
	}
}
