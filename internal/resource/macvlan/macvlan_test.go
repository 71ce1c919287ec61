package macvlan_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/macvlan"
)

// place is a namespace, and a spec of a device in it over an interface of another.
func place(t *testing.T) (resource.Place, macvlan.Spec) {
	t.Helper()
	nstest.Require(t, feature.Macvlan, feature.Veth, feature.ToolIP)
	owner, above := nstest.Owner(t), nstest.Namespace(t)
	sh(t, "ip -n "+above+" link add p0 mtu 9000 type veth peer name p1 mtu 9000; ip -n "+above+" link set p0 up; ip -n "+above+" link set p1 up")
	sh(t, "ip -n "+above+" link set p0 alias 'nfchain "+owner+" _wiring:p0=_wiring:p1' address 02:00:00:00:00:02")
	s := macvlan.Spec{Owner: owner, Node: "fw", Device: "eth0", MAC: "02:00:00:00:00:01", MTU: 1500, Mode: macvlan.Bridge,
		Parent: macvlan.Parent{Namespace: above, Device: "p0"}}
	return resource.At(nstest.Open(t, nstest.Namespace(t)), owner), s
}

func sh(t *testing.T, line string) {
	t.Helper()
	if out, err := exec.Command("sh", "-c", line).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func apply(p resource.Place, op resource.Op, s macvlan.Spec) error {
	return macvlan.Kind{}.Apply(p, []resource.Change{{Op: op, Key: s.Device, Spec: s}})
}

func must(t *testing.T, p resource.Place, op resource.Op, s macvlan.Spec) {
	t.Helper()
	if err := apply(p, op, s); err != nil {
		t.Fatal(err)
	}
}

func wantAs(t *testing.T, p resource.Place, s macvlan.Spec) {
	t.Helper()
	found, err := macvlan.Kind{}.Read(p)
	if err != nil || len(found) != 1 || found[0].Key != s.Device || found[0].Fingerprint != s.Fingerprint() {
		t.Errorf("found %+v, error %v\nwant %s", found, err, s.Fingerprint())
	}
}

func TestReadsBack(t *testing.T) {
	p, s := place(t)
	for _, mode := range []string{macvlan.Bridge, macvlan.Private, macvlan.VEPA, macvlan.Passthru} {
		s.Mode = mode
		if mode == macvlan.Passthru {
			s.MAC = "02:00:00:00:00:02" // the parent's
		}
		longer := s
		longer.MTU = 9000
		for _, step := range []struct {
			op resource.Op
			s  macvlan.Spec
		}{{resource.Create, s}, {resource.Create, s}, {resource.Update, longer}, {resource.Update, s}} {
			must(t, p, step.op, step.s)
			wantAs(t, p, step.s)
		}
		for range 2 {
			must(t, p, resource.Delete, s)
		}
		if found, err := (macvlan.Kind{}).Read(p); err != nil || len(found) != 0 {
			t.Errorf("after removing: %+v, error %v", found, err)
		}
	}
}

// TestCommands make the same as Apply does, over the chain's own interface and over the
// host's, of which both leave a note.
func TestCommands(t *testing.T) {
	p, s := place(t)
	host := nstest.Device(t)
	sh(t, "ip link add "+host+" type veth peer name "+host+"p")
	defer sh(t, "ip link del "+host)
	defer func() { _ = os.RemoveAll(filepath.Join(rundir.Root, s.Owner)) }()
	for _, parent := range []macvlan.Parent{s.Parent, {Device: host}} {
		s.Parent = parent
		for _, c := range s.Commands(p.Ref) {
			if out, err := exec.Command(c.Args[0], c.Args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", c.Args, err, out)
			}
		}
		wantAs(t, p, s)
		noted(t, s)
		must(t, p, resource.Delete, s)
	}
	_ = os.RemoveAll(filepath.Join(rundir.Root, s.Owner))
	must(t, p, resource.Create, s)
	wantAs(t, p, s)
	noted(t, s)
}

func noted(t *testing.T, s macvlan.Spec) {
	t.Helper()
	if macvlan.OverHost(s.Owner) != s.Parent.OfHost() {
		t.Errorf("over %+v, noted: %t", s.Parent, !s.Parent.OfHost())
	}
}

// TestFinishesWhatAKilledProcessBegan: a device without a mark.
func TestFinishesWhatAKilledProcessBegan(t *testing.T) {
	p, s := place(t)
	sh(t, "ip -n "+s.Parent.Namespace+" link add link p0 name eth0 address "+s.MAC+" netns "+p.Ref+" type macvlan mode private")
	must(t, p, resource.Create, s)
	wantAs(t, p, s)
}

// TestLeavesOthersDevices: one of the same name with another's mark, or of another kind.
func TestLeavesOthersDevices(t *testing.T) {
	p, s := place(t)
	other := s
	other.Owner, other.MAC = nstest.Owner(t), "02:00:00:00:00:03"
	must(t, p, resource.Create, other)
	if err := apply(p, resource.Create, s); err == nil {
		t.Error("another chain's device was taken")
	}
	if found, err := (macvlan.Kind{}).Read(p); err != nil || len(found) != 0 {
		t.Errorf("found as ours: %+v, error %v", found, err)
	}
	sh(t, "ip -n "+p.Ref+" link add eth7 type veth peer name eth8")
	s.Device = "eth7"
	if err := apply(p, resource.Create, s); err == nil {
		t.Error("a veth was taken")
	}
}

// TestWaitsForTheKernel: the namespace of a device from before is freed a while after its
// name is gone, and until then its address is taken, or its parent.
func TestWaitsForTheKernel(t *testing.T) {
	p, s := place(t)
	for _, mode := range []string{macvlan.Bridge, macvlan.Passthru} {
		s.Mode = mode
		if mode == macvlan.Passthru {
			s.MAC = "02:00:00:00:00:02"
		}
		for range 5 {
			gone := nstest.Name(t)
			sh(t, "ip netns add "+gone)
			sh(t, "ip -n "+s.Parent.Namespace+" link add link p0 name eth0 address "+s.MAC+" netns "+gone+" type macvlan mode "+mode)
			sh(t, "ip -n "+gone+" link set eth0 up; ip netns del "+gone)
			must(t, p, resource.Create, s)
			wantAs(t, p, s)
			must(t, p, resource.Delete, s)
		}
	}
}

// TestSaysWhy: what the kernel says in a word.
func TestSaysWhy(t *testing.T) {
	p, s := place(t)
	for _, c := range []struct{ before, after, says string }{
		{"ip -n $w link add b0 type bridge; ip -n $w link set p0 master b0", "ip -n $w link del b0", "part of a bridge"},
		{"true", "true", "no-such"},
	} {
		at := s
		if c.says == "no-such" {
			at.Parent.Device = c.says
		}
		sh(t, strings.ReplaceAll(c.before, "$w", s.Parent.Namespace))
		if err := apply(p, resource.Create, at); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("it says %v", err)
		}
		sh(t, strings.ReplaceAll(c.after, "$w", s.Parent.Namespace))
	}
}
