package filter

import "golang.org/x/net/bpf"

// Where a frame has a Network Service Header behind Ethernet, and what stands there.
const (
	typeNSH                   = 0x894f
	wordsAt, wordsMask        = 15, 0x3f // how long it is, in words
	nextHeaderAt              = 14 + 3
	nextIsEthernet            = 3
	noMetadata, fixed         = 2, 6 // words of a header without metadata, and of one with four of them (MD type 1)
	ethernetHeader            = 14
	bytesOfAWord       uint32 = 4
)

// behindNSH asks the frame behind a header, if there is one of a usual length, and else the frame itself.
func behindNSH(n node) node {
	is := equals(typeAt, 2, typeNSH)
	all := some{every{not{is}, n}}
	for _, words := range []uint32{noMetadata, fixed} {
		long := test{[]bpf.Instruction{bpf.LoadAbsolute{Off: wordsAt, Size: 1}, bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: wordsMask}}, bpf.JumpEqual, words}
		all = append(all, every{is, long, equals(nextHeaderAt, 1, nextIsEthernet), moved{n, ethernetHeader + words*bytesOfAWord}})
	}
	return all
}

// moved is a condition on what begins so many bytes later.
type moved struct {
	node
	by uint32
}

func (m moved) emit(c *code, yes, no label) {
	from := len(c.program)
	m.node.emit(c, yes, no)
	for i, instruction := range c.program[from:] {
		switch load := instruction.(type) {
		case bpf.LoadAbsolute:
			load.Off += m.by
			c.program[from+i] = load
		case bpf.LoadIndirect:
			load.Off += m.by
			c.program[from+i] = load
		case bpf.LoadMemShift:
			load.Off += m.by
			c.program[from+i] = load
		}
	}
}
