package run_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/resource/nsh"
)

// relayCommand makes this test program a function that takes frames in by one interface and sends them out by the other: those with a header of
// NSH, which it changes as its argument says, or all as they are.
const relayCommand = "relay"

// relayPort tells by being open that it does.
const relayPort = 9

// relayer is what a function says whose program relays in a way, with further options of it, and what starts it if that is another program.
func relayer(t *testing.T, way, options string, starts ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args, err := json.Marshal(append(starts, self, relayCommand, way))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("kind: command, command: {%s args: %s, ready: {tcp_port: %d, timeout: 1m}}", options, args, relayPort)
}

// relays are what such a function makes of the frames that it gets; nil is nothing.
var relays = map[string]func(frame []byte) []byte{
	"proper":    func(f []byte) []byte { f[indexAt]--; return f },
	"unaware":   func(f []byte) []byte { return f },
	"expired":   func(f []byte) []byte { f[indexAt] = 0; return f },
	"looping":   func(f []byte) []byte { f[14], f[15] = f[14]&^0xf, f[15]&0x3f|1<<6; return f },
	"elsewhere": func(f []byte) []byte { f[pathAt+2] ^= 1; f[indexAt]--; return f },
	"ahead":     func(f []byte) []byte { f[indexAt] -= 2; return f },
	"plain":     func(f []byte) []byte { return f[nsh.Length:] },
	"cut":       func(f []byte) []byte { return f[:nsh.Length+4] },
	"ip":        func(f []byte) []byte { f[14+3] = 1; return f },
	"future":    func(f []byte) []byte { f[14] |= 1 << 6; return f },
	"shifted": func(f []byte) []byte { // the second end is at another port than the first thinks
		f[indexAt]--
		at := nsh.Length + 14 + 20 + 2 // of UDP over IPv4, where the packet goes to
		if f[pathAt]&0x80 != 0 {
			at -= 2 // where it comes from
		}
		if frame := f[nsh.Length:]; len(frame) >= 14+20+8 && frame[12] == 8 && frame[13] == 0 && frame[14+9] == unix.IPPROTO_UDP {
			port := binary.BigEndian.Uint16(f[at:])
			sum := uint32(^binary.BigEndian.Uint16(frame[14+20+6:])) + uint32(^port) + uint32(port^1) // RFC 1624 eqn. 3
			sum = sum&0xffff + sum>>16
			sum = sum&0xffff + sum>>16
			binary.BigEndian.PutUint16(f[at:], port^1)
			binary.BigEndian.PutUint16(frame[14+20+6:], ^uint16(sum))
		}
		return f
	},
	wire:    func(f []byte) []byte { return f },
	marking: func(f []byte) []byte { f[indexAt]--; return f },
	"told": func(f []byte) []byte { // with metadata of type 2: a class, a type and 4 bytes (RFC 8300 §2.5.1)
		f[indexAt]--
		f[15] += 2
		return append(f[:nsh.Length:nsh.Length], append([]byte{0, 1, 1, 4, 1, 2, 3, 4}, f[nsh.Length:]...)...)
	},
}

// marking is what a function does that sends frames on by marks.
const marking = "marking"

// wire is what a function does that is no hop.
const wire = "wire"

// markOf the frames of such a function are the hundreds of the UDP port that they go to, and sideMark of all that is TCP; 0 of others.
func markOf(f []byte) uint32 {
	packet := f[nsh.Length+14:]
	header, protocol := 20, 9
	if f[nsh.Length+12] == 0x86 {
		header, protocol = 40, 6
	}
	switch {
	case len(packet) < header+4:
		return 0
	case packet[protocol] == unix.IPPROTO_TCP:
		return sideMark
	case packet[protocol] == unix.IPPROTO_UDP:
		return uint32(binary.BigEndian.Uint16(packet[header+2:]) / 100)
	}
	return 0
}

// Where a service path header is in a frame.
const (
	pathAt  = 18
	indexAt = 21
)

// relay runs until it is ended. Where it knows NSH a frame that is none does not come to its sockets.
func relay(way string) error {
	change := relays[way]
	if change == nil {
		return fmt.Errorf("there is no relay %q", way)
	}
	var sockets, indexes [2]int
	kind := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, nsh.EtherType))
	if way == wire {
		kind = binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	}
	for i, device := range []string{"eth0", "eth1"} {
		at, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		indexes[i] = at.Index
		if sockets[i], err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(kind)); err != nil {
			return err
		}
		if err := unix.Bind(sockets[i], &unix.SockaddrLinklayer{Protocol: kind, Ifindex: at.Index}); err != nil {
			return err
		}
		if err := unix.SetsockoptInt(sockets[i], unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20); err != nil {
			return err
		}
	}
	failed := make(chan error)
	for i := range sockets {
		go func() { failed <- pump(sockets[i], sockets[1-i], indexes[1-i], change, way == marking) }()
	}
	ready, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", relayPort))
	if err != nil {
		return err
	}
	defer func() { _ = ready.Close() }()
	return <-failed
}

// pump frames from one socket to an interface, with marks if they are to have some.
func pump(from, to, out int, change func([]byte) []byte, marks bool) error {
	b := make([]byte, 1<<17)
	for {
		n, at, err := unix.Recvfrom(from, b, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if l, is := at.(*unix.SockaddrLinklayer); !is || l.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if marks {
			if err := unix.SetsockoptInt(to, unix.SOL_SOCKET, unix.SO_MARK, int(markOf(b[:n]))); err != nil {
				return err
			}
		}
		if err := unix.Sendto(to, change(b[:n]), 0, &unix.SockaddrLinklayer{Ifindex: out}); err != nil && !errors.Is(err, unix.ENOBUFS) {
			return fmt.Errorf("send %d bytes: %w", n, err)
		}
	}
}
