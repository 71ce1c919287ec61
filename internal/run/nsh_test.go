package run_test

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/capture/capturetest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// relaying is a function whose program knows NSH.
func relaying(t *testing.T, way string) string {
	t.Helper()
	return "{name: relay, encapsulation: nsh, " + relayer(t, way, "") + "}"
}

func newWhole(t *testing.T, way string) *bed {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFXDP)
	return newBed(t, "wiring: ebpf\nebpf: {service_path: 77}\nfunctions:\n- {name: a, kind: forward}\n- "+relaying(t, way)+"\n- {name: b, kind: forward}\n")
}

// nsh of the function that relays.
func (b *bed) nsh() run.NSHState {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	s, err := run.Inspect(b.Context(), p)
	if err != nil || s.State != run.StateUp {
		b.Fatalf("%+v, error %v", s, err)
	}
	for _, n := range s.Nodes {
		if n.Name == "relay" && n.NSH != nil {
			return *n.NSH
		}
	}
	b.Fatalf("%+v", s.Nodes)
	return run.NSHState{}
}

// TestWholeFramesAreMeasured: the path through a function that gets frames whole is proven, replicas
// and bumps beside it.
func TestWholeFramesAreMeasured(t *testing.T) {
	b := newWhole(t, "proper")
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if s := r.Setups[0]; s.Length != 5 || len(s.Unread) > 0 {
		t.Errorf("%+v", s)
	}
}

// TestWholeFramesAreCounted both ways, on the path and with the indexes that the plan says, and
// nobody loses one.
func TestWholeFramesAreCounted(t *testing.T) {
	b := newWhole(t, "proper")
	b.up(run.UpOptions{Wait: true})
	before := b.nsh() // the kernel may have said something of its own before anybody listened
	const many = 300
	for _, way := range []string{"forward", "reverse"} {
		for family := range 2 {
			if got := b.numbered(way, family, many); len(got) != many || !slices.IsSorted(got) {
				t.Errorf("%s, family %d: of %d came %d", way, family, many, len(got))
			}
		}
	}
	// What the kernel said of its own may be on its way at either reading.
	lost := func(w run.NSHWay) int64 { return int64(w.Given) - int64(w.Back) }
	s := b.nsh()
	odd := func(w, was run.NSHWay) bool { return lost(w) < 0 || lost(w) > lost(was) }
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline) && (odd(s.Forward, before.Forward) || odd(s.Reverse, before.Reverse)); s = b.nsh() {
		time.Sleep(10 * time.Millisecond)
	}
	if s.Forward.Hop != (nsh.Hop{Path: 77, Index: 254}) || s.Reverse.Hop != (nsh.Hop{Path: 77 | 1<<23, Index: 254}) {
		t.Errorf("%+v", s)
	}
	for i, w := range []run.NSHWay{s.Forward, s.Reverse} {
		was := []run.NSHWay{before.Forward, before.Reverse}[i]
		if w.Given-was.Given < 2*many || odd(w, was) || w.Undiminished != 0 || w.Dropped != (run.NSHDropped{}) {
			t.Errorf("%+v, and before %+v", w, was)
		}
	}
	b.unchanged()
}

// TestRelays: what a function may do with the header, and what becomes of it.
func TestRelays(t *testing.T) {
	for way, is := range map[string]func(w run.NSHWay, came int) bool{
		"unaware": func(w run.NSHWay, came int) bool { return came == 20 && w.Undiminished == w.Back && w.Back >= 20 },
		"told":    func(w run.NSHWay, came int) bool { return came == 20 && w.Undiminished == 0 && w.Back >= 20 },
		"expired": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Expired >= 20 && w.Dropped == run.NSHDropped{Expired: w.Dropped.Expired}
		},
		"looping": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Expired >= 20 && w.Dropped == run.NSHDropped{Expired: w.Dropped.Expired}
		},
		"elsewhere": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Unknown >= 20 && w.Dropped == run.NSHDropped{Unknown: w.Dropped.Unknown}
		},
		"ahead": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Unknown >= 20 && w.Dropped == run.NSHDropped{Unknown: w.Dropped.Unknown}
		},
		"plain": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Plain >= 20 && w.Dropped == run.NSHDropped{Plain: w.Dropped.Plain}
		},
		"cut": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Malformed >= 20 && w.Dropped == run.NSHDropped{Malformed: w.Dropped.Malformed}
		},
		"ip": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Malformed >= 20 && w.Dropped == run.NSHDropped{Malformed: w.Dropped.Malformed}
		},
		"future": func(w run.NSHWay, came int) bool {
			return came == 0 && w.Dropped.Malformed >= 20 && w.Dropped == run.NSHDropped{Malformed: w.Dropped.Malformed}
		},
	} {
		t.Run(way, func(t *testing.T) {
			b := newWhole(t, way)
			b.up(run.UpOptions{Wait: true})
			k := b.talk("forward", 0)
			defer k.close()
			early := b.nsh().Forward.Given // the kernel may have said something of its own before anybody listened
			k.send(0, 20)
			var w run.NSHWay
			b.until("each frame that was given came back or was dropped", func() bool {
				w = b.nsh().Forward
				d := w.Dropped
				returned := w.Back + d.Plain + d.Malformed + d.Unknown + d.Expired
				return w.Given >= 20+early && returned >= w.Given-early && returned <= w.Given
			})
			came, buffer := 0, make([]byte, 2048)
			comes := func() bool {
				_ = k.to.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
				_, err := k.to.Read(buffer)
				return err == nil
			}
			for deadline := time.Now().Add(time.Minute); !is(w, came) && time.Now().Before(deadline); {
				if comes() { // what came back may be on its way yet
					came++
				}
			}
			for comes() { // and is not to
				came++
			}
			if !is(w, came) {
				t.Errorf("%d came, %+v", came, w)
			}
		})
	}
}

// TestWholeFramesOfStreams: super-packets are cut up before they get a header, with checksums that
// whoever takes it off need not know of; jumbo frames too.
func TestWholeFramesOfStreams(t *testing.T) {
	for _, mtu := range []string{"1500", "9000"} {
		t.Run(mtu, func(t *testing.T) {
			nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFXDP)
			b := newBed(t, "wiring: ebpf\nmtu: "+mtu+"\nfunctions:\n- "+relaying(t, "proper")+"\n")
			b.up(run.UpOptions{Wait: true})
			const size = 8 << 20
			for family := range 2 {
				if n := b.stream(family, size); n != size {
					t.Errorf("family %d: of %d bytes %d came", family, size, n)
				}
			}
			if w := b.nsh().Forward; w.Given < 2*size/9000 || w.Dropped != (run.NSHDropped{}) {
				t.Errorf("%+v", w)
			}
		})
	}
}

// stream bytes of TCP from client to server, and tell how many come.
func (b *bed) stream(family int, size int64) int64 {
	b.Helper()
	e := b.ends("forward", family)
	var listener *net.TCPListener
	var from net.Conn
	err := netns.Do(e.toNetns, func() (err error) {
		listener, err = net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(e.address, 0)))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	err = netns.Do(e.fromNetns, func() (err error) {
		from, err = net.DialTimeout("tcp", listener.Addr().String(), time.Minute)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		_, _ = io.CopyN(from, zeros{}, size)
		_ = from.Close()
	}()
	to, err := listener.Accept()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = to.Close() }()
	_ = to.SetReadDeadline(time.Now().Add(5 * time.Minute))
	n, err := io.Copy(io.Discard, to)
	if err != nil {
		b.Error(err)
	}
	return n
}

// zeros without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// TestTraceOfWholeFrames sees packets come to the function behind their header.
func TestTraceOfWholeFrames(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newWhole(t, "proper")
	b.up(run.UpOptions{Wait: true})
	r := b.traced(100)
	for again := 0; r.Own.Received < 100 && again < 5; again++ { // another test may flood this machine
		r = b.traced(100)
	}
	if c := *r.Own; c.Received != 100 || c.Unexplained != 0 {
		t.Errorf("%+v", c)
	}
	if h := r.Hops[2]; h.Name != "relay" || h.OwnIn.Packets != 100 || h.OwnOut.Packets != 100 {
		t.Errorf("%+v", h)
	}
}

// TestExplainWholeFrames: a flow is followed through a function that gets frames whole, whatever its protocol,
// and where that gives nothing back, it is where the flow was seen last.
func TestExplainWholeFrames(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newWhole(t, "proper")
	b.up(run.UpOptions{Wait: true})
	for _, c := range [][3]string{{"udp", "client", "server:9"}, {"tcp", "server", "client:9"}, {"icmp", "client", "server"}} {
		e := b.explained(c[0], c[1], c[2])
		for i, h := range e.Hops {
			if h.Kind != "wiring" && (i > 0 && h.In != e.Sent || i < 4 && h.Out != e.Sent) {
				t.Errorf("%s: %s got %d and sent %d of %d; %s", c[0], h.Name, h.In, h.Out, e.Sent, e.Verdict)
			}
		}
	}
}

// TestExplainWholeFramesThatEnd tells where, and that the header is why.
func TestExplainWholeFramesThatEnd(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newWhole(t, "looping")
	b.up(run.UpOptions{Wait: true})
	e := b.explained("udp", "client", "server:9")
	text := strings.Join(e.Reasons, "\n")
	if !strings.Contains(e.Verdict, "relay is where it was seen last") || !strings.Contains(text, "service index") {
		t.Errorf("%s\n%s", e.Verdict, text)
	}
}

// TestWholeFramesAreCaptured behind their headers, of those that fit by what is behind them.
func TestWholeFramesAreCaptured(t *testing.T) {
	b := newWhole(t, "proper")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	c, err := run.Captured(p, "relay")
	if err != nil {
		t.Fatal(err)
	}
	const many = 50
	done := make(chan struct{})
	// In and out of the function, each once.
	o := capture.Options{Filter: "udp and src host client", Snaplen: 200, Buffer: 8 << 20, Count: 2 * many, For: time.Minute, Ready: func() {
		go func() {
			defer close(done)
			b.numbered("forward", 0, many)
		}()
	}}
	var file bytes.Buffer
	r, err := capture.Run(t.Context(), c, o, &file)
	if err != nil {
		t.Fatal(err)
	}
	<-done
	if r.Packets != 2*many {
		t.Errorf("%+v", r)
	}
	for _, i := range r.Interfaces {
		if want := map[string]uint64{"forward": many}[i.Way]; i.Packets != want {
			t.Errorf("%s: %d packets, want %d", i.Name, i.Packets, want)
		}
	}
	for _, packet := range capturetest.Read(t, file.Bytes()).Packets {
		if kind := packet.Data[12:14]; !bytes.Equal(kind, []byte{0x89, 0x4f}) {
			t.Fatalf("a frame of type %x", kind)
		}
	}
}

// TestWholeFramesSurviveEdits: functions come and go before and behind one that gets frames whole,
// and it is told another index each time; no packet is lost.
func TestWholeFramesSurviveEdits(t *testing.T) {
	b := newWhole(t, "proper")
	b.up(run.UpOptions{Wait: true})
	k := b.talk("forward", 0)
	defer k.close()
	dropped := nstest.Dropped(t)
	stop, sent, got := make(chan struct{}), make(chan int, 1), make(chan int, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				sent <- n
				return
			case <-time.After(200 * time.Microsecond):
				k.send(n, 1)
			}
		}
	}()
	go func() { // as they come, because a socket does not hold all
		n := 0
		for buffer := make([]byte, 100); ; n++ {
			_ = k.to.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := k.to.Read(buffer); err != nil {
				got <- n
				return
			}
		}
	}()
	name := b.name()
	for i := range 6 {
		more := strings.Repeat("- {name: more, kind: forward}\n", i%2)
		behind := strings.Repeat("- {name: behind, kind: bridge}\n", i/2%2)
		b.chain = plantest.Chain(t, name, "wiring: ebpf\nebpf: {service_path: 77}\nfunctions:\n"+more+"- {name: a, kind: forward}\n- "+relaying(t, "proper")+"\n"+behind+"- {name: b, kind: forward}\n")
		if _, _, err := b.edit(t.Context(), run.UpOptions{Wait: true}); err != nil {
			t.Fatal(err)
		}
		if s := b.nsh(); int(s.Forward.Index) != 254-i%2 || int(s.Reverse.Index) != 254-i/2%2 {
			t.Errorf("after edit %d: %+v", i, s)
		}
	}
	close(stop)
	n, came := <-sent, <-got
	if lost := n - came; lost < 0 || uint64(lost) > nstest.Dropped(t)-dropped { // another test may flood this machine
		t.Errorf("of %d packets %d came", n, came)
	}
	if w := b.nsh().Forward; w.Dropped != (run.NSHDropped{}) {
		t.Errorf("%+v", w)
	}
}

// TestWholeFramesComeAndGo: a function that gets frames whole is put in and taken out while packets pass, and none is lost.
func TestWholeFramesComeAndGo(t *testing.T) {
	b := newWhole(t, "proper")
	with, name := b.chain, b.name()
	without := plantest.Chain(t, name, "wiring: ebpf\nebpf: {service_path: 77}\nfunctions:\n- {name: a, kind: forward}\n- {name: b, kind: forward}\n")
	b.up(run.UpOptions{Wait: true})
	dropped := nstest.Dropped(t)
	streams := []*numbers{b.stream4(0, webPort), b.stream4(1, webPort)}
	for range 2 {
		for _, chain := range []api.Chain{without, with} {
			b.chain = chain
			if _, _, err := b.edit(t.Context(), run.UpOptions{Wait: true}); err != nil {
				t.Fatal(err)
			}
			b.unchanged()
		}
	}
	lost := 0
	for _, s := range streams {
		s.stop()
	}
	for _, s := range streams {
		lost += <-s.sent - <-s.got
	}
	if lost < 0 || uint64(lost) > nstest.Dropped(t)-dropped { // another test may flood this machine
		t.Errorf("%d packets are lost", lost)
	}
}
