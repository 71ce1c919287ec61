package function_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/mirror"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

// mirroring is a form of a mirror: frames come in by its first device, and copies go out by its second.
type mirroring [2]int

// mirrors are both forms, as forms has them.
func mirrors(t *testing.T) (all [2]mirroring) {
	t.Helper()
	nstest.Require(t, feature.Root, feature.Tun, feature.BPFIngress, feature.Redirect)
	made, err := mirror.Kind{}.Contribute(function.Site{Owner: "m", Node: "m", West: "eth0", East: "eth1", Direction: api.Forward}, &mirror.Options{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := mirror.Kind{}.Steps(&mirror.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for form := range all {
		h := nstest.Unnamed(t)
		p := resource.At(h, nstest.Owner(t))
		for i, name := range []string{"eth0", mirror.Out} {
			all[form][i] = ethernet(t, h, p.Owner, name)
		}
		var kind resource.Kind = pass.Kind{}
		var spec resource.Spec = pass.Spec{Device: "eth0", Taps: []string{mirror.Out}, Steps: []pass.Step{steps.Step(function.ForwardWay)}}
		if form == 0 {
			copies := made[slices.IndexFunc(made, func(r resource.Resource) bool { return r.Spec.Kind() == redirect.KindName })]
			kind, spec = redirect.Kind{}, copies.Spec
		}
		if err := kind.Apply(p, []resource.Change{{Key: spec.Key(), Spec: spec}}); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// ethernet is a device of an owner's in a namespace, by which the kernel sends nothing of its own. A frame that is written
// to it has come in when the write returns.
func ethernet(t *testing.T, h *netns.Handle, owner, name string) (fd int) {
	t.Helper()
	request, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
	if err := h.Do(func() error {
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"), 0o600); err != nil {
			return err
		}
		if fd, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return err
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		return unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}); err != nil {
		t.Fatal(err)
	}
	dev, err := h.LinkByName(name)
	if err == nil {
		err = h.LinkSetAlias(dev, resource.Mark(owner)+name)
	}
	if err == nil {
		err = h.LinkSetMTU(dev, 9000)
	}
	if err == nil {
		err = h.LinkSetUp(dev)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return fd
}

// gets is a frame that came in, and the copy of it.
func (m mirroring) gets(t *testing.T, frame []byte) []byte {
	t.Helper()
	if _, err := unix.Write(m[0], frame); err != nil {
		t.Fatalf("%x: %v", frame, err)
	}
	return m.copied(t, false)
}

// copied is the copy that was made, if one was; or one that is waited for.
func (m mirroring) copied(t *testing.T, comes bool) []byte {
	t.Helper()
	b := make([]byte, 1<<14)
	for until := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		n, err := unix.Read(m[1], b)
		switch {
		case err == nil:
			return b[:n]
		case err != unix.EAGAIN:
			t.Fatal(err)
		case !comes || time.Now().After(until):
			return nil
		}
	}
}

// sound tells of a frame without tags whether it has a packet of IP whose lengths can be.
func sound(frame []byte) bool {
	ip := frame[14:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case framestest.TypeIPv4:
		if len(ip) < 20 || ip[0]>>4 != 4 {
			return false
		}
		head, total := int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
		return head >= 20 && total >= head && total <= len(ip)
	case framestest.TypeIPv6:
		return len(ip) >= 40 && ip[0]>>4 == 6 && 40+int(binary.BigEndian.Uint16(ip[4:])) <= len(ip)
	}
	return false
}

// TestMirrorsAsWithNamespace has both forms copy the same packets: all of IP but what is for the link or for many. Each has
// its own about what is none: a namespace copies what has a type of IP, and takes what has a tag of a VLAN for another; inline,
// what is broken ends before it is copied, and a tag is looked through.
func TestMirrorsAsWithNamespace(t *testing.T) {
	both := mirrors(t)
	frames := [][]byte{}
	for frame := range framestest.Bent(40, 7) {
		frames = append(frames, frame)
	}
	for _, first := range []byte{1, 127, 223, 224, 239, 240, 255, 0xfe, 0xfd, 0xff} {
		for _, name := range []string{"IPv4", "IPv6"} {
			frame := bytes.Clone(framestest.Odd()[name])
			frame[14+map[string]int{"IPv4": 16, "IPv6": 24}[name]] = first
			frames = append(frames, frame)
		}
	}
	copied, left := 0, 0
	for _, frame := range frames {
		inline, with := both[1].gets(t, frame), both[0].gets(t, frame)
		typ := binary.BigEndian.Uint16(frame[12:])
		tagged := typ == 0x8100 || typ == 0x88a8
		switch {
		case !tagged && !sound(frame):
			if inline != nil {
				t.Errorf("inline, what is no sound packet of IP is copied: %x", frame)
			}
			continue
		case tagged:
			if with != nil {
				t.Errorf("with a namespace, what has a tag is copied: %x", frame)
			}
			continue
		}
		if inline == nil && with != nil {
			inline = both[1].copied(t, true)
		} else if with == nil && inline != nil {
			with = both[0].copied(t, true)
		}
		if !bytes.Equal(inline, with) || with != nil && !bytes.Equal(with, frame) {
			t.Fatalf("of %x\na namespace copies %x\nand inline %x", frame, with, inline)
		}
		if with == nil {
			left++
		} else {
			copied++
		}
	}
	if copied < 100 || left < 8 {
		t.Errorf("%d packets were copied, and %d left", copied, left)
	}
}
