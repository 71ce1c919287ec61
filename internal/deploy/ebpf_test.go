package deploy_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/steer"
)

func needsForwarder(t testing.TB) {
	t.Helper()
	needs(t)
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
}

// forwarders are the wiring by its hooks; what is called tcx is at clsact where the kernel has no tcx.
var forwarders = map[string]string{"tcx": "wiring: ebpf\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact}\n"}

// TestForwarder brings up a chain at each hook, edits it, and finds nothing left when it is
// down.
func TestForwarder(t *testing.T) {
	needsForwarder(t)
	nstest.Require(t, feature.Bridge)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			const bump = "{name: bump, kind: bridge}"
			for _, functions := range [][]string{
				{forward("a"), bump, forward("b")}, {forward("a"), forward("new"), forward("b")}, {bump, forward("b"), firewall}, {shaper}, {},
			} {
				p := planned(t, owner, wiring+spec(functions...))
				ways := slices.DeleteFunc(up(t, p), func(c string) bool { return !strings.Contains(c, " steer:") })
				if len(ways) == 0 || len(slices.Compact(slices.Clone(ways))) < len(ways) {
					t.Errorf("no port is turned, or one is told of twice: %v", ways)
				}
				unchanged(t, p)
				crosses(t, p)
			}
			down(t, owner)
			if names, err := netns.List(); err != nil || strings.Contains(strings.Join(names, " "), owner+".") {
				t.Errorf("left %v, error %v", names, err)
			}
		})
	}
}

// TestHoldsFromTheStart: where programs are at clsact, interfaces have it before packets flow, for what comes later: put on
// then, it would cost some.
func TestHoldsFromTheStart(t *testing.T) {
	needsForwarder(t)
	for hook, wiring := range forwarders {
		if hook == steer.TCX && nstest.Has(feature.BPFTCX) {
			continue
		}
		p := planned(t, nstest.Owner(t), wiring+spec(forward("a")))
		downAfter(t, p.Chain)
		up(t, p)
		for _, place := range []string{p.Client().Namespace, p.Functions()[0].Namespace, wiringOf(p)} {
			prepared(t, place)
		}
	}
}

// prepared fails the test if an interface of a namespace does not hold programs at clsact.
func prepared(t *testing.T, place string) {
	t.Helper()
	h, err := netns.Open(place)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	links, err := h.LinkList()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		all, err := h.QdiscList(l)
		if err != nil {
			t.Fatal(err)
		}
		if l.Type() == "veth" && !slices.ContainsFunc(all, func(q netlink.Qdisc) bool { return q.Type() == "clsact" }) {
			t.Errorf("%s of %s has %v", l.Attrs().Name, place, all)
		}
	}
}

// TestForwarderHeals: what somebody takes away at a port is seen and mended, and nothing else
// is touched.
func TestForwarderHeals(t *testing.T) {
	needsForwarder(t)
	nstest.Require(t, feature.ToolTC, feature.ToolIP)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), wiring+spec(forward("a"), forward("b")))
			downAfter(t, p.Chain)
			up(t, p)
			own, node := wiringOf(p), p.Functions()[0].Namespace
			heals(t, p, "ip -n "+node+" link del eth1", []string{"link", "address", "neighbour", "route", "steer"})
			if hook == "clsact" {
				port, _, _ := strings.Cut(sh(t, "ip -n "+own+" -br link show type veth"), "@")
				heals(t, p, "tc -n "+own+" filter del dev "+port+" ingress", []string{"steer"})
				heals(t, p, "tc -n "+own+" qdisc del dev "+port+" clsact", []string{"steer"})
			}
		})
	}
}

// TestForwarderRewired has one chain change from pairs to a forwarder, to another hook, to
// bridges and back.
func TestForwarderRewired(t *testing.T) {
	needsForwarder(t)
	needsBridge(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, wiring := range []string{"", forwarders["tcx"], forwarders["clsact"], "wiring: bridge\n", forwarders["tcx"], ""} {
		p := planned(t, owner, wiring+spec(forward("a")))
		up(t, p)
		unchanged(t, p)
		crosses(t, p)
	}
	if netns.Exists(namespace.Name(owner, plan.WiringNode)) {
		t.Error("the forwarder's namespace is left")
	}
}

// TestForwarderApplied: what a plan's script has nfchain make, port by port.
func TestForwarderApplied(t *testing.T) {
	needsForwarder(t)
	nstest.Require(t, feature.ToolTC)
	p := planned(t, nstest.Owner(t), forwarders["clsact"]+spec(forward("a")))
	downAfter(t, p.Chain)
	up(t, p)
	for _, r := range p.Resources {
		if r.Kind != steer.KindName {
			continue
		}
		sh(t, "tc -n "+r.Namespace+" filter del dev "+r.Spec.Key()+" ingress")
		text, err := json.Marshal(r.Spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := deploy.Apply(t.Context(), p.Chain, r.Kind, r.Namespace, text); err != nil {
			t.Error(err)
		}
	}
	unchanged(t, p)
	crosses(t, p)
}

// bigTCP has segments that go through a chain whole which are longer than any packet on a wire.
const bigTCP = "tuning: {gso_max_size: 400000, gro_max_size: 400000, gso_ipv4_max_size: 400000, gro_ipv4_max_size: 400000}\n"

// TestForwarderCarriesBytes of TCP unharmed through five functions, whatever the segments are
// that pass the forwarder: cut by the sender's kernel or by nobody, of long packets, and longer
// than IP's own length field can say. Checksums that nobody has computed yet stay so.
func TestForwarderCarriesBytes(t *testing.T) {
	needsForwarder(t)
	for name, settings := range map[string]string{
		"as the kernel has it": "", "long packets": withMTU(jumbo), "BIG TCP": bigTCP,
		"no offloads": "tuning: {tso: false, gso: false, gro: false, checksum: false}\n", "joined again": "tuning: {gro: true, threaded_napi: true}\n",
	} {
		t.Run(name, func(t *testing.T) {
			functions := make([]string, 5)
			for i := range functions {
				functions[i] = forward(fmt.Sprintf("f%d", i))
			}
			p := planned(t, nstest.Owner(t), forwarders["tcx"]+settings+spec(functions...))
			downAfter(t, p.Chain)
			up(t, p)
			unchanged(t, p)
			for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
				carries(t, p, to)
			}
		})
	}
}

// carries random bytes over a connection, and compares what came with what was sent.
func carries(t *testing.T, p *plan.Plan, to netip.Addr) {
	t.Helper()
	sent := make([]byte, 8<<20)
	if _, err := rand.Read(sent); err != nil {
		t.Fatal(err)
	}
	var listener net.Listener
	at := netip.AddrPortFrom(to, 7011).String()
	inside(t, p.Server().Namespace, func() (err error) { listener, err = net.Listen("tcp", at); return })
	defer func() { _ = listener.Close() }()
	came := make(chan []byte, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			came <- nil
			return
		}
		defer func() { _ = conn.Close() }()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
		all, _ := io.ReadAll(conn)
		came <- all
	}()
	var conn net.Conn
	inside(t, p.Client().Namespace, func() (err error) { conn, err = net.DialTimeout("tcp", at, time.Minute); return })
	_ = conn.SetDeadline(time.Now().Add(5 * time.Minute))
	if _, err := conn.Write(sent); err != nil {
		t.Errorf("to %s: %v", to, err)
	}
	_ = conn.Close()
	if got := <-came; !bytes.Equal(got, sent) {
		t.Errorf("to %s: %d bytes of sum %x were sent, %d of sum %x came", to, len(sent), sha256.Sum256(sent), len(got), sha256.Sum256(got))
	}
}
