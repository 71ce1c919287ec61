package supervise_test

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestPacketsWake who watches over functions at rest, which are probed once a second: the first packet that comes through one has it probed
// at once, as while packets flow, and not when the second is over, also where functions have long been at rest, and one sent something by itself.
func TestPacketsWake(t *testing.T) {
	for name, c := range map[string]struct {
		beats int
		sends bool
	}{"soon": {1, false}, "late": {6, false}, "after what a function sends": {6, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, spec(first, last))
			p.well("a")
			var packet net.Conn
			if err := netns.Do(p.Client().Namespace, func() (err error) {
				packet, err = net.Dial("udp", netip.AddrPortFrom(p.addresses(p.Client(), p.Server())[0], 7013).String())
				return err
			}); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = packet.Close() }()
			next, eastern := p.probes("a"), p.raw("a", "eth1")
			const rounds, enough = 4, 2 // the machine may take that long for once
			var took []time.Duration
			quick := 0
			for range rounds {
				for calm, before := 0, next(); calm < c.beats; { // one probe a second, that many times
					at := next()
					if calm++; at.Sub(before) < 900*time.Millisecond {
						calm = 0
					}
					before = at
				}
				if c.sends {
					if _, err := unix.Write(eastern, append(append(make([]byte, 12), 0x88, 0xb5), make([]byte, 50)...)); err != nil {
						t.Fatal(err)
					}
					time.Sleep(200 * time.Millisecond)
				}
				began := time.Now()
				if _, err := packet.Write([]byte("x")); err != nil && !errors.Is(err, unix.ECONNREFUSED) { // as nobody is there, of the one before
					t.Fatal(err)
				}
				if took = append(took, next().Sub(began)); took[len(took)-1] < 500*time.Millisecond {
					if quick++; quick == enough {
						return
					}
				}
			}
			t.Errorf("the next probe is there %v after a packet", took)
		})
	}
}

// raw is a socket for all frames of an interface of a function.
func (p *path) raw(node, device string) (socket int) {
	p.Helper()
	h := nstest.Open(p, p.node(node).Namespace)
	dev, err := h.LinkByName(device)
	if err == nil {
		err = h.Do(func() (err error) {
			socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
			return err
		})
	}
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = unix.Close(socket) })
	every := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	if err := unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: every, Ifindex: dev.Attrs().Index}); err != nil {
		p.Fatal(err)
	}
	return socket
}

// probes gives, each time that it is called, when the next one came by the western interface of a function.
func (p *path) probes(node string) (next func() time.Time) {
	p.Helper()
	const v4, v6, payload = 14 + 20 + 8, 14 + 40 + 8, 48
	socket := p.raw(node, "eth0")
	wait := unix.NsecToTimeval(int64(time.Minute))
	if err := unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait); err != nil {
		p.Fatal(err)
	}
	return func() time.Time {
		p.Helper()
		for b := make([]byte, 2048); ; {
			n, _, err := unix.Recvfrom(socket, b, 0)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil {
				p.Fatalf("no probe: %v", err)
			}
			if n == v4+payload && b[v4-19] == unix.IPPROTO_UDP || n == v6+payload && b[v6-42] == unix.IPPROTO_UDP {
				return time.Now()
			}
		}
	}
}
