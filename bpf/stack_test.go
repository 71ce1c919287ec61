package bpf_test

import (
	"path/filepath"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// function of a program: the stack that it has for itself, in bytes, and what it calls.
type function struct {
	own   int
	calls []string
}

// functionsOf a program, the first of which is called first.
func functionsOf(p *ebpf.ProgramSpec) (all map[string]*function, first string) {
	all = map[string]*function{}
	var f *function
	var before asm.Instruction
	for _, i := range p.Instructions {
		if name := i.Symbol(); name != "" {
			if f == nil {
				first = name
			}
			f = &function{}
			all[name] = f
		}
		f.see(i, before)
		before = i
	}
	return all, first
}

// see an instruction, and what it says of the stack: it is written at, or an address in it is made.
func (f *function) see(i, before asm.Instruction) {
	below := 0
	switch class := i.OpCode.Class(); {
	case i.IsFunctionCall():
		f.calls = append(f.calls, i.Reference())
	case class.IsStore() && i.Dst == asm.RFP, class.IsLoad() && i.Src == asm.RFP:
		below = -int(i.Offset)
	case class == asm.ALU64Class && i.OpCode.ALUOp() == asm.Add && i.OpCode.Source() == asm.ImmSource &&
		before.OpCode.Class() == asm.ALU64Class && before.OpCode.ALUOp() == asm.Mov && before.Src == asm.RFP && before.Dst == i.Dst:
		below = -int(i.Constant)
	}
	f.own = max(f.own, below)
}

// deepest is how much stack a function takes with those that it calls, as kernels before Linux 6.7
// count it: each has a multiple of 32 bytes.
func deepest(all map[string]*function, name string) int {
	f, most := all[name], 0
	for _, called := range f.calls {
		most = max(most, deepest(all, called))
	}
	return (max(f.own, 1)+31)/32*32 + most
}

// TestStacksFit what kernels from Linux 6.1 on give a program with all functions that it calls.
func TestStacksFit(t *testing.T) {
	files, err := filepath.Glob("*/*_bpfel.o")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no programs: %v", err)
	}
	calling := 0
	for _, file := range files {
		spec, err := ebpf.LoadCollectionSpec(file)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range spec.Programs {
			all, first := functionsOf(p)
			if len(all) > 1 {
				calling++
			}
			if n := deepest(all, first); n > 512 {
				t.Errorf("%s of %s takes %d bytes of stack, and 512 is all there is", name, filepath.Dir(file), n)
			} else {
				t.Logf("%s of %s: %d bytes in %d functions", name, filepath.Dir(file), n, len(all))
			}
		}
	}
	if calling == 0 {
		t.Error("no program calls a function of its own: the test does not read them")
	}
}
