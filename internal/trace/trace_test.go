package trace_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
)

// bed is a chain that is up.
type bed struct {
	*testing.T
	plan *plan.Plan
}

func newBed(t *testing.T, functions string) bed {
	t.Helper()
	nstest.Root(t)
	nstest.Require(t, feature.BPFTrace)
	h := host()
	chain := plantest.Chain(t, nstest.Owner(t), functions)
	t.Cleanup(func() {
		if _, err := h.Down(context.Background(), chain.Metadata.Name); err != nil {
			t.Error(err)
		}
	})
	p, _, err := h.Up(context.Background(), chain, run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range run.Traced(p).Nodes {
		for _, device := range n.Interfaces {
			nstest.Carries(t, nstest.Open(t, n.Namespace), device)
		}
	}
	return bed{t, p}
}

func host() *run.Host {
	return &run.Host{Catalogue: registry.Plan(), Words: registry.Words(), Features: feature.Probe(context.Background(), feature.Host()), Say: func(string, ...any) {}}
}

// sending is so many packets, at a rate at which no machine loses any by itself, and
// with patience enough.
func sending(n int) trace.Options {
	return trace.Options{Send: n, Rate: 5000, Payload: 64, Patience: 10 * time.Second}
}

func (b bed) trace(o trace.Options) trace.Report {
	b.Helper()
	r, err := trace.Run(b.Context(), run.Traced(b.plan), o)
	if err != nil {
		b.Fatal(err)
	}
	if len(r.Warnings) > 0 {
		b.Logf("warnings: %q", r.Warnings)
	}
	return r
}

// do runs a command in a node's namespace.
func (b bed) do(node string, command ...string) {
	b.Helper()
	for _, n := range b.plan.Nodes {
		if n.Name == node {
			out, err := exec.Command("ip", append([]string{"netns", "exec", n.Namespace}, command...)...).CombinedOutput()
			if err != nil {
				b.Fatalf("%v: %v: %s", command, err, out)
			}
			return
		}
	}
	b.Fatalf("no node %s", node)
}

// became checks what was made of the packets sent.
func (b bed) became(r trace.Report, sent, received, dropped uint64) {
	b.Helper()
	if r.Own == nil {
		b.Fatal("nothing was sent")
	}
	if c := *r.Own; c.Sent != sent || c.Received != received || c.Dropped != dropped || c.Unexplained != 0 || c.Duplicates != 0 || c.Refused != 0 {
		b.Errorf("%+v, want %d sent, %d received, %d dropped\n%s", c, sent, received, dropped, text(r))
	}
}

func text(r trace.Report) string {
	var s strings.Builder
	_ = r.Text(&s)
	return s.String()
}

// passed checks what of our packets came into and left each hop, in order.
func (b bed) passed(r trace.Report, want string) {
	b.Helper()
	var got []string
	for _, h := range r.Hops {
		got = append(got, fmt.Sprintf("%s %d %d", h.Name, h.OwnIn.Packets, h.OwnOut.Packets))
	}
	if s := strings.Join(got, ", "); s != want {
		b.Errorf("passed %s, want %s\n%s", s, want, text(r))
	}
}

// dropped checks where and why our packets ended.
func (b bed) dropped(r trace.Report, want string) {
	b.Helper()
	var got []string
	for _, h := range r.Hops {
		for _, d := range h.Drops {
			if d.Own.Packets > 0 {
				got = append(got, fmt.Sprintf("%s:%s %s %d", h.Name, d.Interface, d.Cause, d.Own.Packets))
			}
		}
	}
	if s := strings.Join(got, ", "); s != want {
		b.Errorf("dropped %s, want %s\n%s", s, want, text(r))
	}
}

func TestEverythingArrives(t *testing.T) {
	for _, family := range []string{"", "addresses: {ipv4: none}\n"} {
		b := newBed(t, plantest.Forwards(2)+family)
		r := b.trace(sending(500))
		b.became(r, 500, 500, 0)
		b.passed(r, "client 0 500, f0 500 500, f1 500 500, server 500 0")
		b.dropped(r, "")
		if r.Own.Duplicates != 0 || len(r.Elsewhere) != 0 {
			t.Errorf("%+v", r)
		}
		last := uint64(0)
		for _, h := range r.Hops[1:] {
			if h.TimeIn == nil || h.TimeIn.Packets != 500 || h.TimeIn.MinNS <= last || h.TimeIn.MedianNS < h.TimeIn.MinNS || h.TimeIn.MaxNS < h.TimeIn.P99NS {
				t.Errorf("time to %s: %+v, after %d ns to the one before", h.Name, h.TimeIn, last)
			}
			last = h.TimeIn.MinNS
			if h.In.Packets < 500 || h.In.Bytes < 500*64 || h.SoftirqS != nil {
				t.Errorf("%s: %+v", h.Name, h)
			}
		}
	}
}

// TestOneArm: packets that leave by the interface that they came in by are counted as one
// that came and one that left.
func TestOneArm(t *testing.T) {
	nstest.Require(t, feature.Bridge)
	b := newBed(t, "wiring: bridge\nbridge: {per: chain, arms: 1}\n"+plantest.Forwards(2))
	r := b.trace(sending(500))
	b.became(r, 500, 500, 0)
	b.passed(r, "client 0 500, f0 500 500, f1 500 500, server 500 0, (wiring) 0 0")
	b.dropped(r, "")
}

// TestManyPacketsAreSampled: the times of some stand for those of all, the counts are
// of all.
func TestManyPacketsAreSampled(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	r := b.trace(sending(10000))
	if c := r.Own; c.Sent != 10000 || c.Received+c.Dropped != 10000 || c.Unexplained != 0 {
		t.Fatalf("%+v\n%s", c, text(r))
	}
	if h := r.Hops[1]; h.OwnIn.Packets != 10000 || h.TimeIn == nil || h.TimeIn.Packets != 10000/3+1 {
		t.Errorf("%+v, time %+v", h.OwnIn, h.TimeIn)
	}
}

// TestFirewallDropsSome: a rule drops those packets whose number ends in a byte below
// 64, so one in four.
func TestFirewallDropsSome(t *testing.T) {
	nstest.Require(t, feature.ToolNFT)
	b := newBed(t, plantest.Forwards(2))
	b.do("f1", "nft", "add table ip drops; add chain ip drops c { type filter hook forward priority 0; }; add rule ip drops c udp length 72 @th,96,8 < 64 counter drop")
	r := b.trace(sending(1024))
	b.became(r, 1024, 768, 256)
	b.passed(r, "client 0 1024, f0 1024 1024, f1 1024 768, server 768 0")
	b.dropped(r, "f1:eth0 NETFILTER_DROP 256")
}

// TestFirewallRulesAreCounted: the function's own rule and its policy.
func TestFirewallRulesAreCounted(t *testing.T) {
	b := newBed(t, "functions:\n- {name: fw, kind: firewall, firewall: {rules: {list: [{action: drop, protocol: udp, comment: no UDP}]}}}\n")
	r := b.trace(sending(100))
	b.became(r, 100, 0, 100)
	b.dropped(r, "fw:eth0 NETFILTER_DROP 100")
	if rules := r.Hops[1].Rules; len(rules) != 1 || rules[0].Rule != 1 || rules[0].Packets != 100 || rules[0].Verdict != "drop" || rules[0].Comment == "" {
		t.Errorf("rules %+v", rules)
	}
	b = newBed(t, "functions:\n- {name: fw, kind: firewall, firewall: {policy: drop, rules: {list: [{action: accept, protocol: tcp}]}}}\n")
	r = b.trace(sending(100))
	b.became(r, 100, 0, 100)
	if rules := r.Hops[1].Rules; len(rules) != 1 || rules[0].Rule != 0 || rules[0].Packets != 100 {
		t.Errorf("policy %+v", rules)
	}
}

// TestQueueThatIsFull: what a shaper cannot hold it drops, and what it holds comes
// late, and is waited for.
func TestQueueThatIsFull(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	b.do("f0", "tc", "qdisc", "replace", "dev", "eth1", "root", "tbf", "rate", "400kbit", "burst", "2000", "limit", "20000")
	r := b.trace(sending(1000))
	c := r.Own
	if c.Sent != 1000 || c.Received == 0 || c.Dropped == 0 || c.Received+c.Dropped != 1000 || c.Unexplained != 0 {
		t.Fatalf("%+v\n%s", c, text(r))
	}
	h := r.Hops[1]
	if len(h.Drops) == 0 || !strings.HasPrefix(h.Drops[0].Cause, "QDISC_") || h.Drops[0].Interface != "eth1" || h.Drops[0].Own.Packets != c.Dropped {
		t.Errorf("drops %+v", h.Drops)
	}
	var queue trace.Queue
	for _, i := range h.Interfaces {
		for _, q := range i.Queues {
			if q.Kind == "tbf" {
				queue = q
			}
		}
	}
	const strays = 10 // that the kernels say of their own
	if queue.Drops < c.Dropped || queue.Drops > c.Dropped+strays || queue.Backlog > strays {
		t.Errorf("the queue says %+v, %d were dropped", queue, c.Dropped)
	}
}

// TestMissingRoute takes a hop its way east.
func TestMissingRoute(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	b.do("f0", "ip", "route", "flush", "proto", "78")
	r := b.trace(sending(50))
	b.became(r, 50, 0, 50)
	b.passed(r, "client 0 50, f0 50 0, f1 0 0, server 0 0")
	for _, d := range r.Hops[1].Drops {
		if d.Own.Packets > 0 && d.At == "" {
			t.Errorf("no place: %+v", d)
		}
	}
	if got := r.Hops[1].Drops[0]; got.Cause != "IP_INNOROUTES" && got.Cause != "IP_INADDRERRORS" && got.Cause != "NOT_SPECIFIED" || got.Own.Packets != 50 {
		t.Errorf("%+v", got)
	}
}

// TestTimeToLiveEnds two hops before the server.
func TestTimeToLiveEnds(t *testing.T) {
	b := newBed(t, plantest.Forwards(3))
	o := sending(80)
	o.TTL = 2
	r := b.trace(o)
	b.became(r, 80, 0, 80)
	b.passed(r, "client 0 80, f0 80 80, f1 80 0, f2 0 0, server 0 0")
	if d := r.Hops[2].Drops[0]; d.Own.Packets != 80 || d.Interface != "eth0" || d.At == "" {
		t.Errorf("%+v", d)
	}
}

// TestNoWayOut: what the first node's socket refuses was never sent.
func TestNoWayOut(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	b.do("client", "ip", "link", "set", "eth0", "mtu", "68") // no IPv4 packet of 92 bytes, and none in pieces
	b.do("client", "ip", "route", "flush", "proto", "78")
	if _, err := trace.Run(t.Context(), run.Traced(b.plan), sending(10)); err == nil || !strings.Contains(err.Error(), "client") {
		t.Errorf("%v", err)
	}
}

// TestFramesThatXDPLoses: a program sends frames to an interface that takes none.
func TestFramesThatXDPLoses(t *testing.T) {
	nstest.Require(t, feature.BPFXDP)
	b := newBed(t, plantest.Forwards(1))
	f := b.plan.Functions()[0]
	h := nstest.Open(t, f.Namespace)
	east, err := h.LinkByName(f.East.Device)
	if err != nil {
		t.Fatal(err)
	}
	west, err := h.LinkByName(f.West.Device)
	if err != nil {
		t.Fatal(err)
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, int32(east.Attrs().Index)), asm.Mov.Imm(asm.R2, 0), asm.FnRedirect.Call(), asm.Return(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = program.Close() }()
	var attached link.Link
	err = netns.Do(f.Namespace, func() (err error) {
		attached, err = link.AttachXDP(link.XDPOptions{Program: program, Interface: west.Attrs().Index, Flags: link.XDPDriverMode})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = attached.Close() }()
	o := sending(100)
	o.Patience = 200 * time.Millisecond // nothing more will be seen of them
	r := b.trace(o)
	if c := *r.Own; c.Sent != 100 || c.Received != 0 || c.Dropped != 0 || c.XDP != 100 || c.Unexplained != 0 {
		t.Errorf("%+v\n%s", c, text(r))
	}
	var lost uint64
	for _, d := range r.Hops[1].Drops {
		if strings.HasPrefix(d.Cause, "XDP ") {
			lost += d.Others.Packets
		}
	}
	if lost < 100 {
		t.Errorf("XDP lost %d\n%s", lost, text(r))
	}
}

// TestTrafficOfOthers is counted without any of our own.
func TestTrafficOfOthers(t *testing.T) {
	nstest.Require(t, feature.ToolPing)
	b := newBed(t, plantest.Forwards(1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ping := exec.Command("ping", "-q", "-i", "0.01", b.plan.Server().West.Addresses[0].String())
	if err := netns.Start(b.plan.Client().Namespace, ping); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = ping.Process.Kill()
		_ = ping.Wait()
	}()
	var r trace.Report
	for range 20 { // until ping is under way
		var err error
		if r, err = trace.Run(ctx, run.Traced(b.plan), trace.Options{For: time.Second, Softirq: true}); err != nil {
			t.Fatal(err)
		}
		if last := r.Hops[len(r.Hops)-1]; last.In.Packets > 0 && last.Out.Packets > 0 {
			break
		}
	}
	if r.Own != nil {
		t.Errorf("own packets without sending: %+v", r.Own)
	}
	for _, h := range r.Hops {
		if h.In.Packets == 0 || h.Out.Packets == 0 || h.OwnIn.Packets+h.OwnOut.Packets != 0 {
			t.Errorf("%s: in %+v, out %+v", h.Name, h.In, h.Out)
		}
		if h.SoftirqS == nil || *h.SoftirqS <= 0 || *h.SoftirqS > 60 {
			t.Errorf("%s: softirq %v", h.Name, h.SoftirqS)
		}
	}
}

// TestInterruptGivesWhatWasSeen.
func TestInterruptGivesWhatWasSeen(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := trace.Run(ctx, run.Traced(b.plan), sending(100))
	if err != nil || r.Own == nil || r.Own.Sent > 1 || len(r.Hops) != 3 {
		t.Errorf("%+v, %v", r.Own, err)
	}
}

// TestCopiesAtATap are not taken for packets that were lost.
func TestCopiesAtATap(t *testing.T) {
	nstest.Require(t, feature.Redirect)
	b := newBed(t, "functions:\n- {name: m, kind: mirror}\n- {name: f, kind: forward}\n")
	o := sending(100)
	o.Softirq = true
	r := b.trace(o)
	b.became(r, 100, 100, 0)
	b.passed(r, "client 0 100, m 100 100, f 100 100, server 100 0")
	if len(r.Taps) != 1 || r.Taps[0].Name != "m.tap" || r.Taps[0].SoftirqS <= 0 || r.Taps[0].SoftirqS > 60 {
		t.Errorf("taps %+v", r.Taps)
	}
	if len(r.Elsewhere) != 1 || !r.Elsewhere[0].Copy || r.Elsewhere[0].Interface != "m.tap" || r.Elsewhere[0].Own.Packets != 100 {
		t.Errorf("%+v", r.Elsewhere)
	}
}

// TestTranslatedPackets are followed to where they arrive.
func TestTranslatedPackets(t *testing.T) {
	nstest.Require(t, feature.NFTNAT)
	b := newBed(t, "functions:\n- {name: nat, kind: nat, nat: {source: {}, destination: {}}}\n- {name: f, kind: forward}\n")
	r := b.trace(sending(100))
	b.became(r, 100, 100, 0)
	b.passed(r, "client 0 100, nat 100 100, f 100 100, server 100 0")
}
