package capture_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/capture/capturetest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/run"
)

// bed is a chain that is up.
type bed struct {
	*testing.T
	host *run.Host
	plan *plan.Plan
}

func newBed(t *testing.T, spec string) bed {
	t.Helper()
	nstest.Root(t)
	h := &run.Host{Catalogue: registry.Plan(), Words: registry.Words(), Features: feature.Probe(t.Context(), feature.Host()), Say: func(string, ...any) {}}
	chain := plantest.Chain(t, nstest.Owner(t), spec)
	t.Cleanup(func() {
		if _, err := h.Down(context.Background(), chain.Metadata.Name); err != nil {
			t.Error(err)
		}
	})
	p, _, err := h.Up(t.Context(), chain, run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	return bed{t, h, p}
}

// port that nothing listens at.
const port = 7

// payload of the test's packets: a number, and filling.
const payload = 100

// send numbered packets from the first endpoint to the last, one a millisecond, until
// ctx ends.
func (b bed) send(ctx context.Context) {
	var s *net.UDPConn
	err := netns.Do(b.plan.Client().Namespace, func() (err error) {
		s, err = net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(b.plan.Server().West.Addresses[0], port)))
		return err
	})
	if err != nil {
		b.Error(err)
		return
	}
	defer func() { _ = s.Close() }()
	packet := make([]byte, payload)
	for number := uint32(0); ctx.Err() == nil; number++ {
		binary.BigEndian.PutUint32(packet, number)
		_, _ = s.Write(packet) // the server's kernel answers that nobody listens
		time.Sleep(time.Millisecond)
	}
}

// capture with packets being sent from when it is ready until its end.
func (b bed) capture(hop string, o capture.Options) (capture.Report, capturetest.File) {
	b.Helper()
	c, err := run.Captured(b.plan, hop)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	sending, sent := context.WithCancel(ctx)
	done := make(chan struct{})
	o.Ready = func() {
		go func() {
			defer close(done)
			b.send(sending)
		}()
	}
	o.Snaplen, o.Buffer = max(o.Snaplen, 64), 32<<20
	var out bytes.Buffer
	r, err := capture.Run(ctx, c, o, &out)
	sent()
	if err != nil {
		b.Fatal(err)
	}
	<-done
	if ctx.Err() != nil {
		b.Fatalf("it did not end by itself: %+v", r)
	}
	return r, capturetest.Read(b.T, out.Bytes())
}

// path is where each of the test's packets was, in the order of the file.
func path(f capturetest.File) map[uint32][]string {
	const header4, header6 = 14 + 20 + 8, 14 + 40 + 8
	all := map[uint32][]string{}
	for _, p := range f.Packets {
		at := header6
		if p.Length == header4+payload {
			at = header4
		}
		number := binary.BigEndian.Uint32(p.Data[at:])
		all[number] = append(all[number], p.Interface)
	}
	return all
}

// TestEveryHopInOrder: a packet is seen at each interface that it passes, in the order of
// the chain, over wirings that hand packets on in different ways.
func TestEveryHopInOrder(t *testing.T) {
	for wiring, needs := range map[string][]string{"veth": nil, "bridge": {feature.Bridge}, "ebpf": {feature.BPFPeer, feature.BPFClsact}} {
		for family, other := range map[string]string{"ipv4": "ipv6", "ipv6": "ipv4"} {
			t.Run(wiring+"/"+family, func(t *testing.T) {
				nstest.Require(t, needs...)
				b := newBed(t, "wiring: "+wiring+"\naddresses: {"+other+": none}\nfunctions: [{name: a, kind: forward}, {name: b, kind: forward}]\n")
				r, f := b.capture("", capture.Options{Filter: "udp dst port 7 and dst host server", Count: 300, Snaplen: 128})
				want := strings.Fields("client:eth0:out a:eth0:in a:eth1:out b:eth0:in b:eth1:out server:eth0:in")
				whole := 0
				for number, seen := range path(f) {
					if len(seen) == len(want) {
						whole++
					}
					if r.Late == 0 && !isPart(seen, want) {
						t.Errorf("packet %d was at %v, want %v", number, seen, want)
					}
				}
				if len(f.Packets) != 300 || r.Packets != 300 || whole == 0 {
					t.Errorf("%d packets, of which %d were everywhere: %+v", len(f.Packets), whole, r)
				}
				b.told(r, f)
			})
		}
	}
}

// isPart tells whether some is whole without some of its words.
func isPart(some, whole []string) bool {
	for _, word := range whole {
		if len(some) > 0 && some[0] == word {
			some = some[1:]
		}
	}
	return len(some) == 0
}

// told checks that the file says where each packet was and that the report counts what
// is there.
func (b bed) told(r capture.Report, f capturetest.File) {
	b.Helper()
	count := map[string]uint64{}
	var last time.Time
	for _, p := range f.Packets {
		count[p.Interface]++
		if p.Time.Before(last) && r.Late == 0 {
			b.Errorf("a packet of %v is behind one of %v", p.Time, last)
		}
		last = p.Time
		hop := strings.Split(p.Interface, ":")
		if !strings.Contains(p.Comment, " "+hop[0]+", "+hop[2]+" by "+hop[1]+", forward") || !strings.HasPrefix(p.Comment, "chain "+b.plan.Chain+", hop ") || p.Outgoing != (hop[2] == "out") {
			b.Fatalf("at %s: %q, outgoing: %t", p.Interface, p.Comment, p.Outgoing)
		}
		if len(p.Data) > 128 || p.Length < 128 {
			b.Fatalf("%d bytes of %d", len(p.Data), p.Length)
		}
	}
	for n, i := range r.Interfaces {
		if i.Packets != count[i.Name] || f.Interfaces[n].Name != i.Name || f.Interfaces[n].Filter == "" {
			b.Errorf("%+v, of which the file has %d; %+v", i, count[i.Name], f.Interfaces[n])
		}
	}
	if len(r.Interfaces) != 2*(2*len(b.plan.Nodes)-2) || !strings.HasSuffix(f.Section.Comment, ": client > a > b > server") {
		b.Errorf("%d interfaces, %q", len(r.Interfaces), f.Section.Comment)
	}
}

// TestOneHop: only its interfaces are in the file, and names mean what they mean in the
// chain.
func TestOneHop(t *testing.T) {
	b := newBed(t, plantest.Forwards(2)+"addresses: {ipv6: none}\n")
	r, f := b.capture("f1", capture.Options{Filter: "icmp and src host server", Count: 8})
	for _, i := range r.Interfaces {
		// The server's answers go back west; those of its kernel are limited in number.
		if back := i.Name == "f1:eth1:in" || i.Name == "f1:eth0:out"; back != (i.Packets > 0) || back != (i.Way == "reverse") || i.Hop != "f1" {
			t.Errorf("%+v", i)
		}
	}
	if len(r.Interfaces) != 4 || len(f.Packets) != 8 {
		t.Errorf("%d interfaces, %d packets", len(r.Interfaces), len(f.Packets))
	}
}

// TestOneArm: what comes in and what goes out of the same interface are told apart, and no
// way is said.
func TestOneArm(t *testing.T) {
	nstest.Require(t, feature.Bridge)
	b := newBed(t, "wiring: bridge\nbridge: {per: chain, arms: 1}\n"+plantest.Forwards(1)+"addresses: {ipv6: none}\n")
	r, f := b.capture("f0", capture.Options{Filter: "udp port 7", Count: 40})
	if len(r.Interfaces) != 2 || len(f.Packets) != 40 || r.Interfaces[0].Way != "" || r.Interfaces[0].Packets == 0 || r.Interfaces[1].Packets == 0 {
		t.Errorf("%+v", r)
	}
}

// TestFunctionsThatShareAHop are it, by their names too.
func TestFunctionsThatShareAHop(t *testing.T) {
	b := newBed(t, "functions:\n- {name: x, kind: forward, group: box}\n- {name: y, kind: firewall, group: box}\n")
	for _, hop := range []string{"box", "x", "y"} {
		c, err := run.Captured(b.plan, hop)
		if err != nil || len(c.Points) != 4 || c.Points[0].Hop != "box" || len(c.Names["y"]) == 0 {
			t.Errorf("%s: %+v, %v", hop, c, err)
		}
	}
	if _, err := run.Captured(b.plan, "z"); err == nil || !strings.Contains(err.Error(), `no hop "z"; it has client, box, server`) {
		t.Error(err)
	}
}

// TestBesideAFunctionWithoutANamespace: what comes to it and leaves it is captured at the
// nodes next to it, and its place is counted.
func TestBesideAFunctionWithoutANamespace(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	b := newBed(t, "wiring: ebpf\naddresses: {ipv6: none}\nfunctions: [{name: a, kind: forward}, {name: n, kind: counter, runtime: inline}, {name: b, kind: forward}]\n")
	r, f := b.capture("n", capture.Options{Filter: "udp dst port 7", Count: 40})
	var names []string
	for _, i := range r.Interfaces {
		names = append(names, i.Name)
		if (i.Packets > 0) != (i.Name == "a:eth1:out" || i.Name == "b:eth0:in") {
			t.Errorf("%+v", i)
		}
	}
	if !slices.Equal(names, []string{"a:eth1:in", "a:eth1:out", "b:eth0:in", "b:eth0:out"}) || !strings.HasSuffix(f.Section.Comment, ": client > a > n > b > server") {
		t.Errorf("%q, %q", names, f.Section.Comment)
	}
	if i := f.Interfaces[2]; !strings.Contains(i.Description, "hop 4 of 5: forward b, in by eth0, forward") {
		t.Error(i.Description)
	}
}

// TestTimeIsUp ends a capture at which nothing came.
func TestTimeIsUp(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	r, f := b.capture("f0", capture.Options{Filter: "tcp port 1", For: 20 * time.Millisecond})
	if len(f.Packets) != 0 || r.Packets != 0 || r.Dropped != 0 || len(f.Interfaces) != 4 || r.DurationS < 0.02 {
		t.Errorf("%+v", r)
	}
}

// TestInterruptKeepsWhatWasTaken: all that had come by then is in the file.
func TestInterruptKeepsWhatWasTaken(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"addresses: {ipv6: none}\n")
	c, err := run.Captured(b.plan, "client")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	sent := 0
	o := capture.Options{Filter: "udp port 7", Snaplen: 64, Buffer: 4 << 20, Ready: func() {
		sent = b.sendSome(50)
		cancel()
	}}
	var out bytes.Buffer
	r, err := capture.Run(ctx, c, o, &out)
	if err != nil {
		t.Fatal(err)
	}
	if f := capturetest.Read(t, out.Bytes()); len(f.Packets) != sent || r.Packets != uint64(sent) || sent == 0 {
		t.Errorf("%d sent, %d in the file: %+v", sent, len(f.Packets), r)
	}
}

// sendSome packets, and tell how many the kernel took.
func (b bed) sendSome(n int) (taken int) {
	b.Helper()
	err := netns.Do(b.plan.Client().Namespace, func() error {
		s, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(b.plan.Server().West.Addresses[0], port)))
		if err != nil {
			return err
		}
		defer func() { _ = s.Close() }()
		for range n {
			if _, err := s.Write(make([]byte, payload)); err == nil {
				taken++
			}
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
	return taken
}

// TestChainThatGoes ends a capture, which says so.
func TestChainThatGoes(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	down := func() {
		if _, err := b.host.Down(context.Background(), b.plan.Chain); err != nil {
			t.Error(err)
		}
	}
	c, err := run.Captured(b.plan, "f0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	r, err := capture.Run(ctx, c, capture.Options{Snaplen: 64, Buffer: 4 << 20, Ready: down}, &out)
	if err != nil || ctx.Err() != nil || !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "eth0 of f0 was removed") }) {
		t.Errorf("%+v, %v", r, err)
	}
	_ = capturetest.Read(t, out.Bytes())
}

// TestTooLittleMemory is told with what is enough.
func TestTooLittleMemory(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	c, err := run.Captured(b.plan, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = capture.Run(t.Context(), c, capture.Options{Snaplen: 64, Buffer: 1 << 20}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "need a --buffer of 4 MiB at least") {
		t.Error(err)
	}
}
