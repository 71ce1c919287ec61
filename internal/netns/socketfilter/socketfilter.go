// Package socketfilter gives packet sockets a program that says what of each packet they
// get (bpf(4) of the BSDs, and the kernel's Documentation/networking/filter.rst).
package socketfilter

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Attach a program to a socket: from then on it gets what that returns.
func Attach(fd int, program []bpf.Instruction) error {
	code, err := bpf.Assemble(program)
	if err != nil {
		return fmt.Errorf("assemble a packet filter: %w", err)
	}
	raw := make([]unix.SockFilter, len(code))
	for i, in := range code {
		raw[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	filter := &unix.SockFprog{Len: uint16(len(raw)), Filter: &raw[0]}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, filter); err != nil {
		return fmt.Errorf("attach a packet filter: %w", err)
	}
	return nil
}
