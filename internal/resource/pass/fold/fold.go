// Package fold makes a program for the kernel shorter before it is loaded, by the constants that it has. It knows nothing
// of what programs do.
package fold

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
)

// Section is what programs call their constants.
const Section = ".rodata"

// Program is one without what it never does, since its constants are what they are. The kernel would find out the
// same, but what it throws away takes it as long as what stays.
func Program(in asm.Instructions, constants []byte) (asm.Instructions, error) {
	f := &folding{in: in, constants: constants, before: make([]*registers, len(in))}
	if err := f.measure(); err != nil {
		return nil, err
	}
	f.reach(0, registers{})
	for len(f.due) > 0 {
		i := f.due[len(f.due)-1]
		f.due = f.due[:len(f.due)-1]
		if err := f.follow(i); err != nil {
			return nil, err
		}
	}
	return f.rest()
}

// folding of a program. Instructions are numbered; places are counted as the kernel does, for which a large constant
// takes two.
type folding struct {
	in        asm.Instructions
	constants []byte
	// places of instructions, instructions by their places, and those that begin functions.
	places, at []int
	functions  map[string]int
	// before an instruction this is known; nil where none comes by.
	before []*registers
	// due are instructions that are to be looked at again.
	due []int
}

// registers 0 to 9; the last, of the stack, never changes.
type registers [10]known

// known is what a register has whatever the packet: nothing that is known, a number, or a place among the constants.
type known struct {
	what  what
	value uint64
}

type what uint8

const (
	anything what = iota
	number
	place
)

func (f *folding) measure() (err error) {
	f.places, f.at = make([]int, len(f.in)), make([]int, 0, 2*len(f.in))
	for i, in := range f.in {
		f.places[i] = len(f.at)
		f.at = append(f.at, i)
		if in.OpCode.IsDWordLoad() {
			f.at = append(f.at, i)
		}
	}
	f.functions, err = f.in.SymbolOffsets()
	return err
}

// reach an instruction with this known. What is not the same from everywhere is not known there.
func (f *folding) reach(i int, r registers) {
	was := f.before[i]
	if was == nil {
		f.before[i] = &r
		f.due = append(f.due, i)
		return
	}
	less := *was
	for n := range less {
		if less[n] != r[n] {
			less[n] = known{}
		}
	}
	if less != *was {
		*was = less
		f.due = append(f.due, i)
	}
}

// follow an instruction to those that may be next.
func (f *folding) follow(i int) error {
	in, r := f.in[i], *f.before[i]
	if in.IsFunctionReference() {
		to, is := f.functions[in.Reference()]
		if !is {
			return fmt.Errorf("instruction %d calls %q, which is not there", i, in.Reference())
		}
		f.reach(to, registers{})
	}
	goesOn, jumps := f.ways(i)
	if jumps {
		to, err := f.target(i)
		if err != nil {
			return err
		}
		f.reach(to, r)
	}
	if !goesOn {
		return nil
	}
	if i+1 == len(f.in) {
		return fmt.Errorf("instruction %d has none behind it", i)
	}
	r.take(in, f.constants)
	f.reach(i+1, r)
	return nil
}

// target of a jump.
func (f *folding) target(i int) (int, error) {
	if in := f.in[i]; in.OpCode.Class() == asm.Jump32Class && in.OpCode.JumpOp() == asm.Ja {
		return 0, fmt.Errorf("instruction %d is a long jump, which nobody reads here", i)
	}
	to := f.places[i] + 1 + int(f.in[i].Offset)
	if to < 0 || to >= len(f.at) {
		return 0, fmt.Errorf("instruction %d leads out of the program", i)
	}
	return f.at[to], nil
}

// ways on from an instruction.
func (f *folding) ways(i int) (goesOn, jumps bool) {
	in := f.in[i]
	if !in.OpCode.Class().IsJump() {
		return true, false
	}
	switch in.OpCode.JumpOp() {
	case asm.Call:
		return true, false
	case asm.Exit:
		return false, false
	case asm.Ja:
		return false, true
	}
	holds, decided := f.before[i].compare(in)
	return !decided || !holds, !decided || holds
}

// compare tells whether a condition holds, if that is known.
func (r *registers) compare(in asm.Instruction) (holds, decided bool) {
	a, b := r.of(in.Dst), known{number, uint64(in.Constant)}
	if in.OpCode.Source() == asm.RegSource {
		b = r.of(in.Src)
	}
	if a.what != number || b.what != number {
		return false, false
	}
	x, y := a.value, b.value
	signedX, signedY := int64(x), int64(y)
	if in.OpCode.Class() == asm.Jump32Class {
		x, y, signedX, signedY = uint64(uint32(x)), uint64(uint32(y)), int64(int32(x)), int64(int32(y))
	}
	switch in.OpCode.JumpOp() {
	case asm.JEq:
		return x == y, true
	case asm.JNE:
		return x != y, true
	case asm.JGT:
		return x > y, true
	case asm.JGE:
		return x >= y, true
	case asm.JLT:
		return x < y, true
	case asm.JLE:
		return x <= y, true
	case asm.JSet:
		return x&y != 0, true
	case asm.JSGT:
		return signedX > signedY, true
	case asm.JSGE:
		return signedX >= signedY, true
	case asm.JSLT:
		return signedX < signedY, true
	case asm.JSLE:
		return signedX <= signedY, true
	}
	return false, false
}

// of a register what is known.
func (r *registers) of(n asm.Register) known {
	if int(n) >= len(r) {
		return known{}
	}
	return r[n]
}

// take an instruction that is not the end of a way.
func (r *registers) take(in asm.Instruction, constants []byte) {
	switch class := in.OpCode.Class(); {
	case class.IsJump():
		if in.OpCode.JumpOp() == asm.Call {
			r.lose(asm.R0, asm.R1, asm.R2, asm.R3, asm.R4, asm.R5)
		}
	case class.IsALU():
		r[in.Dst] = r.calculate(in)
	case in.OpCode.IsDWordLoad():
		r[in.Dst] = pointed(in)
	case class == asm.LdXClass:
		r[in.Dst] = r.load(in, constants)
	case class == asm.LdClass:
		r.lose(asm.R0, asm.R1, asm.R2, asm.R3, asm.R4, asm.R5)
	case in.OpCode.Mode() == asm.AtomicMode:
		r.lose(asm.R0, in.Src)
	}
}

func (r *registers) lose(all ...asm.Register) {
	for _, n := range all {
		if int(n) < len(r) {
			r[n] = known{}
		}
	}
}

// pointed is a large constant: one of the program's own, a place among those that are set, or something else.
func pointed(in asm.Instruction) known {
	switch {
	case in.Src == asm.R0:
		return known{number, uint64(in.Constant)}
	case in.Src == asm.PseudoMapValue && in.Reference() == Section:
		return known{place, uint64(in.Constant) >> 32}
	}
	return known{}
}

// load a constant.
func (r *registers) load(in asm.Instruction, constants []byte) known {
	from, size := r.of(in.Src), in.OpCode.Size().Sizeof()
	at := from.value + uint64(in.Offset)
	if from.what != place || in.OpCode.Mode() != asm.MemMode || at > uint64(len(constants)) || uint64(len(constants))-at < uint64(size) {
		return known{}
	}
	value := uint64(0)
	for i, b := range constants[at : at+uint64(size)] { // bpf/ is made for machines with the lowest byte first
		value |= uint64(b) << (8 * i)
	}
	return known{number, value}
}

// calculate what a register has after an operation.
func (r *registers) calculate(in asm.Instruction) known {
	a, b := r.of(in.Dst), known{number, uint64(in.Constant)}
	if in.OpCode.Source() == asm.RegSource {
		b = r.of(in.Src)
	}
	op, short := in.OpCode.ALUOp(), in.OpCode.Class() == asm.ALUClass
	switch {
	case op == asm.Mov && b.what == place && !short:
		return b
	case op == asm.Add && a.what == place && b.what == number && !short:
		return known{place, a.value + b.value}
	case b.what != number || op != asm.Mov && a.what != number:
		return known{}
	}
	if short {
		a.value, b.value = uint64(uint32(a.value)), uint64(uint32(b.value))
	}
	value, can := operate(op, a.value, b.value, short)
	if short {
		value = uint64(uint32(value))
	}
	if !can {
		return known{}
	}
	return known{number, value}
}

func operate(op asm.ALUOp, a, b uint64, short bool) (value uint64, can bool) {
	bits := uint64(64)
	if short {
		bits = 32
	}
	switch op {
	case asm.Mov:
		return b, true
	case asm.Add:
		return a + b, true
	case asm.Sub:
		return a - b, true
	case asm.And:
		return a & b, true
	case asm.Or:
		return a | b, true
	case asm.Xor:
		return a ^ b, true
	case asm.LSh:
		return a << (b % bits), true
	case asm.RSh:
		return a >> (b % bits), true
	}
	return 0, false
}

// rest of the program, with jumps that lead where they led.
func (f *folding) rest() (asm.Instructions, error) {
	stays := f.stay()
	moved, room := make([]int, len(f.in)), 0
	for i := range f.in {
		moved[i] = room
		if stays[i] {
			room += int(f.in[i].Size() / asm.InstructionSize)
		}
	}
	out := make(asm.Instructions, 0, room)
	for i, in := range f.in {
		if !stays[i] {
			continue
		}
		if goesOn, jumps := f.ways(i); jumps {
			to, err := f.target(i)
			if err != nil {
				return nil, err
			}
			if !goesOn {
				in = asm.Instruction{OpCode: asm.Ja.Label("").OpCode, Metadata: in.Metadata}
			}
			in.Offset = int16(moved[to] - moved[i] - 1)
		}
		out = append(out, in)
	}
	return out, nil
}

// stay are those instructions that are reached and do something. What begins a function stays in any case.
func (f *folding) stay() []bool {
	stays := make([]bool, len(f.in))
	for i := len(f.in) - 1; i >= 0; i-- {
		if f.before[i] == nil {
			continue
		}
		goesOn, jumps := f.ways(i)
		conditional := f.in[i].OpCode.Class().IsJump() && f.in[i].OpCode.JumpOp() != asm.Call
		switch {
		case f.in[i].Symbol() != "":
			stays[i] = true
		case jumps && !goesOn:
			stays[i] = !f.falls(i, stays)
		default:
			stays[i] = !conditional || jumps || !goesOn
		}
	}
	return stays
}

// falls tells whether a jump leads to what is next anyhow.
func (f *folding) falls(i int, stays []bool) bool {
	to, err := f.target(i)
	if err != nil || to <= i {
		return false
	}
	for _, between := range stays[i+1 : to] {
		if between {
			return false
		}
	}
	return true
}
