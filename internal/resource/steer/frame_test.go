package steer_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// wire is a packet socket at the interface of a node.
type wire struct{ fd, index int }

func (f *forwarder) wire(t testing.TB, node int) wire {
	t.Helper()
	h, err := netns.Open(f.nodes[node])
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	l, err := h.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	w := wire{index: l.Attrs().Index}
	all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
	err = h.Do(func() (err error) {
		if w.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all)); err != nil {
			return err
		}
		return errors.Join(
			unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: w.index}),
			unix.SetsockoptInt(w.fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1),
			unix.SetsockoptTimeval(w.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(w.fd) })
	return w
}

func (w wire) send(t testing.TB, frame []byte) {
	t.Helper()
	if err := unix.Sendto(w.fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: w.index}); err != nil {
		t.Fatalf("%d bytes: %v", len(frame), err)
	}
}

// arrival is a frame as it came, with its tag where it was.
type arrival struct {
	frame []byte
	// kind that the kernel found it to be of.
	kind uint8
	// before it came so many others.
	before int
}

// pass a frame to where it should come. Another test that floods this machine may make it drop
// one; then it is sent again.
func (w wire) pass(t testing.TB, sent []byte, to wire) (a arrival) {
	t.Helper()
	for range 30 {
		w.send(t, sent)
		if to.take(t, sent[len(sent)-4:], &a) {
			return a
		}
	}
	t.Fatalf("it does not come: %x", sent)
	return a
}

// take what comes in until a frame that ends so, if it comes.
func (w wire) take(t testing.TB, end []byte, a *arrival) bool {
	t.Helper()
	frame, control := make([]byte, 1<<14), make([]byte, 128)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		n, m, _, from, err := unix.Recvmsg(w.fd, frame, control, 0)
		switch {
		case errors.Is(err, unix.EINTR): // by the runtime's own signals; the kernel takes up no wait that has a limit
		case errors.Is(err, unix.EAGAIN):
			return false
		case err != nil:
			t.Fatal(err)
		case from.(*unix.SockaddrLinklayer).Pkttype == unix.PACKET_OUTGOING:
		case bytes.HasSuffix(frame[:n], end):
			a.frame, a.kind = tagged(t, frame[:n], control[:m]), from.(*unix.SockaddrLinklayer).Pkttype
			return true
		default:
			a.before++
		}
	}
	return false
}

// tagged puts a tag back that the kernel keeps beside the frame.
func tagged(t testing.TB, frame, control []byte) []byte {
	t.Helper()
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		// struct tpacket_auxdata: status, len, snaplen, mac, net, vlan_tci, vlan_tpid
		if m.Header.Type != unix.PACKET_AUXDATA || len(m.Data) < 20 || binary.NativeEndian.Uint32(m.Data)&unix.TP_STATUS_VLAN_VALID == 0 {
			continue
		}
		tci, tpid := binary.NativeEndian.Uint16(m.Data[16:]), binary.NativeEndian.Uint16(m.Data[18:])
		tag := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, tpid), tci)
		return slices.Insert(slices.Clone(frame), 12, tag...)
	}
	return frame
}

// The addresses of frames.
var (
	broadcast = []byte{255, 255, 255, 255, 255, 255}
	multicast = []byte{0x33, 0x33, 0, 0, 0, 1}
	stranger  = []byte{2, 0, 0, 0, 0, 99}
	sender    = []byte{2, 0, 0, 0, 0, 1}
)

// frame of so many bytes, ending in a number of its own.
func frame(to []byte, kind []byte, length int, number uint32) []byte {
	b := slices.Concat(to, sender, kind)
	b = append(b, make([]byte, length-len(b)-4)...)
	for i := 14; i < len(b); i++ {
		if i >= 12+len(kind) {
			b[i] = byte(i * 7)
		}
	}
	return binary.BigEndian.AppendUint32(b, number)
}

// TestFrames of every kind and length get to the next node as they were, and to no other,
// and are taken there for its own.
func TestFrames(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarder(t)
		f.apply(t, resource.Create, steer.Spec{Device: "port0", To: "port1", Hook: hook})
		f.apply(t, resource.Create, steer.Spec{Device: "port1", To: "port0", Hook: hook})
		west, east, other := f.wire(t, 0), f.wire(t, 1), f.wire(t, 2)
		number := uint32(0xbeef0000)
		packets, octets := uint64(0), uint64(0)
		for name, kind := range map[string][]byte{
			"ARP": {0x08, 0x06}, "IPv4 that is none": {0x08, 0x00}, "IPv6 that is none": {0x86, 0xdd}, "of nobody's": {0x88, 0xb5},
			"802.1Q": {0x81, 0x00, 0x20, 0x07, 0x88, 0xb5}, "802.1ad": {0x88, 0xa8, 0x00, 0x05, 0x88, 0xb5},
			"two tags": {0x88, 0xa8, 0x00, 0x05, 0x81, 0x00, 0x00, 0x06, 0x08, 0x06},
		} {
			for _, to := range [][]byte{broadcast, multicast, stranger} {
				for _, length := range []int{32, 60, 1514} {
					number++
					sent := frame(to, kind, length, number)
					got := west.pass(t, sent, east)
					if !bytes.Equal(got.frame, sent) {
						t.Errorf("%s to %x, %d bytes: sent\n%x\ngot\n%x", name, to, length, sent, got.frame)
					}
					if bytes.Equal(to, stranger) && got.kind != unix.PACKET_HOST {
						t.Errorf("%s: of type %d, which the node would not take", name, got.kind)
					}
					packets, octets = packets+1, octets+uint64(length)
					if len(kind) > 2 { // the outer tag is beside the frame by then
						octets -= 4
					}
				}
			}
		}
		back := frame(stranger, []byte{0x88, 0xb5}, 100, 0xfeed)
		if got := east.pass(t, back, west).frame; !bytes.Equal(got, back) {
			t.Errorf("back: %x", got)
		}
		f.counted(t, "port0", packets, octets)
		f.counted(t, "port1", 1, 100)
		// What is sent to the third node now comes there, so nothing else was before it.
		f.apply(t, resource.Update, steer.Spec{Device: "port0", To: "port2", Hook: hook})
		if n := west.pass(t, back, other).before; n != 0 {
			t.Errorf("%d frames for others came to the third node", n)
		}
		f.counted(t, "port0", packets+1, octets+100)
	})
}

// counted at least what was sent: the kernel may say something of its own.
func (f *forwarder) counted(t testing.TB, port string, packets, octets uint64) {
	t.Helper()
	all, err := steer.Count(resource.At(f.Handle, f.Owner))
	if err != nil {
		t.Fatal(err)
	}
	if c := all[port]; c.Packets < packets || c.Bytes < octets || c.Packets > packets+100 {
		t.Errorf("%s counted %+v, where %d packets of %d bytes came in", port, c, packets, octets)
	}
}

// TestNeighbourGone: where the next node is gone or down, packets end at the port, and those of
// other ports do not mind; once it is back and told, they pass again.
func TestNeighbourGone(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		f := newForwarder(t)
		for _, s := range []steer.Spec{{Device: "port0", To: "port1", Hook: hook}, {Device: "port2", To: "port0", Hook: hook}} {
			f.apply(t, resource.Create, s)
		}
		west, east, third := f.wire(t, 0), f.wire(t, 1), f.wire(t, 2)
		number := uint32(0xaaaa0000)
		passes := func(from, to wire) {
			t.Helper()
			number++
			from.pass(t, frame(stranger, []byte{0x88, 0xb5}, 60, number), to)
		}
		passes(west, east)
		for _, damage := range []string{"ip link set port1 down", "ip link del port1"} {
			f.sh(t, damage)
			for range 3 {
				west.send(t, frame(stranger, []byte{0x88, 0xb5}, 60, 0xdead))
			}
			passes(third, west)
			if damage == "ip link set port1 down" {
				f.sh(t, "ip link set port1 up")
				passes(west, east)
			}
		}
		f.apply(t, resource.Update, steer.Spec{Device: "port0", To: "port2", Hook: hook})
		passes(west, third)
	})
}

// TestTurnsUnderLoad: packets that are under way while a port is turned over and over come to
// one of the two nodes, each once. One core's may come after another's that were sent later.
func TestTurnsUnderLoad(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		const packets, turns = 1000, 100
		dropped := nstest.Dropped(t)
		f := newForwarder(t)
		way := func(i int) steer.Spec {
			return steer.Spec{Device: "port0", To: ports[1+i%2], Hook: hook}
		}
		f.apply(t, resource.Create, way(0))
		west := f.wire(t, 0)
		sinks := []wire{f.wire(t, 1), f.wire(t, 2)}
		for _, w := range sinks {
			if err := unix.SetsockoptInt(w.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 16<<20); err != nil {
				t.Fatal(err)
			}
		}
		sent := make(chan error, 1)
		go func() {
			for i := range packets {
				if err := unix.Sendto(west.fd, frame(stranger, []byte{0x88, 0xb5}, 60, 0xc0de0000+uint32(i)), 0, &unix.SockaddrLinklayer{Ifindex: west.index}); err != nil {
					sent <- err
					return
				}
				time.Sleep(time.Millisecond / 4)
			}
			sent <- nil
		}()
		for i := range turns {
			f.apply(t, resource.Update, way(i+1))
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		times := map[uint32]int{}
		for deadline := time.Now().Add(time.Minute); len(times) < packets && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			for _, w := range sinks {
				w.numbers(t, times)
			}
			if uint64(packets-len(times)) <= nstest.Dropped(t)-dropped {
				break // another test floods this machine
			}
		}
		for i := range uint32(packets) {
			if n := times[0xc0de0000+i]; n > 1 {
				t.Fatalf("packet %d came %d times", i, n)
			}
		}
		if more := nstest.Dropped(t) - dropped; uint64(packets-len(times)) > more {
			t.Fatalf("of %d packets %d came; cores dropped %d", packets, len(times), more)
		}
	})
}

// numbers of what has come in.
func (w wire) numbers(t testing.TB, times map[uint32]int) {
	t.Helper()
	b := make([]byte, 1<<14)
	for {
		n, from, err := unix.Recvfrom(w.fd, b, unix.MSG_DONTWAIT)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EINTR):
		case err != nil:
			t.Fatal(err)
		case from.(*unix.SockaddrLinklayer).Pkttype != unix.PACKET_OUTGOING:
			times[binary.BigEndian.Uint32(b[n-4:n])]++
		}
	}
}
