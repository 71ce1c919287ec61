package health_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
)

// TestGoesFurther: a probe that is to go through several functions is noted where it comes out of the first, goes on into the
// second with the same sum over what it carries, and ends behind that; so it does where the port itself has to send it. One that is to
// go through the first alone ends there, and so does one that is led nowhere, or came back in an error of ICMP.
func TestGoesFurther(t *testing.T) { onHooks(t, goesFurther) }

func goesFurther(t *testing.T, p *ports) {
	const byDevice = 1 << 31
	taker := p.take(t, nil)
	defer taker.Close()
	first, second := uint32(p.row), uint32(p.row+1)
	other, err := p.table.Take(p.place(), "port1", []int{int(second)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	behind, device := packets(t, p.behind[1])
	number := uint64(100)
	for _, at := range []int{inIPv4, inIPv6} {
		for _, to := range []uint32{p.index(t, "port1"), p.index(t, "port1") | byDevice} {
			lead(t, p, to, second)
			number += 10
			sent := probe(at, signature, number, first, second)
			came := comes(t, behind, signature, number, func() { p.put(t, p.socket, p.far, sent) })
			if seen := p.table.Seen(int(first)); seen.Number != number || p.table.Seen(int(second)).Number == number {
				t.Errorf("it goes on, and is seen %+v", seen)
			}
			if len(came) != len(sent) || !bytes.Equal(came[:at+16], sent[:at+16]) || binary.NativeEndian.Uint32(came[at+24:]) != second || sum(came[at:]) != sum(sent[at:]) {
				t.Errorf("what goes on is\n%x, of\n%x", came, sent)
			}
			if when := binary.NativeEndian.Uint64(came[at+16:]); when <= 1 {
				t.Errorf("it was sent on at %d", when)
			}
			for deadline := time.Now().Add(time.Minute); p.table.Seen(int(second)).Number != number; time.Sleep(time.Millisecond) {
				if p.put(t, behind, device, came); time.Now().After(deadline) {
					t.Fatalf("behind the second it is not seen: %+v", p.table.Seen(int(second)))
				}
			}
		}
	}
	for name, c := range map[string]struct {
		at              int
		row, last, lead uint32
	}{
		"goes no further": {inIPv4, first, first, p.index(t, "port1")}, "came back": {aboutIPv4, first, second, p.index(t, "port1")},
		"came back in IPv6": {aboutIPv6, first, second, p.index(t, "port1")}, "should have come out elsewhere": {inIPv4, second, first, p.index(t, "port1")},
		"is led nowhere": {inIPv4, first, second, 0},
	} {
		number++
		lead(t, p, c.lead, second)
		for range 100 {
			p.put(t, p.socket, p.far, probe(c.at, signature, number, c.row, c.last))
		}
		strangers := func() { p.put(t, p.socket, p.far, probe(inIPv4, signature+1, number, first, first)) }
		if comes(t, behind, signature+1, number, strangers, number); t.Failed() {
			t.Fatalf("one that %s goes on", name)
		}
	}
}

func lead(t *testing.T, p *ports, to, next uint32) {
	t.Helper()
	if err := p.table.Lead(p.row, to, int(next)); err != nil {
		t.Fatal(err)
	}
}

// sum of what a probe carries, as checksums have it (RFC 1071).
func sum(b []byte) (s uint32) {
	for i := 0; i < len(b); i += 2 {
		if s += uint32(binary.BigEndian.Uint16(b[i:])); s > 0xffff {
			s = s&0xffff + s>>16
		}
	}
	return s
}

// packets is a socket for all frames of a node's interface, which has this index.
func packets(t *testing.T, behind *netns.Handle) (socket, device int) {
	t.Helper()
	l, err := behind.LinkByName("eth0")
	if err == nil {
		err = behind.Do(func() (err error) {
			socket, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
			return errors.Join(err, unix.Bind(socket, &unix.SockaddrLinklayer{Ifindex: l.Attrs().Index, Protocol: 0x0300})) // ETH_P_ALL, in the network's order
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(socket) })
	return socket, l.Attrs().Index
}

// comes waits for a frame with that signature and number, which is sent again and again: a machine that another test floods
// may drop it. No probe of a number that is not to come does before.
func comes(t *testing.T, socket int, sign, number uint64, send func(), not ...uint64) []byte {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		send()
		for b := make([]byte, 2000); ; {
			n, from, err := unix.Recvfrom(socket, b, 0)
			if err != nil {
				break
			}
			has := func(sign, number uint64) bool {
				return bytes.Contains(b[:n], binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, sign), number))
			}
			if l, is := from.(*unix.SockaddrLinklayer); !is || l.Pkttype == unix.PACKET_OUTGOING {
				continue
			}
			if has(sign, number) {
				return b[:n]
			}
			if slices.ContainsFunc(not, func(number uint64) bool { return has(signature, number) }) {
				t.Errorf("probe %x comes", b[:n])
			}
		}
	}
	t.Fatalf("frame %d does not come behind the next function", number)
	return nil
}
