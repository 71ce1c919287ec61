package fold_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/pass/fold"
)

// jump by so many places.
func jump(in asm.Instruction, by int16) asm.Instruction {
	return asm.Instruction{OpCode: in.OpCode, Dst: in.Dst, Src: in.Src, Constant: in.Constant, Offset: by}
}

// constant has a register point to a constant.
func constant(to asm.Register, at uint32) asm.Instruction {
	return asm.LoadMapValue(to, 0, at).WithReference(fold.Section)
}

// TestFolds a program to what is left of it: words of the whole one, and of the other.
func TestFolds(t *testing.T) {
	constants := []byte{5, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0}
	load := func(at uint32, size asm.Size) asm.Instructions {
		return asm.Instructions{constant(asm.R1, at), asm.LoadMem(asm.R2, asm.R1, 0, size)}
	}
	join := func(parts ...any) (all asm.Instructions) {
		for _, p := range parts {
			if one, is := p.(asm.Instruction); is {
				all = append(all, one)
				continue
			}
			all = append(all, p.(asm.Instructions)...)
		}
		return all
	}
	one, two, exit := asm.Mov.Imm(asm.R0, 1), asm.Mov.Imm(asm.R0, 2), asm.Return()
	unknown := asm.LoadMem(asm.R3, asm.R10, -8, asm.DWord)
	for name, c := range map[string]struct{ whole, left asm.Instructions }{
		"a condition that holds": {
			join(load(0, asm.Word), jump(asm.JEq.Imm(asm.R2, 5, ""), 2), one, exit, two, exit),
			join(load(0, asm.Word), two, exit),
		},
		"one that does not": {
			join(load(0, asm.Word), jump(asm.JNE.Imm(asm.R2, 5, ""), 2), one, exit, two, exit),
			join(load(0, asm.Word), one, exit),
		},
		"one of half a register": {
			join(load(4, asm.Word), jump(asm.JSLT.Imm32(asm.R2, 0, ""), 2), one, exit, two, exit),
			join(load(4, asm.Word), two, exit),
		},
		"one of a whole register": {
			join(load(4, asm.Word), jump(asm.JSLT.Imm(asm.R2, 0, ""), 2), one, exit, two, exit),
			join(load(4, asm.Word), one, exit),
		},
		"one that depends on the packet": {
			join(unknown, jump(asm.JEq.Imm(asm.R3, 5, ""), 2), one, exit, two, exit),
			join(unknown, jump(asm.JEq.Imm(asm.R3, 5, ""), 2), one, exit, two, exit),
		},
		"a jump over what goes": {
			join(load(0, asm.Word), unknown, jump(asm.JEq.Imm(asm.R3, 7, ""), 3), jump(asm.JEq.Imm(asm.R2, 5, ""), 1), one, exit, two, exit),
			join(load(0, asm.Word), unknown, jump(asm.JEq.Imm(asm.R3, 7, ""), 1), exit, two, exit),
		},
		"what is not the same from everywhere": {
			join(load(0, asm.Word), unknown, jump(asm.JEq.Imm(asm.R3, 7, ""), 1), asm.Mov.Imm(asm.R2, 6), jump(asm.JEq.Imm(asm.R2, 5, ""), 2), one, exit, two, exit),
			join(load(0, asm.Word), unknown, jump(asm.JEq.Imm(asm.R3, 7, ""), 1), asm.Mov.Imm(asm.R2, 6), jump(asm.JEq.Imm(asm.R2, 5, ""), 2), one, exit, two, exit),
		},
		"a loop": {
			join(load(0, asm.Word), asm.Add.Imm(asm.R2, 1), jump(asm.JLT.Imm(asm.R2, 9, ""), -2), one, exit),
			join(load(0, asm.Word), asm.Add.Imm(asm.R2, 1), jump(asm.JLT.Imm(asm.R2, 9, ""), -2), one, exit),
		},
		"what a function changes": {
			join(load(0, asm.Word), asm.FnKtimeGetNs.Call(), jump(asm.JEq.Imm(asm.R2, 5, ""), 1), exit, exit),
			join(load(0, asm.Word), asm.FnKtimeGetNs.Call(), jump(asm.JEq.Imm(asm.R2, 5, ""), 1), exit, exit),
		},
		"a constant behind the last": {
			join(load(8, asm.Word), jump(asm.JEq.Imm(asm.R2, 3, ""), 2), one, exit, two, exit),
			join(load(8, asm.Word), jump(asm.JEq.Imm(asm.R2, 3, ""), 2), one, exit, two, exit),
		},
		"functions that nobody calls": {
			join(load(8, asm.Half), jump(asm.JEq.Imm(asm.R2, 3, ""), 1), asm.Call.Label("seldom"), asm.Call.Label("often"), exit, one.WithSymbol("seldom"), exit, two.WithSymbol("often"), exit),
			join(load(8, asm.Half), asm.Call.Label("often"), exit, two.WithSymbol("often"), exit),
		},
	} {
		left, err := fold.Program(c.whole, constants)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, want := words(left), words(c.left); got != want {
			t.Errorf("%s: left is\n%s\nwant\n%s", name, got, want)
		}
	}
	for name, wrong := range map[string]asm.Instructions{
		"no end": {one}, "out of the program": {jump(asm.Ja.Label(""), 5), exit}, "nobody's function": {asm.Call.Label("nobody"), exit},
	} {
		if _, err := fold.Program(wrong, constants); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func words(all asm.Instructions) string {
	var lines []string
	for _, in := range all {
		lines = append(lines, fmt.Sprintf("%v %v %v %d %d %s", in.OpCode, in.Dst, in.Src, in.Offset, in.Constant, in.Symbol()))
	}
	return strings.Join(lines, "\n")
}

// TestFoldedDoesTheSame as the whole program, in the kernel, whatever that calculates.
func TestFoldedDoesTheSame(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFIngress)
	dice := rand.New(rand.NewPCG(7, 9))
	constants := make([]byte, 64)
	for i := range constants {
		constants[i] = byte([]uint32{0, 0, 0, 1, 2, 5, 0x80, 0xff, dice.Uint32()}[dice.IntN(9)])
	}
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: uint32(len(constants)), MaxEntries: 1,
		Flags: unix.BPF_F_RDONLY_PROG, Contents: []ebpf.MapKV{{Key: uint32(0), Value: constants}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	run := func(in asm.Instructions) uint32 {
		in = append(asm.Instructions(nil), in...)
		if err := in.AssociateMap(fold.Section, m); err != nil {
			t.Fatal(err)
		}
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, Instructions: in})
		if err != nil {
			t.Fatalf("%v\n%v", err, in)
		}
		defer func() { _ = p.Close() }()
		answer, err := p.Run(&ebpf.RunOptions{Data: make([]byte, 64)})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	shorter := 0
	for range 500 {
		whole := calculation(dice, len(constants))
		left, err := fold.Program(whole, constants)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) < len(whole) {
			shorter++
		}
		if got, want := run(left), run(whole); got != want {
			t.Fatalf("%#x, and the whole program %#x:\n%s\n\nwhole:\n%s", got, want, words(left), words(whole))
		}
	}
	if shorter < 250 {
		t.Errorf("%d of 500 programs became shorter", shorter)
	}
}

// calculation is a program that calculates with constants, and with what it does not know before, and decides by it.
func calculation(dice *rand.Rand, constants int) asm.Instructions {
	const unknown, pointer, registers, operations = asm.R6, asm.R7, 6, 30
	register := func() asm.Register { return asm.Register(dice.IntN(registers)) }
	all := asm.Instructions{asm.LoadMem(unknown, asm.R1, 0, asm.Word), constant(pointer, uint32(dice.IntN(4)))}
	for r := range asm.Register(registers) {
		if dice.IntN(6) == 0 {
			all = append(all, asm.Mov.Reg(r, unknown))
			continue
		}
		size := []asm.Size{asm.Byte, asm.Half, asm.Word, asm.DWord}[dice.IntN(4)]
		all = append(all, asm.LoadMem(r, pointer, int16(4+8*dice.IntN((constants-16)/8)), size))
	}
	number := func() int32 { return []int32{0, 1, 5, -1, 1 << 30, dice.Int32()}[dice.IntN(6)] }
	for n := range operations {
		conditions := []asm.JumpOp{asm.JEq, asm.JNE, asm.JGT, asm.JGE, asm.JLT, asm.JLE, asm.JSet, asm.JSGT, asm.JSGE, asm.JSLT, asm.JSLE}
		calculations := []asm.ALUOp{asm.Mov, asm.Add, asm.Sub, asm.And, asm.Or, asm.Xor, asm.Mul}
		switch by := int16(dice.IntN(min(5, operations-n))); dice.IntN(8) {
		case 0:
			all = append(all, jump(conditions[dice.IntN(len(conditions))].Imm(register(), number(), ""), by))
		case 1:
			all = append(all, jump(conditions[dice.IntN(len(conditions))].Imm32(register(), number(), ""), by))
		case 2:
			all = append(all, jump(conditions[dice.IntN(len(conditions))].Reg32(register(), register(), ""), by))
		case 3:
			all = append(all, jump(conditions[dice.IntN(len(conditions))].Reg(register(), register(), ""), by))
		case 4:
			op := calculations[dice.IntN(len(calculations))]
			all = append(all, []asm.Instruction{op.Imm(register(), number()), op.Imm32(register(), number())}[dice.IntN(2)])
		case 5:
			op := []asm.ALUOp{asm.LSh, asm.RSh, asm.ArSh}[dice.IntN(3)]
			all = append(all, []asm.Instruction{op.Imm(register(), dice.Int32N(64)), op.Imm32(register(), dice.Int32N(32)), op.Reg(register(), register()), op.Reg32(register(), register())}[dice.IntN(4)])
		default:
			op := calculations[dice.IntN(len(calculations))]
			all = append(all, []asm.Instruction{op.Reg(register(), register()), op.Reg32(register(), register())}[dice.IntN(2)])
		}
	}
	for r := asm.R1; r < registers; r++ {
		all = append(all, asm.Xor.Reg(asm.R0, r))
	}
	return append(all, asm.Return())
}
