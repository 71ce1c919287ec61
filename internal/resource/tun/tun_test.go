package tun_test

import (
	"errors"
	"os/exec"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/tun"
)

func place(t testing.TB) (resource.Place, tun.Spec) {
	t.Helper()
	nstest.Require(t, feature.Tun)
	owner := nstest.Owner(t)
	return resource.At(nstest.Open(t, nstest.Namespace(t)), owner), tun.Spec{Owner: owner, Node: "lossy", Device: "impair0", QueueLength: 4096}
}

func read(t testing.TB, p resource.Place) []resource.Observed {
	t.Helper()
	found, err := tun.Kind{}.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func apply(p resource.Place, op resource.Op, s tun.Spec) error {
	return tun.Kind{}.Apply(p, []resource.Change{{Op: op, Key: s.Device, Spec: s}})
}

func wantAs(t testing.TB, p resource.Place, s tun.Spec) {
	t.Helper()
	if found := read(t, p); len(found) != 1 || found[0].Key != s.Device || found[0].Fingerprint != s.Fingerprint() {
		t.Errorf("found %+v\nwant %s", found, s.Fingerprint())
	}
}

func TestReadsBack(t *testing.T) {
	p, s := place(t)
	longer := s
	longer.QueueLength = 8192
	for _, step := range []struct {
		op resource.Op
		s  tun.Spec
	}{{resource.Create, s}, {resource.Create, s}, {resource.Update, longer}, {resource.Update, s}} {
		if err := apply(p, step.op, step.s); err != nil {
			t.Fatal(err)
		}
		wantAs(t, p, step.s)
	}
	for range 2 {
		if err := apply(p, resource.Delete, s); err != nil {
			t.Fatal(err)
		}
	}
	if found := read(t, p); len(found) != 0 {
		t.Errorf("after removing: %+v", found)
	}
}

// TestFinishesWhatAKilledProcessBegan: a device without a mark, or of another mode.
func TestFinishesWhatAKilledProcessBegan(t *testing.T) {
	p, s := place(t)
	for _, mode := range []string{"tun", "tap"} {
		if out, err := exec.Command("ip", "-n", p.Ref, "tuntap", "add", "dev", s.Device, "mode", mode).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := apply(p, resource.Create, s); err != nil {
			t.Fatal(err)
		}
		wantAs(t, p, s)
		if err := apply(p, resource.Delete, s); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLeavesOthersDevices: one of the same name with another's mark, or of another
// kind.
func TestLeavesOthersDevices(t *testing.T) {
	p, s := place(t)
	other := s
	other.Owner = nstest.Owner(t)
	if err := apply(p, resource.Create, other); err != nil {
		t.Fatal(err)
	}
	if err := apply(p, resource.Create, s); err == nil {
		t.Error("another chain's device was taken")
	}
	if found := read(t, p); len(found) != 0 {
		t.Errorf("found as ours: %+v", found)
	}
	s.Device = "veth0"
	if err := p.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: s.Device}, PeerName: "veth1"}); err != nil {
		t.Fatal(err)
	}
	if err := apply(p, resource.Create, s); err == nil {
		t.Error("a veth was taken")
	}
}

// TestAttach: there is one reader at a time, and the device outlives it.
func TestAttach(t *testing.T) {
	p, s := place(t)
	if err := apply(p, resource.Create, s); err != nil {
		t.Fatal(err)
	}
	inside := func(fn func() error) error { return p.Do(fn) }
	if err := inside(func() error { return tun.Attached(s.Device) }); !errors.Is(err, tun.ErrUnread) {
		t.Errorf("before attaching: %v", err)
	}
	err := inside(func() error {
		fd, err := tun.Attach(s.Device)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		if _, err := tun.Attach(s.Device); !errors.Is(err, unix.EBUSY) {
			t.Errorf("a second reader: %v", err)
		}
		for err = nil; err == nil; { // the kernel may have said hello
			_, err = unix.Read(fd, make([]byte, 2000))
		}
		if !errors.Is(err, unix.EAGAIN) {
			t.Errorf("reading fails: %v", err)
		}
		for tun.Attached(s.Device) != nil {
			if t.Context().Err() != nil {
				return t.Context().Err()
			}
		}
		_, err = tun.Attach("none")
		if err == nil {
			t.Error("a device was made by attaching")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantAs(t, p, s)
}

// TestCommands make the same as Apply does.
func TestCommands(t *testing.T) {
	p, s := place(t)
	for _, c := range s.Commands(p.Ref) {
		if out, err := exec.Command(c.Args[0], c.Args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", c.Args, err, out)
		}
	}
	wantAs(t, p, s)
}
