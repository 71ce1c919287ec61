package redirect_test

import (
	"net/netip"
	"os/exec"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/redirect"
)

var (
	spec   = redirect.Spec{Device: "eth0", To: "to0"}
	copied = redirect.Spec{Device: "eth0", To: "to0", Copy: true}
)

// place is a namespace with interfaces of the owner's, raised, and their peers.
func place(t testing.TB) resource.Place {
	t.Helper()
	nstest.Require(t, feature.Redirect, feature.ToolTC)
	h := nstest.Open(t, nstest.Namespace(t))
	owner := nstest.Owner(t)
	for _, name := range []string{"eth0", "to0", "to1"} {
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "p"}
		if err := h.LinkAdd(veth); err != nil {
			t.Fatal(err)
		}
		if err := h.LinkSetAlias(veth, resource.Mark(owner)+name); err != nil {
			t.Fatal(err)
		}
	}
	return resource.At(h, owner)
}

func read(t testing.TB, p resource.Place) []resource.Observed {
	t.Helper()
	found, err := redirect.Kind{}.Read(p)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func apply(t testing.TB, p resource.Place, op resource.Op, s redirect.Spec) {
	t.Helper()
	if err := (redirect.Kind{}).Apply(p, []resource.Change{{Op: op, Key: s.Device, Spec: s}}); err != nil {
		t.Fatal(op, err)
	}
}

// some redirections copy what comes from and goes to some addresses.
var some = []redirect.Spec{
	{Device: "eth0", To: "to0", Copy: true, Source: netip.MustParsePrefix("192.0.2.0/25")},
	{Device: "eth0", To: "to0", Copy: true, Source: netip.MustParsePrefix("0.0.0.0/0"), Destination: netip.MustParsePrefix("192.0.2.1/32")},
	{Device: "eth0", To: "to0", Copy: true, Source: netip.MustParsePrefix("2001:db8::/33"), Destination: netip.MustParsePrefix("2001:db8::1/128")},
	{Device: "eth0", To: "to0", Copy: true, Destination: netip.MustParsePrefix("::/0")},
}

// TestReadsBack: what was made reads back the same, twice made too, and is gone once
// removed, also twice.
func TestReadsBack(t *testing.T) {
	p := place(t)
	if found := read(t, p); len(found) != 0 {
		t.Fatal(found)
	}
	elsewhere := redirect.Spec{Device: "eth0", To: "to1"}
	type step struct {
		op resource.Op
		s  redirect.Spec
	}
	steps := []step{{resource.Create, spec}, {resource.Create, spec}, {resource.Update, elsewhere}, {resource.Update, spec}, {resource.Update, copied}}
	for _, s := range some {
		steps = append(steps, step{resource.Update, s})
	}
	for _, step := range append(steps, step{resource.Update, spec}) {
		apply(t, p, step.op, step.s)
		found := read(t, p)
		if len(found) != 1 || found[0].Key != "eth0" || found[0].Fingerprint != step.s.Fingerprint() {
			t.Fatalf("%s: found %+v\nwant %s", step.op, found, step.s.Fingerprint())
		}
	}
	apply(t, p, resource.Delete, spec)
	apply(t, p, resource.Delete, spec)
	if found := read(t, p); len(found) != 0 {
		t.Errorf("after removing: %+v", found)
	}
}

// TestSeesDamage: a filter that is gone, and a target that is.
func TestSeesDamage(t *testing.T) {
	p := place(t)
	for _, damage := range [][]string{
		{"tc", "-n", p.Ref, "filter", "del", "dev", "eth0", "ingress", "protocol", "ip", "prio", "7801"},
		{"ip", "-n", p.Ref, "link", "del", "to0"},
	} {
		apply(t, p, resource.Create, spec)
		if out, err := exec.Command(damage[0], damage[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if found := read(t, resource.At(p.Handle, p.Owner)); len(found) != 1 || found[0].Fingerprint == spec.Fingerprint() {
			t.Errorf("after %v: %+v", damage, found)
		}
	}
}

// TestCommands make the same as Apply does.
func TestCommands(t *testing.T) {
	for _, spec := range append([]redirect.Spec{spec, copied}, some...) {
		p := place(t)
		for _, c := range spec.Commands(p.Ref) {
			if out, err := exec.Command(c.Args[0], c.Args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v: %s", c.Args, err, out)
			}
		}
		if found := read(t, p); len(found) != 1 || found[0].Fingerprint != spec.Fingerprint() {
			t.Errorf("%+v, want %s", found, spec.Fingerprint())
		}
	}
}

// TestLeavesOthersFilters of the same interface alone.
func TestLeavesOthersFilters(t *testing.T) {
	p := place(t)
	tc := func(args ...string) string {
		out, err := exec.Command("tc", append([]string{"-n", p.Ref}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	tc("qdisc", "add", "dev", "eth0", "clsact")
	tc("filter", "add", "dev", "eth0", "ingress", "protocol", "ip", "prio", "5", "u32", "match", "u32", "0", "0", "flowid", ":1")
	if found := read(t, p); len(found) != 0 {
		t.Errorf("another's filter is taken for ours: %+v", found)
	}
	before := tc("filter", "show", "dev", "eth0", "ingress")
	apply(t, p, resource.Create, spec)
	apply(t, p, resource.Delete, spec)
	if after := tc("filter", "show", "dev", "eth0", "ingress"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
