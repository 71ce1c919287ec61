package through_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/through"
)

// function is a namespace of two interfaces, eth0 and eth1, and beyond each another, in which
// eth0 is the far end.
type function struct {
	resource.Place
	west, east *netns.Handle
}

func newFunction(t testing.TB) *function {
	t.Helper()
	nstest.Require(t, feature.Veth, feature.BPFPeer, feature.BPFIngress, feature.BPFXDP)
	owner, own := nstest.Owner(t), nstest.Open(t, nstest.Namespace(t))
	quiet(t, own)
	f := &function{west: nstest.Open(t, nstest.Namespace(t)), east: nstest.Open(t, nstest.Namespace(t))}
	for device, far := range map[string]*netns.Handle{"eth0": f.west, "eth1": f.east} {
		quiet(t, far)
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: device}, PeerName: "eth0", PeerNamespace: netlink.NsFd(far.FD())}
		if err := own.LinkAdd(pair); err != nil {
			t.Fatal(err)
		}
		end, err := far.LinkByName("eth0")
		if err := errors.Join(err, own.LinkSetAlias(pair, resource.Mark(owner)+device), own.LinkSetUp(pair), far.LinkSetUp(end)); err != nil {
			t.Fatal(err)
		}
		takesFrames(t, far)
		nstest.Carries(t, far, "eth0")
	}
	f.Place = resource.At(own, owner)
	return f
}

// takesFrames has an interface take what is sent to it as frames.
func takesFrames(t testing.TB, h *netns.Handle) {
	t.Helper()
	s, err := ethtool.Open(h.Ref)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.SetFeatures("eth0", map[string]bool{"rx-gro": true}); err != nil {
		t.Fatal(err)
	}
}

// quiet has the kernel say nothing of its own in a namespace.
func quiet(t testing.TB, h *netns.Handle) {
	t.Helper()
	err := h.Do(func() error {
		return exec.Command("sh", "-c", "for i in all default; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done").Run()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ways are both of a function.
func ways(mode string) []through.Spec {
	return []through.Spec{{Device: "eth0", To: "eth1", Mode: mode}, {Device: "eth1", To: "eth0", Mode: mode}}
}

func (f *function) apply(t testing.TB, op resource.Op, all ...through.Spec) {
	t.Helper()
	f.Place = resource.At(f.Handle, f.Owner)
	for _, s := range all {
		if err := (through.Kind{}).Apply(f.Place, []resource.Change{{Op: op, Key: s.Device, Spec: s}}); err != nil {
			t.Fatal(op, s, err)
		}
	}
}

func (f *function) read(t testing.TB) map[string]string {
	t.Helper()
	found, err := through.Kind{}.Read(resource.At(f.Handle, f.Owner))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, o := range found {
		all[o.Key] = o.Fingerprint
	}
	return all
}

func (f *function) reads(t testing.TB, want ...through.Spec) {
	t.Helper()
	found := f.read(t)
	for _, s := range want {
		if found[s.Device] != s.Fingerprint() {
			t.Errorf("at %s is %q, want %q", s.Device, found[s.Device], s.Fingerprint())
		}
	}
	if len(found) != len(want) {
		t.Errorf("found %v", found)
	}
}

func (f *function) count(t testing.TB, device string) through.Counts {
	t.Helper()
	c, found, err := through.CountAt(resource.At(f.Handle, f.Owner), device)
	if err != nil || !found {
		t.Fatalf("%s: found %v, error %v", device, found, err)
	}
	return c
}

var modes = []string{through.TC, through.XDP}

// TestReadsBack: what was made reads back the same, made twice too and in another mode, and is
// gone once removed, also twice.
func TestReadsBack(t *testing.T) {
	f := newFunction(t)
	for range 2 {
		for _, mode := range modes {
			for range 2 {
				f.apply(t, resource.Create, ways(mode)...)
				f.reads(t, ways(mode)...)
			}
		}
	}
	f.apply(t, resource.Delete, ways(modes[0])[0])
	f.reads(t, ways(modes[len(modes)-1])[1])
	for range 2 {
		f.apply(t, resource.Delete, ways(modes[0])...)
		f.reads(t)
	}
}

// wire is a packet socket at an interface.
type wire struct{ fd, index int }

func newWire(t testing.TB, h *netns.Handle) (w wire) {
	t.Helper()
	l, err := h.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	w.index = l.Attrs().Index
	all := binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL))
	err = h.Do(func() (err error) {
		if w.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all)); err != nil {
			return err
		}
		return errors.Join(
			unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: w.index}),
			unix.SetsockoptInt(w.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
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

// pass a frame to where it should come, and give what came. Another test that floods this machine
// may make it drop one; then it is sent again.
func (w wire) pass(t testing.TB, sent []byte, to wire) (frame []byte, kind uint8) {
	t.Helper()
	b := make([]byte, 1<<14)
	for range 30 {
		w.send(t, sent)
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			n, from, err := unix.Recvfrom(to.fd, b, 0)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if errors.Is(err, unix.EAGAIN) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if bytes.HasSuffix(b[:n], sent[len(sent)-4:]) {
				return b[:n], from.(*unix.SockaddrLinklayer).Pkttype
			}
		}
	}
	t.Fatalf("it does not come: %x", sent)
	return nil, 0
}

// frame of so many bytes to an address, ending in a number of its own.
func frame(to, kind []byte, length int, number uint32) []byte {
	b := slices.Concat(to, []byte{2, 0, 0, 0, 0, 1}, kind)
	b = append(b, bytes.Repeat([]byte{7}, length-len(b)-4)...)
	return binary.BigEndian.AppendUint32(b, number)
}

// TestFrames of every kind and length come out at the other side as they went in, to whomever
// they are, and are taken there as that is.
func TestFrames(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			f := newFunction(t)
			f.apply(t, resource.Create, ways(mode)...)
			west, east := newWire(t, f.west), newWire(t, f.east)
			number, octets := uint32(0xbeef0000), uint64(0)
			for name, kind := range map[string][]byte{
				"ARP": {0x08, 0x06}, "IPv4 that is none": {0x08, 0x00}, "IPv6 that is none": {0x86, 0xdd}, "of nobody's": {0x88, 0xb5}, "LLDP": {0x88, 0xcc},
			} {
				for _, to := range [][]byte{{255, 255, 255, 255, 255, 255}, {0x33, 0x33, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 99}} {
					for _, length := range []int{32, 60, 1514} {
						number, octets = number+1, octets+uint64(length)
						sent := frame(to, kind, length, number)
						if got, _ := west.pass(t, sent, east); !bytes.Equal(got, sent) {
							t.Errorf("%s to %x, %d bytes: sent\n%x\ngot\n%x", name, to, length, sent, got)
						}
					}
				}
			}
			sent := frame([]byte{2, 0, 0, 0, 0, 98}, []byte{0x88, 0xb5}, 100, 0xfeed)
			if got, _ := east.pass(t, sent, west); !bytes.Equal(got, sent) {
				t.Errorf("back: %x", got)
			}
			packets := uint64(number - 0xbeef0000)
			if c := f.count(t, "eth0"); c.Packets < packets || c.Bytes < octets || c.Packets > packets+100 {
				t.Errorf("counted %+v of %d packets of %d bytes", c, packets, octets)
			}
			if c := f.count(t, "eth1"); c.Packets < 1 || c.Packets > 100 {
				t.Errorf("back: counted %+v", c)
			}
		})
	}
}

// TestCountsOn: what another version, or another mode, counted is not lost, and the program that
// is there is replaced in its place.
func TestCountsOn(t *testing.T) {
	f := newFunction(t)
	f.apply(t, resource.Create, ways(through.TC)...)
	west, east := newWire(t, f.west), newWire(t, f.east)
	sent := frame([]byte{2, 0, 0, 0, 0, 99}, []byte{0x88, 0xb5}, 60, 0xfeed)
	west.pass(t, sent, east)
	before := f.count(t, "eth0")
	f.rename(t, "eth0")
	if found := f.read(t)["eth0"]; found == ways(through.TC)[0].Fingerprint() || !strings.Contains(found, "to eth1") {
		t.Errorf("another version reads as %q", found)
	}
	f.apply(t, resource.Update, ways(through.TC)[0])
	f.reads(t, ways(through.TC)...)
	for _, mode := range modes {
		f.apply(t, resource.Update, ways(mode)...)
		west.pass(t, sent, east)
		after := f.count(t, "eth0")
		if after.Packets <= before.Packets {
			t.Errorf("%s: counted %+v, and before %+v", mode, after, before)
		}
		before = after
	}
}

// rename the program of an interface, as another version's would be called.
func (f *function) rename(t testing.TB, device string) {
	t.Helper()
	index := f.index(t, device)
	err := f.Do(func() error {
		found, err := held.Find(f.Place, index, held.Throughs)
		defer held.CloseAll(found)
		if err != nil || len(found) != 1 {
			return errors.Join(err, errors.New("no program"))
		}
		old := found[0]
		other, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "nfthru_0000000", Type: ebpf.SchedCLS, License: "GPL", Instructions: asm.Instructions{
			asm.LoadMapPtr(asm.R1, old.Maps["next"].FD()), asm.LoadMapPtr(asm.R1, old.Maps["passed"].FD()), asm.LoadImm(asm.R0, 2, asm.DWord), asm.Return(),
		}})
		if err != nil {
			return err
		}
		defer func() { _ = other.Close() }()
		return old.Replace(f.Place, index, other)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *function) index(t testing.TB, device string) int {
	t.Helper()
	l, err := f.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	return l.Attrs().Index
}

// TestLeavesOthersPrograms of the same interface alone.
func TestLeavesOthersPrograms(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	f := newFunction(t)
	stranger, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "stranger", Type: ebpf.SchedCLS, License: "GPL",
		Instructions: asm.Instructions{asm.LoadImm(asm.R0, -1, asm.DWord), asm.Return()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	index := f.index(t, "eth0")
	programs := func() (n int) {
		t.Helper()
		if err := f.Do(func() error {
			ids, err := held.AtTCX(index)
			n = len(ids)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if err := f.Do(func() error {
		return link.RawAttachProgram(link.RawAttachProgramOptions{Target: index, Program: stranger, Attach: ebpf.AttachTCXIngress})
	}); err != nil {
		t.Fatal(err)
	}
	f.reads(t)
	for _, mode := range modes {
		f.apply(t, resource.Create, ways(mode)...)
		f.reads(t, ways(mode)...)
		if n := programs(); n != 2 {
			t.Errorf("%s: %d programs", mode, n)
		}
	}
	f.apply(t, resource.Delete, ways(through.TC)...)
	if n := programs(); n != 1 {
		t.Errorf("%d programs are left", n)
	}
}

// TestGone: an interface that is not there has nothing to be removed from, and is named where
// something is to be put.
func TestGone(t *testing.T) {
	f := newFunction(t)
	f.apply(t, resource.Create, ways(through.TC)...)
	l, err := f.LinkByName("eth1")
	if err == nil {
		err = f.LinkDel(l)
	}
	if err != nil {
		t.Fatal(err)
	}
	if found := f.read(t); found["eth0"] == ways(through.TC)[0].Fingerprint() || found["eth1"] != "" {
		t.Errorf("found %v", found)
	}
	f.apply(t, resource.Delete, ways(through.TC)[1])
	for _, s := range ways(through.TC) {
		err := (through.Kind{}).Apply(resource.At(f.Handle, f.Owner), []resource.Change{{Op: resource.Create, Key: s.Device, Spec: s}})
		if err == nil || !strings.Contains(err.Error(), "eth1") {
			t.Errorf("%s: %v", s.Device, err)
		}
	}
}

// TestLeavesAnothersFrames to the program in the driver that somebody else put there, and says so.
func TestLeavesAnothersFrames(t *testing.T) {
	f := newFunction(t)
	stranger, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "stranger", Type: ebpf.XDP, License: "GPL",
		Instructions: asm.Instructions{asm.LoadImm(asm.R0, 2, asm.DWord), asm.Return()}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	var at link.Link
	index := f.index(t, "eth0")
	err = f.Do(func() (err error) {
		at, err = link.AttachXDP(link.XDPOptions{Program: stranger, Interface: index, Flags: link.XDPDriverMode})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = at.Close() }()
	spec := ways(through.XDP)[0]
	err = (through.Kind{}).Apply(resource.At(f.Handle, f.Owner), []resource.Change{{Op: resource.Create, Key: spec.Device, Spec: spec}})
	if err == nil || !strings.Contains(err.Error(), "somebody else's") {
		t.Errorf("error %v", err)
	}
	f.apply(t, resource.Create, ways(through.TC)[0])
	f.reads(t, ways(through.TC)[0])
	f.apply(t, resource.Delete, spec)
	l, err := f.LinkByIndex(index)
	if err != nil || l.Attrs().Xdp == nil || !l.Attrs().Xdp.Attached {
		t.Errorf("the stranger is gone, error %v", err)
	}
}
