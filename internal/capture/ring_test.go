package capture

import (
	"bytes"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// wire is a namespace with two interfaces that are joined, a and b.
type wire struct {
	*testing.T
	ns   string
	ends *netns.Handle
	// out is a socket that sends by a.
	out int
}

func newWire(t *testing.T) *wire {
	t.Helper()
	w := &wire{T: t, ns: nstest.Namespace(t)}
	w.ends = nstest.Open(t, w.ns)
	if err := w.ends.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a", MTU: 1500}, PeerName: "b"}); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{"a", "b"} {
		if err := w.ends.LinkSetUp(w.link(device)); err != nil {
			t.Fatal(err)
		}
	}
	nstest.Carries(t, w.ends, "a")
	err := netns.Do(w.ns, func() (err error) {
		w.out, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(w.out) })
	return w
}

func (w *wire) link(device string) netlink.Link {
	w.Helper()
	l, err := w.ends.LinkByName(device)
	if err != nil {
		w.Fatal(err)
	}
	return l
}

// experimental is the type of the test's own frames (IEEE 802), which no kernel sends.
const experimental = 0x88b5

// frame is the test's own, with a number in it.
func frame(number uint32, size int) []byte {
	b := make([]byte, size)
	copy(b, net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1})
	binary.BigEndian.PutUint16(b[12:], experimental)
	binary.BigEndian.PutUint32(b[14:], number)
	return b
}

// tagged is such a frame in a VLAN.
func tagged(number uint32, vlan uint16) []byte {
	b := frame(number, 100)
	tag := binary.BigEndian.AppendUint16([]byte{0x81, 0}, vlan)
	return append(append(bytes.Clone(b[:12]), tag...), b[12:]...)
}

func (w *wire) send(frame []byte) {
	w.Helper()
	to := &unix.SockaddrLinklayer{Ifindex: w.link("a").Attrs().Index, Protocol: binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})}
	if err := unix.Sendto(w.out, frame, 0, to); err != nil && err != unix.ENOBUFS {
		w.Fatal(err)
	}
}

// only frames of the test's own, and so many bytes of each.
func only(snaplen uint32) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: 12, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: experimental, SkipTrue: 1},
		bpf.RetConstant{Val: 0},
		bpf.RetConstant{Val: snaplen},
	}
}

func (w *wire) ring(device string, out bool, blocks int, snaplen uint32) *ring {
	w.Helper()
	r, err := newRing(Point{Hop: "hop", Namespace: w.ns, Device: device, Out: out}, only(snaplen), blocks)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(r.close)
	if err := r.bind(); err != nil {
		w.Fatal(err)
	}
	return r
}

// until something is so, doing what leads to it.
func until(t *testing.T, what string, is func() bool, lead func()) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); {
		if time.Now().After(deadline) {
			t.Fatalf("it does not come to be that %s", what)
		}
		lead()
	}
}

// TestEachWayByItself: a ring takes what goes its way, as it was, with its time.
func TestEachWayByItself(t *testing.T) {
	w := newWire(t)
	out, in, other := w.ring("a", true, 2, MaxSnaplen), w.ring("b", false, 2, MaxSnaplen), w.ring("a", false, 2, MaxSnaplen)
	sent, began := uint32(0), time.Now()
	var went, came []packet
	until(t, "five are taken at both ends", func() bool { return len(went) >= 5 && len(came) >= 5 }, func() {
		if sent < 1000 { // some may get lost on a machine that others flood
			w.send(frame(sent, 60+int(sent)))
			sent++
		}
		out.drain(func(p packet) { went = append(went, p) })
		in.drain(func(p packet) { came = append(came, p) })
		time.Sleep(time.Millisecond)
	})
	other.drain(func(p packet) { t.Errorf("a got % x", p.data) })
	for _, p := range append(went, came...) {
		number := binary.BigEndian.Uint32(p.data[14:])
		if !bytes.Equal(p.data, frame(number, 60+int(number))) || int(p.length) != len(p.data) {
			t.Errorf("%d bytes: % x", p.length, p.data)
		}
		// A machine's clock may be set, but not by hours.
		if at := time.Unix(0, p.time); at.Before(began.Add(-time.Hour)) || at.After(began.Add(time.Hour)) {
			t.Errorf("taken at %v", at)
		}
	}
	if went[0].flags != flagsOf(unix.PACKET_OUTGOING) || came[0].flags != flagsOf(unix.PACKET_BROADCAST) {
		t.Errorf("flags %b, %b", went[0].flags, came[0].flags)
	}
}

// TestFirstBytesOnly are kept where no more is asked for; how long the packet was is
// told.
func TestFirstBytesOnly(t *testing.T) {
	w := newWire(t)
	in := w.ring("b", false, 2, 20)
	var came []packet
	until(t, "one is taken", func() bool { return len(came) > 0 }, func() {
		w.send(frame(7, 1000))
		in.drain(func(p packet) { came = append(came, p) })
		time.Sleep(time.Millisecond)
	})
	if p := came[0]; p.length != 1000 || !bytes.Equal(p.data, frame(7, 20)) {
		t.Errorf("%d bytes: % x", p.length, p.data)
	}
}

// TestTagsAreKept: the kernel takes the tag of a VLAN out of what comes in.
func TestTagsAreKept(t *testing.T) {
	w := newWire(t)
	in := w.ring("b", false, 2, MaxSnaplen)
	var came []packet
	until(t, "one is taken", func() bool { return len(came) > 0 }, func() {
		w.send(tagged(7, 42))
		in.drain(func(p packet) { came = append(came, p) })
		time.Sleep(time.Millisecond)
	})
	if p := came[0]; !bytes.Equal(p.data, tagged(7, 42)) || int(p.length) != len(p.data) {
		t.Errorf("%d bytes: % x", p.length, p.data)
	}
}

// TestWhatHasNoRoomIsCounted: of what nobody reads, all is either there later or counted as
// dropped.
func TestWhatHasNoRoomIsCounted(t *testing.T) {
	w := newWire(t)
	in := w.ring("b", false, fewest, MaxSnaplen)
	count := func() {
		if err := in.count(); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "packets are dropped", func() bool { count(); return in.dropped > 0 }, func() {
		for range 100 {
			w.send(frame(0, 1500))
		}
	})
	if err := in.refuse(); err != nil {
		t.Fatal(err)
	}
	count()
	until(t, "all is read that was kept", func() bool { return in.read >= in.kept() }, func() {
		in.drain(func(packet) {})
		count()
		time.Sleep(time.Millisecond)
	})
	if in.read != in.counted-in.dropped || in.read == 0 {
		t.Errorf("%d read, %d counted, %d dropped", in.read, in.counted, in.dropped)
	}
	if err := in.refuse(); err != nil {
		t.Fatal(err)
	}
	before := in.counted
	w.send(frame(0, 1500))
	if count(); in.counted != before {
		t.Error("more was taken than none")
	}
}

// TestInterfaceThatGoes is noticed; one that was only down is not gone.
func TestInterfaceThatGoes(t *testing.T) {
	w := newWire(t)
	in := w.ring("b", false, 2, MaxSnaplen)
	fds := []unix.PollFd{{Fd: int32(in.fd), Events: unix.POLLIN}}
	look := func() {
		if _, err := unix.Poll(fds, 10); err != nil && err != unix.EINTR {
			t.Fatal(err)
		}
		if err := in.heed(fds[0].Revents); err != nil {
			t.Fatal(err)
		}
		in.drain(func(packet) {})
	}
	if err := w.ends.LinkSetDown(w.link("b")); err != nil {
		t.Fatal(err)
	}
	until(t, "it is known to be down", func() bool { return in.down }, look)
	if in.gone {
		t.Error("an interface that is down is taken to be gone")
	}
	if err := w.ends.LinkSetUp(w.link("b")); err != nil {
		t.Fatal(err)
	}
	nstest.Carries(t, w.ends, "b")
	until(t, "packets are taken again", func() bool { return in.read > 0 }, func() { w.send(frame(1, 60)); look() })
	if err := w.ends.LinkDel(w.link("b")); err != nil {
		t.Fatal(err)
	}
	until(t, "it is known to be gone", func() bool { return in.gone }, look)
}

// TestNoSuchInterface: the error says which, and what helps.
func TestNoSuchInterface(t *testing.T) {
	w := newWire(t)
	for _, p := range []Point{{Hop: "fw", Namespace: w.ns, Device: "eth7"}, {Hop: "fw", Namespace: w.ns + "-none", Device: "a"}} {
		if r, err := newRing(p, only(1), 2); err == nil {
			r.close()
			t.Errorf("%+v can be captured", p)
		}
	}
}
