package filter

import "golang.org/x/net/bpf"

// code is a program that grows. All its jumps go forward, to labels that get their places
// later.
type code struct {
	program []bpf.Instruction
	places  []int
	jumps   []jump
}

// label is a place in the program.
type label int

// jump is an instruction that goes to a label.
type jump struct {
	at int
	to label
}

func (c *code) add(i ...bpf.Instruction) { c.program = append(c.program, i...) }

func (c *code) label() label {
	c.places = append(c.places, 0)
	return label(len(c.places) - 1)
}

// place a label before what is added next.
func (c *code) place(l label) { c.places[l] = len(c.program) }

func (c *code) jump(to label) {
	c.jumps = append(c.jumps, jump{len(c.program), to})
	c.add(bpf.Jump{})
}

// resolved is the program with the distances of its jumps.
func (c *code) resolved() []bpf.Instruction {
	for _, j := range c.jumps {
		c.program[j.at] = bpf.Jump{Skip: uint32(c.places[j.to] - j.at - 1)}
	}
	return c.program
}

// node is a condition on a packet. What it emits ends at one of two labels.
type node interface {
	emit(c *code, yes, no label)
}

// every is that all conditions hold, asked in their order as long as they do.
type every []node

func (all every) emit(c *code, yes, no label) {
	for _, n := range all {
		next := c.label()
		n.emit(c, next, no)
		c.place(next)
	}
	c.jump(yes)
}

// some is that one of the conditions holds.
type some []node

func (all some) emit(c *code, yes, no label) {
	for _, n := range all {
		next := c.label()
		n.emit(c, yes, next)
		c.place(next)
	}
	c.jump(no)
}

// not is that a condition does not hold.
type not struct{ node }

func (n not) emit(c *code, yes, no label) { n.node.emit(c, no, yes) }

// test compares a number of the packet. A packet that is too short to have it fits no
// expression that gets as far as to ask for it.
type test struct {
	// load the number.
	load []bpf.Instruction
	cond bpf.JumpTest
	with uint32
}

func (t test) emit(c *code, yes, no label) {
	c.add(t.load...)
	c.add(bpf.JumpIf{Cond: t.cond, Val: t.with, SkipFalse: 1})
	c.jump(yes)
	c.jump(no)
}

// equals is that the packet has a number of so many bytes at a place.
func equals(at uint32, size int, number uint32) node {
	return test{[]bpf.Instruction{bpf.LoadAbsolute{Off: at, Size: size}}, bpf.JumpEqual, number}
}
