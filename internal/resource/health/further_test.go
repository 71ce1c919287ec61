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
	next := func() uint64 { number++; return number }
	for _, at := range []int{inIPv4, inIPv6} {
		for _, to := range []uint32{p.index(t, "port1"), p.index(t, "port1") | byDevice} {
			lead(t, p, to, second)
			from := number + 1
			came := comes(t, behind, signature, from, func() { p.put(t, p.socket, p.far, probe(at, signature, next(), first, second)) })
			which := binary.NativeEndian.Uint64(came[at+8:])
			sent := probe(at, signature, which, first, second)
			if seen := p.table.Seen(int(first)); seen.Number < which || p.table.Seen(int(second)).Number >= from {
				t.Errorf("it goes on, and is seen %+v", seen)
			}
			if len(came) != len(sent) || !bytes.Equal(came[:at+16], sent[:at+16]) || binary.NativeEndian.Uint32(came[at+24:]) != second || sum(came[at:]) != sum(sent[at:]) {
				t.Errorf("what goes on is\n%x, of\n%x", came, sent)
			}
			if when := binary.NativeEndian.Uint64(came[at+16:]); when <= 1 {
				t.Errorf("it was sent on at %d", when)
			}
			for deadline := time.Now().Add(time.Minute); p.table.Seen(int(second)).Number != which; time.Sleep(time.Millisecond) {
				if p.put(t, behind, device, came); time.Now().After(deadline) {
					t.Fatalf("behind the second it is not seen: %+v", p.table.Seen(int(second)))
				}
			}
		}
	}
	overtaken, seen := next(), next()
	p.sees(t, inIPv4, seen)
	always := func(number uint64) func() uint64 { return func() uint64 { return number } }
	for name, c := range map[string]struct {
		at              int
		row, last, lead uint32
		number          func() uint64
	}{
		"goes no further": {inIPv4, first, first, p.index(t, "port1"), next}, "came back": {aboutIPv4, first, second, p.index(t, "port1"), next},
		"came back in IPv6": {aboutIPv6, first, second, p.index(t, "port1"), next}, "should have come out elsewhere": {inIPv4, second, first, p.index(t, "port1"), next},
		"is led nowhere": {inIPv4, first, second, 0, next}, "is a copy": {inIPv4, first, second, p.index(t, "port1"), always(seen)},
		"was overtaken": {inIPv6, first, second, p.index(t, "port1"), always(overtaken)},
	} {
		lead(t, p, c.lead, second)
		all := map[uint64]bool{}
		for range 100 {
			number := c.number()
			all[number] = true
			p.put(t, p.socket, p.far, probe(c.at, signature, number, c.row, c.last))
		}
		strangers := func() { p.put(t, p.socket, p.far, probe(inIPv4, signature+1, next(), first, first)) }
		if comes(t, behind, signature+1, number, strangers, all); t.Failed() {
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

// comes waits for a frame with that signature, and a number that is no lower, which is sent again and again, with higher ones: a machine that
// another test floods may drop it. None of those numbers comes before that are not to.
func comes(t *testing.T, socket int, sign, from uint64, send func(), not ...map[uint64]bool) []byte {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		send()
		for b := make([]byte, 2000); ; {
			n, who, err := unix.Recvfrom(socket, b, 0)
			if err != nil {
				break
			}
			number := func(sign uint64) uint64 {
				if i := bytes.Index(b[:n], binary.NativeEndian.AppendUint64(nil, sign)); i >= 0 && i+16 <= n {
					return binary.NativeEndian.Uint64(b[i+8:])
				}
				return 0
			}
			if l, is := who.(*unix.SockaddrLinklayer); !is || l.Pkttype == unix.PACKET_OUTGOING {
				continue
			}
			if number(sign) >= from {
				return b[:n]
			}
			if slices.ContainsFunc(not, func(not map[uint64]bool) bool { return not[number(signature)] }) {
				t.Errorf("probe %x comes", b[:n])
			}
		}
	}
	t.Fatalf("no frame from %d on comes behind the next function", from)
	return nil
}
