package watch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestPost: of several probes each goes out by its own port, those whose port is not there are told of, and
// the others go nevertheless, in any order.
func TestPost(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Veth)
	h := nstest.Open(t, nstest.Namespace(t))
	near, far := pair(t, h)
	out, in := socket(t, h, 0), socket(t, h, far)
	const nobodys = 1 << 20 // no interface has this number
	for _, ports := range [][]int{{near}, {nobodys}, {near, near, near}, {nobodys, near, near}, {near, nobodys, near}, {near, near, nobodys}, {nobodys, nobodys, near, nobodys}} {
		var p post
		var ways []*way
		for i := range ports {
			f, err := newFrame(process.Probe{FromMAC: "02:00:00:00:00:01", ToMAC: "02:00:00:00:00:02", From: netip.MustParseAddr("198.18.0.1"), To: netip.MustParseAddr("198.18.0.2")})
			if err != nil {
				t.Fatal(err)
			}
			ways = append(ways, &way{frame: f})
			p.put(ways[i], payload{Signature: known, Number: uint64(i + 1), Row: 7}, ports[i])
		}
		failed := map[*way]bool{}
		p.send(out, func(v *way, err error) {
			if failed[v] = true; !errors.Is(err, unix.ENXIO) {
				t.Errorf("%v: %v", ports, err)
			}
		})
		if p.send(out, func(*way, error) { t.Errorf("%v: something is sent again", ports) }); len(p.ways) > 0 {
			t.Errorf("%v: %d probes are left", ports, len(p.ways))
		}
		for i, v := range ways {
			if failed[v] != (ports[i] == nobodys) {
				t.Errorf("%v: failed %v", ports, failed)
			}
			if failed[v] {
				continue
			}
			if got := next(t, in); !bytes.Equal(got, v.frame.bytes) {
				t.Errorf("%v: probe %d:\n%x\nwant\n%x", ports, i, got, v.frame.bytes)
			}
		}
	}
}

// pair of interfaces that are up.
func pair(t *testing.T, h *netns.Handle) (near, far int) {
	t.Helper()
	if err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "near"}, PeerName: "far"}); err != nil {
		t.Fatal(err)
	}
	near, far = index(t, h, "near"), index(t, h, "far")
	if err := errors.Join(h.LinkSetUp(link(near)), h.LinkSetUp(link(far))); err != nil {
		t.Fatal(err)
	}
	nstest.Carries(t, h, "near")
	return near, far
}

func link(index int) netlink.Link {
	return &netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Index: index}}
}

func index(t *testing.T, h *netns.Handle, name string) int {
	t.Helper()
	l, err := h.LinkByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Index
}

// socket for frames, which takes those that come in at an interface; 0 is none.
func socket(t *testing.T, h *netns.Handle, index int) (fd int) {
	t.Helper()
	err := h.Do(func() (err error) {
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil || index == 0 {
			return err
		}
		return errors.Join(
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60}),
			unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index, Protocol: 0x0300})) // ETH_P_ALL, in the network's order
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

// known is the signature of the probes that are waited for.
const known = 0x7766554433221100

// next frame of the probes that comes.
func next(t *testing.T, socket int) []byte {
	t.Helper()
	for b := make([]byte, 2000); ; {
		n, _, err := unix.Recvfrom(socket, b, 0)
		if errors.Is(err, unix.EINTR) {
			continue // by the runtime's own signals; the kernel takes up no wait that has a limit
		}
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b[:n], binary.NativeEndian.AppendUint64(nil, known)) {
			return b[:n]
		}
	}
}

// ofLoopback is the index of the loopback interface in a namespace of its own, by which frames can be sent, and nobody has them.
func ofLoopback(t *testing.T) (h *netns.Handle, index int) {
	t.Helper()
	h = nstest.Open(t, nstest.Namespace(t))
	loopback, err := h.LinkByName("lo")
	if err == nil {
		err = h.LinkSetUp(loopback)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h, loopback.Attrs().Index
}
