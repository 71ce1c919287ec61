package run_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// traced sends packets of a trace through the chain, once its interfaces have their
// carriers.
func (b *bed) traced(send int) trace.Report {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	c := run.Traced(p)
	for _, n := range c.Nodes {
		h := nstest.Open(b, n.Namespace)
		for _, device := range n.Interfaces {
			b.until("interface "+device+" of "+n.Name+" is up", func() bool {
				l, err := h.LinkByName(device)
				return err == nil && l.Attrs().OperState == netlink.OperUp
			})
		}
	}
	var r trace.Report
	for range 10 {
		dropped := nstest.Dropped(b)
		if r, err = trace.Run(b.Context(), c, trace.Options{Send: send, Payload: 64, Patience: 5 * time.Second}); err != nil {
			b.Fatal(err)
		}
		if nstest.Dropped(b) == dropped { // else another test floods this machine
			break
		}
	}
	return r
}

// TestTraceOfAFunctionThatDrops: a program tells itself what it dropped, and that
// explains what nothing in the kernel does.
func TestTraceOfAFunctionThatDrops(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newImpaired(t, "direction: forward, impair: {loss: {every: 10}}")
	r := b.traced(500)
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	if c := *r.Own; c.Sent != 500 || c.Received != 450 || c.Dropped != 0 || c.Functions != 50 || c.Unexplained != 0 {
		t.Errorf("%+v\n%s", c, text.String())
	}
	if !strings.Contains(text.String(), "50 dropped on purpose (forward), by the function itself") {
		t.Errorf("the hop does not say so:\n%s", text.String())
	}
}

// TestTraceOfAFunctionThatDuplicates: what comes twice is no packet more.
func TestTraceOfAFunctionThatDuplicates(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newImpaired(t, "direction: forward, impair: {duplicate: {every: 5}}")
	r := b.traced(500)
	if c := *r.Own; c.Received != 500 || c.Unexplained != 0 || r.Hops[2].OwnIn.Packets != 600 {
		t.Errorf("%+v, %+v", c, r.Hops[2].OwnIn)
	}
}

// TestWhatFailsIsToldOfAFlow: where packets end before a function that fails and is to block them, that is the reason, on whichever
// way they come to it; one past which they are led is none.
func TestWhatFailsIsToldOfAFlow(t *testing.T) {
	nstest.Require(t, feature.BPFTrace, feature.BPFPeer, feature.BPFIngress)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, onFailure: bypass}, {name: b, kind: forward, replicas: 2, onFailure: block}, {name: c, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	ends := map[string]string{"client": "server:9", "server": "client:9"}
	b.until("probes come through", func() bool {
		_, all, err := process.OnWatch(b.name())
		return err == nil && len(all) == 3 && !slices.ContainsFunc(all, func(h process.Health) bool { return len(h.Proven) < 2 })
	})
	b.fails("a")
	b.fails("b-1")
	for from, to := range ends {
		if e := b.explained("udp", from, to); strings.Contains(strings.Join(e.Reasons, "\n"), "has failed") {
			t.Errorf("from %s, a replica of b is well, and it is told that %q", from, e.Reasons)
		}
	}
	b.fails("b-2")
	for from, to := range ends {
		all := strings.Join(b.explained("udp", from, to).Reasons, "\n")
		if !strings.HasPrefix(all, "b-1 has failed (") || !strings.Contains(all, "), and has onFailure: block\n(wiring): 3 dropped") || strings.Contains(all, "a has failed") {
			t.Errorf("from %s it is not told first that b blocks:\n%s", from, all)
		}
	}
}

// fails has a node lose an interface, and waits until that is known.
func (b *bed) fails(node string) {
	b.Helper()
	for _, n := range b.planned().Nodes {
		if n.Name != node {
			continue
		}
		if out, err := exec.Command("ip", "-n", n.Namespace, "link", "set", n.East.Device, "down").CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	b.until(node+" is found to fail", func() bool {
		_, all, err := process.OnWatch(b.name())
		return err == nil && slices.ContainsFunc(all, func(h process.Health) bool { return h.Node == node && h.State == process.Failed })
	})
}

// TestProbesAreNoDrops: what looks whether a function lives ends in the forwarder, as who traces is told; what ends in the function
// is dropped there.
func TestProbesAreNoDrops(t *testing.T) {
	nstest.Require(t, feature.BPFTrace, feature.BPFPeer, feature.BPFIngress)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, onFailure: bypass}]\n")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Made(b.name())
	if err != nil {
		t.Fatal(err)
	}
	b.until("probes come through", func() bool {
		_, all, err := process.OnWatch(b.name())
		return err == nil && len(all) == 1 && len(all[0].Proven) == 2
	})
	ends := func(c trace.Chain) (packets uint64) {
		t.Helper()
		r, err := trace.Run(t.Context(), c, trace.Options{For: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range r.Hops {
			for _, d := range h.Drops {
				packets += d.Others.Packets
			}
		}
		return packets
	}
	c := run.Traced(p)
	if ends(c) == 0 {
		t.Error("no packet ended; one probe a second should have")
	}
	if c.Probes, err = process.Probes(b.name()); err != nil || c.Probes == 0 {
		t.Fatal("nobody says what probes are like: ", err)
	}
	if n := ends(c); n > 0 {
		t.Errorf("%d packets are told to be dropped", n)
	}
	b.chain.Spec.Functions[0].OnFailure = process.Block // another watcher, while somebody looks
	if _, _, err := b.edit(t.Context(), run.UpOptions{}); err != nil {
		t.Fatal(err)
	}
	if now, err := process.Probes(b.name()); err != nil || now == c.Probes {
		t.Fatalf("the same watcher goes on, which this test is not about, or error %v", err)
	}
	if n := ends(c); n > 0 {
		t.Errorf("%d packets of an edited chain are told to be dropped", n)
	}
	for _, line := range []string{"add table inet t", "add chain inet t c { type filter hook forward priority 0; policy drop; }"} {
		if out, err := exec.Command("ip", "netns", "exec", p.Functions()[0].Namespace, "nft", line).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if ends(c) == 0 {
		t.Error("no packet is told to be dropped by the function that drops all")
	}
}
