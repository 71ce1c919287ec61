package socketfilter_test

import (
	"net"
	"testing"

	"golang.org/x/net/bpf"

	"nfchain.dev/nfchain/internal/netns/socketfilter"
)

// TestAttach has a socket get the first bytes of what begins with an even one.
func TestAttach(t *testing.T) {
	to, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	raw, err := to.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const udpHeader, kept = 8, 3 // a UDP socket's filter sees the header, too
	control := raw.Control(func(fd uintptr) {
		err = socketfilter.Attach(int(fd), []bpf.Instruction{
			bpf.LoadAbsolute{Off: udpHeader, Size: 1},
			bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 1, SkipFalse: 1},
			bpf.RetConstant{Val: 0},
			bpf.RetConstant{Val: udpHeader + kept},
		})
	})
	if err != nil || control != nil {
		t.Fatal(err, control)
	}
	for _, b := range [][]byte{{1, 9, 9, 9}, {2, 9, 9, 9}} {
		if _, err := to.WriteTo(b, to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 10)
	if n, err := to.Read(b); err != nil || n != kept || b[0] != 2 {
		t.Errorf("%d bytes % x, %v", n, b[:n], err)
	}
}

func TestNoProgram(t *testing.T) {
	if err := socketfilter.Attach(-1, []bpf.Instruction{bpf.Jump{Skip: 1 << 31}, bpf.RetA{}}); err == nil {
		t.Error("nobody minds")
	}
}
