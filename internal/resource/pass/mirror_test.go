package pass

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
)

// pairIn makes another pair of interfaces in a place, of which the first is the owner's, and gives the place
// as it is then.
func pairIn(t *testing.T, p resource.Place, name, peer string) resource.Place {
	t.Helper()
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: peer}
	if err := p.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	if err := p.LinkSetAlias(pair, resource.Mark(p.Owner)+name); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{peer, name} {
		dev, err := p.LinkByName(name)
		if err == nil {
			err = p.LinkSetUp(dev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{peer, name} {
		nstest.Carries(t, p.Handle, name)
	}
	return resource.At(p.Handle, p.Owner)
}

// copying marks what comes in, copies what is of UDP's port 9, counts that, and drops all.
func copying() Spec {
	return Spec{Device: "eth0", Taps: []string{"tap0"}, Steps: []Step{
		NewDSCP(0, 46), NewMirror(1, Copies{Protocol: 17, Port: 9}), NewCount(2), NewDrop(3, Share{Every: 1}),
	}}
}

// sent frames until the pass has counted what is waited for; a flooded machine drops some.
func sent(t *testing.T, p resource.Place, f []byte, enough func(Counts) bool) Counts {
	t.Helper()
	return until(t, p, "eth0", func(c Counts) bool {
		sendMany(t, p, "far0", f, 10)
		return enough(c)
	})
}

// until the pass of an interface has counted enough.
func until(t *testing.T, p resource.Place, device string, enough func(Counts) bool) Counts {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		c, found, err := CountAt(p, device)
		if err != nil || !found {
			t.Fatal(found, err)
		}
		if enough(c) {
			return c
		}
		if time.Now().After(deadline) {
			t.Fatalf("counted %+v", c)
		}
	}
}

// TestMirrors has a tap get what is copied, as it is after the steps before, and the path go on without a tap.
func TestMirrors(t *testing.T) {
	p := pairIn(t, place(t), "tap0", "seen0")
	tap := listen(t, p, "seen0")
	apply(t, p, resource.Create, copying())
	f := udp(1).frame
	c := sent(t, p, f, func(c Counts) bool { return c.Slots[1].Packets >= 3 && c.Slots[2].Packets >= c.Slots[1].Packets })
	if c.Lost[1] != 0 {
		t.Errorf("%d copies were lost", c.Lost[1])
	}
	want := bytes.Clone(f)
	setClass(want[14:], 4, 46<<2)
	tap.gets(t, want)
	dev, err := p.LinkByName("tap0")
	if err == nil {
		err = p.LinkSetDown(dev)
	}
	if err != nil {
		t.Fatal(err)
	}
	before := c.Slots[2].Packets // those whose copies are lost go on
	sent(t, p, f, func(c Counts) bool { return c.Lost[1] >= 3 && c.Slots[2].Packets-before >= c.Lost[1] })
}

// tap is what a test reads copies from.
type tap int

// listen to an interface.
func listen(t *testing.T, p resource.Place, device string) (fd tap) {
	t.Helper()
	dev, err := p.Device(device)
	if err != nil {
		t.Fatal(err)
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8
	if err := p.Do(func() error {
		s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		fd = tap(s)
		if err != nil {
			return err
		}
		return unix.Bind(s, &unix.SockaddrLinklayer{Ifindex: dev.Attrs().Index, Protocol: all})
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(int(fd)) })
	if err := unix.SetsockoptTimeval(int(fd), unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 60}); err != nil {
		t.Fatal(err)
	}
	return fd
}

// gets a frame, among whatever else there is.
func (fd tap) gets(t *testing.T, want []byte) {
	t.Helper()
	room := make([]byte, 1<<16)
	for {
		n, err := unix.Read(int(fd), room)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			t.Fatalf("no copy came: %v", err)
		}
		if bytes.Equal(room[:n], want) {
			return
		}
	}
}

// TestTapsReadBack by name, and one that was made anew is another.
func TestTapsReadBack(t *testing.T) {
	p := pairIn(t, place(t), "tap0", "seen0")
	s := copying()
	apply(t, p, resource.Create, s)
	same := func() bool {
		found := read(t, resource.At(p.Handle, p.Owner))
		return len(found) == 1 && found[0].Fingerprint == s.Fingerprint()
	}
	if !same() {
		t.Errorf("found %+v\nwant %s", read(t, p), s.Fingerprint())
	}
	old, err := p.LinkByName("tap0")
	if err == nil {
		err = p.LinkDel(old)
	}
	if err != nil {
		t.Fatal(err)
	}
	p = pairIn(t, p, "tap0", "seen0")
	if same() {
		t.Error("copies go to a tap that is no more, and nobody tells")
	}
	apply(t, p, resource.Update, s)
	if !same() {
		t.Errorf("found %+v\nwant %s", read(t, p), s.Fingerprint())
	}
	s.Taps = []string{"nowhere"}
	if err := (Kind{}).Apply(p, []resource.Change{{Op: resource.Update, Key: s.Device, Spec: s}}); err == nil {
		t.Error("a tap that is not there: no error")
	}
}

// TestSamples one of so many.
func TestSamples(t *testing.T) {
	l := clocked(t, []Step{NewMirror(4, Copies{Every: 4}), NewMirror(5, Copies{Version: 6}), NewMirror(6, Copies{})})
	t.Cleanup(func() { _ = l.Close() })
	passed(t, l, udp(1), 102, 0)
	if c := counted(t, l); c.Lost[4] != 25 || c.Lost[5] != 0 || c.Lost[6] != 102 {
		t.Errorf("copied %d, %d and %d of 102", c.Lost[4], c.Lost[5], c.Lost[6])
	}
}

// TestEndsReadBack: passes that ask for other addresses are told apart, and their words are what was written.
func TestEndsReadBack(t *testing.T) {
	p := pairIn(t, place(t), "tap0", "seen0")
	before := ""
	for _, want := range []struct{ source, destination, words string }{
		{"", "", ""},
		{"192.0.2.0/24", "", " from 192.0.2.0/24"},
		{"", "192.0.2.0/24", " towards 192.0.2.0/24"},
		{"0.0.0.0/0", "192.0.2.1/32", " towards 192.0.2.1/32"},
		{"2001:db8::/33", "::ffff:192.0.2.0/120", " from 2001:db8::/33 towards ::ffff:192.0.2.0/120"},
	} {
		var e Ends
		if want.source != "" {
			e.Source = netip.MustParsePrefix(want.source)
		}
		if want.destination != "" {
			e.Destination = netip.MustParsePrefix(want.destination)
		}
		s := Spec{Device: "eth0", Taps: []string{"tap0"}, Copied: map[string]Ends{"tap0": e}, Steps: []Step{NewMirror(1, Copies{Ends: e})}}
		apply(t, p, resource.Update, s)
		found := read(t, resource.At(p.Handle, p.Owner))
		if len(found) != 1 || found[0].Fingerprint != s.Fingerprint() || !strings.HasSuffix(found[0].Fingerprint, " to tap0"+want.words) || found[0].Fingerprint == before {
			t.Errorf("found %+v\nwant %s, not %s", found, s.Fingerprint(), before)
		}
		before = s.Fingerprint()
	}
}
