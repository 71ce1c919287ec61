package function_test

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"net/netip"
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

// mirrors are both forms, as forms has them, of a mirror with some options.
func mirrors(t *testing.T, o mirror.Options) (all [2]mirroring) {
	t.Helper()
	nstest.Require(t, feature.Root, feature.Tun, feature.BPFIngress, feature.Redirect)
	made, err := mirror.Kind{}.Contribute(function.Site{Owner: "m", Node: "m", West: "eth0", East: "eth1", Direction: api.Forward}, &o)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := mirror.Kind{}.Steps(&o)
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
		var spec resource.Spec = pass.Spec{Device: "eth0", Taps: []string{mirror.Out}, Copied: map[string]pass.Ends{mirror.Out: steps.Copied}, Steps: []pass.Step{steps.Step(function.ForwardWay)}}
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
	frames := addressed()
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
	for name, o := range map[string]mirror.Options{
		"all":                       {},
		"from IPv4":                 {Source: "10.1.2.0/25"},
		"to IPv4":                   {Destination: "10.4.5.6"},
		"from and to IPv4":          {Source: "10.0.0.0/14", Destination: "10.4.5.6/31"},
		"from any of IPv4":          {Source: "0.0.0.0/0"},
		"from IPv6":                 {Source: "fd01:203::/33"},
		"to IPv6":                   {Destination: "fd10:1112:1314:1516:1718:191a:1b1c:1d1e"},
		"from and to IPv6":          {Source: "fd01:203:405:607:809::/69", Destination: "fd10::/12"},
		"from any of IPv6 to words": {Source: "::/0", Destination: "fd10:1112:1314:1516::/64"},
	} {
		t.Run(name, func(t *testing.T) {
			if copied, left := mirrorsAlike(t, mirrors(t, o), o, frames); copied < 60 || left < 8 {
				t.Errorf("%d packets were copied, and %d left", copied, left)
			}
		})
	}
}

// FuzzMirrorsAsWithNamespace is that by options and packets that bytes say.
func FuzzMirrorsAsWithNamespace(f *testing.F) {
	random := rand.NewChaCha8([32]byte{4})
	for range 6 {
		data := make([]byte, 1200)
		_, _ = random.Read(data)
		f.Add(data)
	}
	odd := framestest.Odd()
	names := slices.Sorted(maps.Keys(odd))
	f.Fuzz(func(t *testing.T, data []byte) {
		draws := framestest.NewDraws(data)
		r := rand.New(draws)
		var o mirror.Options
		ip, first, width := odd["IPv4"][14:], 12, 4
		if r.IntN(2) == 0 {
			ip, first, width = odd["IPv6"][14:], 8, 16
		}
		for i, prefix := range []*string{&o.Source, &o.Destination} {
			address, _ := netip.AddrFromSlice(ip[first+i*width:][:width])
			if length := r.IntN(12*width + 1); length <= 8*width { // else any
				*prefix = netip.PrefixFrom(address, length).String()
			}
		}
		var frames [][]byte
		for len(frames) < 100 && draws.Left() {
			frame := bytes.Clone(odd[names[r.IntN(len(names))]])
			for range r.IntN(4) {
				frame[14+r.IntN(len(frame)-14)] ^= 1 << r.IntN(8)
			}
			frames = append(frames, frame[:max(len(frame)-r.IntN(40)*r.IntN(2), 14)])
		}
		mirrorsAlike(t, mirrors(t, o), o, frames)
	})
}

// addressed are packets whose addresses are those that are asked for, or differ by one bit.
func addressed() (frames [][]byte) {
	for name, bits := range map[string][2]int{"IPv4": {12, 8}, "IPv6": {8, 32}} {
		for bit := range 8 * bits[1] {
			frame := bytes.Clone(framestest.Odd()[name])
			frames = append(frames, bytes.Clone(frame))
			frame[14+bits[0]+bit/8] ^= 0x80 >> (bit % 8)
			frames = append(frames, frame)
		}
	}
	return frames
}

// wanted tells of a sound packet whether it is to be copied: if its addresses are those that are asked for, and it is not for
// its link alone or for many.
func wanted(o mirror.Options, frame []byte) bool {
	source, width := 14+12, 4
	if binary.BigEndian.Uint16(frame[12:]) == framestest.TypeIPv6 {
		source, width = 14+8, 16
	}
	for i, prefix := range []string{o.Source, o.Destination} {
		at := source + i*width
		address, _ := netip.AddrFromSlice(frame[at : at+width])
		if p, err := api.ParsePrefix(prefix); prefix != "" && (err != nil || !p.Contains(address)) {
			return false
		}
	}
	first := frame[source+width]
	return width == 4 && first < 224 || width == 16 && first&0xfe != 0xfe
}

// mirrorsAlike has both forms copy frames, and holds them to what is asked for: how many sound packets were copied, and how many left.
func mirrorsAlike(t *testing.T, both [2]mirroring, o mirror.Options, frames [][]byte) (copied, left int) {
	t.Helper()
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
		comes := wanted(o, frame)
		if inline == nil && (comes || with != nil) {
			inline = both[1].copied(t, true)
		}
		if with == nil && (comes || inline != nil) {
			with = both[0].copied(t, true)
		}
		if !bytes.Equal(inline, with) || with != nil && !bytes.Equal(with, frame) || (with != nil) != comes {
			t.Fatalf("of %x (to be copied: %t)\na namespace copies %x\nand inline %x", frame, comes, with, inline)
		}
		if with == nil {
			left++
		} else {
			copied++
		}
	}
	return copied, left
}
