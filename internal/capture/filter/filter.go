// Package filter compiles what a user writes to choose packets, the part of
// pcap-filter(7) that speaks of hosts, networks, protocols and ports, into a program that
// the kernel runs at a packet socket. What it takes means what it means to tcpdump. It
// opens no socket.
package filter

import (
	"fmt"
	"net/netip"

	"golang.org/x/net/bpf"
)

// mostInstructions that the kernel takes (BPF_MAXINSNS).
const mostInstructions = 4096

// Behind compiles as [Compile] does, for an interface where frames come behind a Network Service Header
// (RFC 8300): it is the frame behind that has to fit, and of what has no such header the frame itself.
func Behind(expression string, snaplen uint32, names map[string][]netip.Addr) ([]bpf.Instruction, error) {
	return compile(expression, snaplen, names, behindNSH)
}

// Compile an expression to a program that gives the first bytes, at most so many, of those
// Ethernet frames that fit it, and nothing of others. An empty one fits all. Names are
// addresses by name.
func Compile(expression string, snaplen uint32, names map[string][]netip.Addr) ([]bpf.Instruction, error) {
	return compile(expression, snaplen, names, func(n node) node { return n })
}

// compile what an expression comes to where it is asked as at says.
func compile(expression string, snaplen uint32, names map[string][]netip.Addr, at func(node) node) ([]bpf.Instruction, error) {
	var chosen node = every{}
	p := &parser{words: split(expression), names: names}
	if len(p.words) > 0 {
		var err error
		if chosen, err = p.all(); err != nil {
			return nil, fmt.Errorf("%q: %w", expression, err)
		}
	}
	program := assemble(at(chosen), snaplen)
	if len(program) > mostInstructions {
		return nil, fmt.Errorf("%q: it needs %d instructions, and the kernel takes %d; leave something out", expression, len(program), mostInstructions)
	}
	return program, nil
}

func assemble(chosen node, snaplen uint32) []bpf.Instruction {
	c := &code{}
	yes, no := c.label(), c.label()
	chosen.emit(c, yes, no)
	c.place(yes)
	c.add(bpf.RetConstant{Val: snaplen})
	c.place(no)
	c.add(bpf.RetConstant{Val: 0})
	return c.resolved()
}
