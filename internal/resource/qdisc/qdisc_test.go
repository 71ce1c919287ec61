package qdisc_test

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/qdisc"
)

// place is a namespace with an interface of the owner's.
func place(t testing.TB) resource.Place {
	t.Helper()
	nstest.Require(t, feature.QdiscHTB, feature.QdiscTBF, feature.ToolTC)
	h := nstest.Open(t, nstest.Namespace(t))
	owner := nstest.Owner(t)
	for _, name := range []string{"eth0", "other"} {
		if err := h.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "p"}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := h.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.LinkSetAlias(l, resource.Mark(owner)+"a:eth0=b:eth0"); err != nil {
		t.Fatal(err)
	}
	return resource.At(h, owner)
}

func htb(rate uint64, burst uint64) qdisc.Spec {
	b := qdisc.Burst(rate, burst)
	return qdisc.Spec{Device: "eth0", Discipline: qdisc.HTB, Default: 1, Classes: []qdisc.Class{
		{Minor: 1, RateBps: rate, CeilBps: rate, BurstBytes: b, CeilBurstBytes: b}}}
}

func tbf(rate uint64, burst uint64) qdisc.Spec {
	b := qdisc.Burst(rate, min(burst, qdisc.Longest(qdisc.TBF, rate)))
	return qdisc.Spec{Device: "eth0", Discipline: qdisc.TBF, Classes: []qdisc.Class{
		{Minor: 1, RateBps: rate, CeilBps: rate, BurstBytes: b, LimitBytes: uint32(min(2*b, 1<<31))}}}
}

// TestRatesReadBack makes every discipline at every kind of rate, by the package
// and by tc(8), and reads it by both.
func TestRatesReadBack(t *testing.T) {
	p := place(t)
	rates := []uint64{8000, 8008, 1_000_000, 33_333_336, 499_999_992, 1e9, 9_999_999_992, 10e9, 32e9, 34_359_738_368, 34_359_738_376, 40e9, 100e9, 1e12}
	for _, rate := range rates {
		for _, burst := range []uint64{16 << 10, 128 << 10, rate / 8000, 10 << 20} {
			if burst > qdisc.Longest(qdisc.HTB, rate) || burst == 0 {
				continue
			}
			for _, s := range []qdisc.Spec{htb(rate, burst), tbf(rate, burst)} {
				t.Run(fmt.Sprintf("%s %d %d", s.Discipline, rate, burst), func(t *testing.T) {
					apply(t, p, resource.Create, s)
					readsBack(t, p, s)
					apply(t, p, resource.Delete, s)
					for _, c := range s.Commands(p.Ref) {
						if out, err := exec.Command(c.Args[0], c.Args[1:]...).CombinedOutput(); err != nil {
							t.Fatalf("%v: %v %s", c.Args, err, out)
						}
					}
					readsBack(t, p, s)
					apply(t, p, resource.Delete, s)
					apply(t, p, resource.Delete, s)
				})
			}
		}
	}
}

// TestLongestBurst is as much as the kernel takes; any more of an HTB's it cannot keep.
func TestLongestBurst(t *testing.T) {
	p := place(t)
	for _, rate := range []uint64{8000, 1e6, 1e9, 40e9, 1e12} {
		for _, make := range []func(rate, burst uint64) qdisc.Spec{htb, tbf} {
			s := make(rate, 0)
			most := qdisc.Longest(s.Discipline, rate)
			s = make(rate, most)
			t.Run(fmt.Sprintf("%s %d", s.Discipline, rate), func(t *testing.T) {
				apply(t, p, resource.Create, s)
				readsBack(t, p, s)
				if got := s.Classes[0].BurstBytes; got < most || (got > math.MaxUint32) != (len(s.Commands(p.Ref)) == 0) {
					t.Errorf("%d bytes of %d, commands %v", got, most, s.Commands(p.Ref))
				}
				if s.Discipline == qdisc.TBF {
					return
				}
				s = tooLong(s)
				apply(t, p, resource.Update, s)
				if found, err := (qdisc.Kind{}).Read(p); err != nil || len(found) == 1 && found[0].Fingerprint == s.Fingerprint() {
					t.Errorf("the kernel kept %d bytes too: %v, error %v", s.Classes[0].BurstBytes, found, err)
				}
			})
		}
	}
}

// tooLong has a burst a hundredth longer.
func tooLong(s qdisc.Spec) qdisc.Spec {
	c := s.Classes[0]
	c.BurstBytes = qdisc.Burst(c.RateBps, c.BurstBytes/100*101)
	s.Classes = []qdisc.Class{c}
	return s
}

// TestToolSeesTheRate has tc(8) read what the package made.
func TestToolSeesTheRate(t *testing.T) {
	p := place(t)
	for rate, want := range map[uint64]string{40e9: "rate 40Gbit", 1e12: "rate 1Tbit", 10e9: "rate 10Gbit", 1e6: "rate 1Mbit"} {
		for _, s := range []qdisc.Spec{htb(rate, 1<<20), tbf(rate, 1<<20)} {
			apply(t, p, resource.Update, s)
			out, err := exec.Command("sh", "-c", fmt.Sprintf("tc -n %s qdisc show dev eth0; tc -n %s class show dev eth0", p.Ref, p.Ref)).CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s at %d: %v\n%s", s.Discipline, rate, err, out)
			}
		}
	}
}

func TestClassesReadBack(t *testing.T) {
	p := place(t)
	s := htb(100e9, 1<<20)
	s.Default = 2
	for i := range 20 {
		s.Classes = append(s.Classes, qdisc.Class{Minor: uint16(2 + i), Parent: 1, RateBps: 8000, CeilBps: 50e9,
			BurstBytes: qdisc.Burst(8000, 128<<10), CeilBurstBytes: qdisc.Burst(50e9, 6<<20), Priority: uint32(i % 8)})
	}
	apply(t, p, resource.Create, s)
	readsBack(t, p, s)
	apply(t, p, resource.Create, s) // twice is once
	readsBack(t, p, s)
	s.Classes[5].CeilBps = 60e9
	apply(t, p, resource.Update, s)
	readsBack(t, p, s)
	apply(t, p, resource.Update, tbf(1e9, 1<<20))
	readsBack(t, p, tbf(1e9, 1<<20))
	apply(t, p, resource.Delete, s)
	if found, err := (qdisc.Kind{}).Read(p); err != nil || len(found) != 0 {
		t.Fatal(found, err)
	}
}

// TestForeignStay has disciplines on an interface that is not the owner's.
func TestForeignStay(t *testing.T) {
	p := place(t)
	tool := func(args string) string {
		out, err := exec.Command("sh", "-c", "tc -n "+p.Ref+" "+args).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v %s", args, err, out)
		}
		return string(out)
	}
	tool("qdisc add dev other root handle 1: tbf rate 1mbit burst 10k limit 100k")
	before := tool("qdisc show dev other")
	if found, err := (qdisc.Kind{}).Read(p); err != nil || len(found) != 0 {
		t.Fatal(found, err)
	}
	apply(t, p, resource.Create, htb(1e9, 1<<20))
	apply(t, p, resource.Delete, htb(1e9, 1<<20))
	if after := tool("qdisc show dev other"); after != before {
		t.Errorf("%s, before %s", after, before)
	}
	// What somebody put on the owner's own interface gives way.
	tool("qdisc add dev eth0 root handle 9: pfifo")
	apply(t, p, resource.Create, htb(1e9, 1<<20))
	readsBack(t, p, htb(1e9, 1<<20))
	missing := htb(1e9, 1<<20)
	missing.Device = "gone"
	if err := (qdisc.Kind{}).Apply(p, []resource.Change{{Op: resource.Create, Key: "gone", Spec: missing}}); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Error("no such interface:", err)
	}
	apply(t, p, resource.Delete, missing)
}

func apply(t testing.TB, p resource.Place, op resource.Op, s qdisc.Spec) {
	t.Helper()
	c := resource.Change{Op: op, Key: s.Key(), Spec: s}
	if op == resource.Delete {
		c.Spec = nil
	}
	if err := (qdisc.Kind{}).Apply(p, []resource.Change{c}); err != nil {
		t.Fatal(err)
	}
}

func readsBack(t testing.TB, p resource.Place, s qdisc.Spec) {
	t.Helper()
	found, err := (qdisc.Kind{}).Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].Key != s.Key() || found[0].Fingerprint != s.Fingerprint() {
		t.Fatalf("read %+v,\nwant %s %s", found, s.Key(), s.Fingerprint())
	}
}

// TestNetemReadsBack, and tc makes the same of it.
func TestNetemReadsBack(t *testing.T) {
	nstest.Require(t, feature.QdiscNetem)
	p := place(t)
	for _, i := range []qdisc.Impair{
		{LimitPackets: 10}, {DelayNS: 5e6, JitterNS: 1e6, LimitPackets: 1000}, {Loss: 0.001, Duplicate: 0.5, LimitPackets: 1000}, {Loss: 1, LimitPackets: 1},
	} {
		s := qdisc.Spec{Device: "eth0", Discipline: qdisc.Netem, Impair: &i}
		apply(t, p, resource.Create, s)
		readsBack(t, p, s)
		apply(t, p, resource.Delete, s)
		for _, c := range s.Commands(p.Ref) {
			if out, err := exec.Command(c.Args[0], c.Args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", c.Args, out)
			}
		}
		readsBack(t, p, s)
	}
}
