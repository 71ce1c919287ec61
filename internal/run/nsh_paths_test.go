package run_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/capture"
	"nfchain.dev/nfchain/internal/capture/capturetest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/trial"
)

const (
	webPort, farPort = 7000, 8000
	webRule          = "{name: web, match: {protocol: udp, destination_port: 7000-7099}, functions: [a, relay, b]}"
	farRule          = "{name: far, match: {protocol: udp, destination_port: 8000-8099}, functions: [b, relay]}"
	serviceBase      = "wiring: ebpf\nebpf: {service_path: 100}\n"
)

// pathsOf a function that relays and two others.
func pathsOf(relay, otherwise string, rules ...string) string {
	return "functions:\n- {name: a, kind: forward}\n- " + relay + "\n- {name: b, kind: forward}\nclassifier: {otherwise: " + otherwise + ", rules: [" + strings.Join(rules, ", ") + "]}\n"
}

func newHeaded(t *testing.T, spec string) *bed {
	t.Helper()
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFXDP)
	b := newBed(t, spec)
	b.up(run.UpOptions{Wait: true})
	return b
}

// planned is the chain as it is wanted.
func (b *bed) planned() *plan.Plan {
	b.Helper()
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// captured are so many frames at the relay that fit a filter, of what happens meanwhile.
func (b *bed) captured(expression string, count uint64, meanwhile func()) []capturetest.Packet {
	b.Helper()
	return b.capturedAt("relay", expression, count, meanwhile)
}

func (b *bed) capturedAt(hop, expression string, count uint64, meanwhile func()) []capturetest.Packet {
	b.Helper()
	return b.capturedUntil(b.Context(), hop, expression, count, meanwhile)
}

// capturedUntil a context ends, if not all have come by then.
func (b *bed) capturedUntil(ctx context.Context, hop, expression string, count uint64, meanwhile func()) []capturetest.Packet {
	b.Helper()
	c, err := run.Captured(b.planned(), hop)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	var file bytes.Buffer
	o := capture.Options{Filter: expression, Snaplen: 200, Buffer: 8 << 20, Count: count, For: 5 * time.Minute, Ready: func() {
		go func() {
			defer close(done)
			meanwhile()
		}()
	}}
	if _, err := capture.Run(ctx, c, o, &file); err != nil {
		b.Fatal(err)
	}
	<-done
	return capturetest.Read(b, file.Bytes()).Packets
}

// hopAt is the place on a service path that a frame's header says.
func hopAt(frame []byte) nsh.Hop {
	word := binary.BigEndian.Uint32(frame[pathAt:])
	return nsh.Hop{Path: word >> 8, Index: uint8(word)}
}

// exchange packets: each is answered. Where one is lost while the kernel drops some, that is tried again.
func (b *bed) exchange(k *talk, n int) {
	b.Helper()
	for {
		dropped := nstest.Dropped(b)
		err := exchanges(k, n)
		if err == nil {
			return
		}
		if nstest.Dropped(b) == dropped {
			b.Error(err)
			return
		}
	}
}

// exchangedAt are the frames at a hop of a few packets to a port and their answers. Where one is lost while the kernel drops
// some, which another test may have it do, that is tried again.
func (b *bed) exchangedAt(hop string, k *talk, port uint16, n int) []capturetest.Packet {
	b.Helper()
	for {
		var lost error
		dropped := nstest.Dropped(b)
		ctx, cancel := context.WithCancel(b.Context())
		packets := b.capturedUntil(ctx, hop, fmt.Sprintf("udp port %d", port), uint64(4*n), func() {
			if lost = exchanges(k, n); lost != nil {
				cancel()
			}
		})
		if cancel(); lost == nil {
			return packets
		}
		if nstest.Dropped(b) == dropped {
			b.Fatal(lost)
		}
	}
}

// exchanges fail with the first packet that is not answered.
func exchanges(k *talk, n int) error {
	for i := range n {
		k.send(i, 1)
		buffer := make([]byte, 100)
		_ = k.to.SetReadDeadline(time.Now().Add(time.Minute))
		size, from, err := k.to.ReadFromUDPAddrPort(buffer)
		if err == nil {
			_, err = k.to.WriteToUDPAddrPort(buffer[:size], from)
		}
		_ = k.from.SetReadDeadline(time.Now().Add(time.Minute))
		if err == nil {
			size, err = k.from.Read(buffer)
		}
		if err != nil || size != 4 || binary.BigEndian.Uint32(buffer) != uint32(i) {
			return fmt.Errorf("packet %d: %d bytes: %w", i, size, cmp.Or(err, errors.New("of another")))
		}
	}
	return nil
}

// onPath is what a function reads on a path, by the plan.
func (b *bed) onPath(path string) plan.NSHPath {
	b.Helper()
	for _, n := range b.planned().Nodes {
		if n.NSH == nil {
			continue
		}
		for _, on := range n.NSH.Paths {
			if on.Path == path {
				return on
			}
		}
	}
	b.Fatalf("the function is on no path %q", path)
	return plan.NSHPath{}
}

// TestHeadersByPath: a function on several paths reads which one a frame is on, and at which place, there and back; each of
// them comes back and goes on.
func TestHeadersByPath(t *testing.T) {
	for _, options := range []string{"service_path: 100", "service_path: 100, hook: clsact"} {
		b := newHeaded(t, "wiring: ebpf\nebpf: {"+options+"}\n"+pathsOf(relaying(t, "proper"), "direct", webRule, farRule))
		b.unchanged()
		for family := range 2 {
			for path, port := range map[string]uint16{"a relay b": webPort, "b relay": farPort} {
				const many = 10
				on := b.onPath(path)
				k := b.talkTo("forward", family, port, 0)
				seen := map[string]int{}
				for _, packet := range b.exchangedAt("relay", k, port, many) {
					hop := hopAt(packet.Data)
					if !strings.Contains(packet.Comment, fmt.Sprintf("service path %d, index %d (%s)", hop.Path, hop.Index, strings.ReplaceAll(path, " ", " → "))) {
						t.Errorf("%q", packet.Comment)
					}
					seen[fmt.Sprint(packet.Interface, hop)]++
				}
				less := func(h nsh.Hop) nsh.Hop { return nsh.Hop{Path: h.Path, Index: h.Index - 1} }
				for _, want := range []string{
					fmt.Sprint("relay:eth0:in", on.Forward), fmt.Sprint("relay:eth1:out", less(on.Forward)), fmt.Sprint("relay:eth1:in", on.Reverse), fmt.Sprint("relay:eth0:out", less(on.Reverse)),
				} {
					if seen[want] != many {
						t.Errorf("path %s: %d of %d frames %s: %v", path, seen[want], many, want, seen)
					}
				}
				want := fmt.Sprintf(", on path %s (service path %d, and %d back)", strings.ReplaceAll(path, " ", " → "), on.Forward.Path, on.Reverse.Path)
				for _, packet := range b.exchangedAt("b", k, port, many) {
					if !strings.HasSuffix(packet.Comment, want) {
						t.Errorf("%q, want %q", packet.Comment, want)
					}
				}
				k.close()
			}
		}
		if one, other := b.onPath("a relay b"), b.onPath("b relay"); one.Forward.Path == other.Forward.Path || one.Forward.Index != 254 || one.Reverse.Index != 254 || other.Forward.Index != 254 || other.Reverse.Index != 255 {
			t.Errorf("%+v and %+v", one, other)
		}
		if s := b.nsh(); len(s.Paths) != 2 || s.Forward.Dropped != (run.NSHDropped{}) || s.Reverse.Dropped != (run.NSHDropped{}) {
			t.Errorf("%+v", s)
		}
		b.down()
	}
}

// TestHeaderFindsThePath of packets that a function has changed so that nobody knows their flow: they go on, and are
// answered, by the path that their header says.
func TestHeaderFindsThePath(t *testing.T) {
	relay := relaying(t, "shifted")
	b := newHeaded(t, serviceBase+pathsOf(relay, "direct", "{name: web, match: {protocol: udp, destination_port: 7000}, functions: [relay, a]}", "{name: far, match: {protocol: udp, destination_port: 8000}, functions: [relay, b]}"))
	for path, port := range map[string]uint16{"a": webPort, "b": farPort} {
		other := map[string]string{"a": "b", "b": "a"}[path]
		k := b.talkTo("forward", 0, port, 1)
		was, not := b.took(path), b.took(other)
		const many = 50
		b.exchange(k, many)
		if by, past := b.took(path)-was, b.took(other)-not; by < 2*many || past >= many {
			t.Errorf("to port %d: %d packets by %s, %d by %s", port, by, path, past, other)
		}
		k.close()
	}
	if s := b.nsh(); s.Forward.Dropped != (run.NSHDropped{}) || s.Reverse.Dropped != (run.NSHDropped{}) || s.Forward.Back < 100 || s.Reverse.Back < 100 {
		t.Errorf("%+v", s)
	}
}

// took is how many packets came to a function by both of its interfaces.
func (b *bed) took(function string) (n uint64) {
	b.Helper()
	p := b.planned()
	i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Name == function })
	h, err := netns.Open(p.Nodes[i].Namespace)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for _, at := range []*plan.Interface{p.Nodes[i].West, p.Nodes[i].East} {
		l, err := h.LinkByName(at.Device)
		if err != nil {
			b.Fatal(err)
		}
		n += l.Attrs().Statistics.RxPackets
	}
	return n
}

// TestHeadedPathsAreEdited while packets of two flows pass, of which each comes once: rules and functions come and go, and so
// does the classifier. A flow that stays on the path that it began on is behind that one's header.
func TestHeadedPathsAreEdited(t *testing.T) {
	for name, wiring := range map[string]string{"staying": serviceBase, "at once": "wiring: ebpf\nebpf: {service_path: 100, stay: false}\n", "clsact": "wiring: ebpf\nebpf: {service_path: 100, hook: clsact}\n"} {
		t.Run(name, func(t *testing.T) {
			relay := relaying(t, "proper")
			plain := "functions:\n- {name: a, kind: forward}\n- " + relay + "\n- {name: b, kind: forward}\n"
			b := newHeaded(t, wiring+pathsOf(relay, "direct", webRule))
			was := b.onPath("a relay b")
			dropped := nstest.Dropped(t)
			var streams []*numbers
			for family := range 2 {
				streams = append(streams, b.stream4(family, webPort))
			}
			owner := b.name()
			for i, spec := range []string{
				pathsOf(relay, "direct", farRule, webRule),
				pathsOf(relay, "direct", farRule, strings.Replace(webRule, "a, relay, b", "relay, b", 1)),
				pathsOf(relay, "chain", farRule),
				plain,
				strings.Replace(plain, "functions:\n", "functions:\n- {name: more, kind: forward}\n", 1),
				pathsOf(relay, "direct", webRule),
			} {
				b.chain = plantest.Chain(t, owner, wiring+spec)
				if _, _, err := b.edit(t.Context(), run.UpOptions{Wait: true}); err != nil {
					t.Fatal(err)
				}
				b.unchanged()
				if i != 1 {
					continue
				}
				want := b.onPath("relay b").Forward
				if name != "at once" {
					want = was.Forward
				}
				for _, packet := range b.captured(fmt.Sprintf("udp dst port %d", webPort), 50, func() {}) {
					if hop := hopAt(packet.Data); hop.Path != want.Path || hop.Index != want.Index && hop.Index != want.Index-1 {
						t.Fatalf("%s: %+v, want %+v", packet.Interface, hop, want)
					}
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
			if s := b.nsh(); s.Forward.Dropped != (run.NSHDropped{}) || s.Reverse.Dropped != (run.NSHDropped{}) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// numbers are packets on their way until they are stopped.
type numbers struct {
	stop      func()
	sent, got chan int
}

// stream4 packets to a port, some thousands a second, and count those that come.
func (b *bed) stream4(family int, port uint16) *numbers {
	b.Helper()
	k := b.talkTo("forward", family, port, 0)
	stopped := make(chan struct{})
	s := &numbers{sync.OnceFunc(func() { close(stopped) }), make(chan int, 1), make(chan int, 1)}
	var both sync.WaitGroup
	both.Add(2)
	b.Cleanup(func() { // also of a test that fails midway
		s.stop()
		_ = k.to.Close()
		both.Wait()
	})
	go func() {
		defer both.Done()
		for n := 0; ; n++ {
			select {
			case <-stopped:
				s.sent <- n
				return
			case <-time.After(200 * time.Microsecond):
				if _, err := k.from.Write(binary.BigEndian.AppendUint32(nil, uint32(n))); err != nil {
					b.Error(err)
				}
			}
		}
	}()
	go func() { // as they come, because a socket does not hold all
		defer both.Done()
		n, seen := 0, map[uint32]bool{}
		for buffer := make([]byte, 100); ; n++ {
			_ = k.to.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := k.to.Read(buffer); err != nil {
				s.got <- n
				return
			}
			if number := binary.BigEndian.Uint32(buffer); seen[number] {
				b.Errorf("packet %d came twice", number)
			} else {
				seen[number] = true
			}
		}
	}()
	return s
}

// TestHeadedPathsOfStreams: super-packets are cut up before they get a header, and the path that each says is that of the
// stream.
func TestHeadedPathsOfStreams(t *testing.T) {
	b := newHeaded(t, serviceBase+"mtu: 9000\n"+pathsOf(relaying(t, "proper"), "direct", "{name: pings, match: {protocol: icmp}, functions: [relay]}", "{name: streams, match: {protocol: tcp}, functions: [b, relay, a]}"))
	const size = 8 << 20
	for family := range 2 {
		if n := b.stream(family, size); n != size {
			t.Errorf("family %d: of %d bytes %d came", family, size, n)
		}
	}
	if w := b.nsh().Forward; w.Given < 2*size/9000 || w.Dropped != (run.NSHDropped{}) {
		t.Errorf("%+v", w)
	}
}

// TestHeadedPathsKeepTags of VLANs, one and two: what says the path goes, and what was in the frame stays.
func TestHeadedPathsKeepTags(t *testing.T) {
	b := newHeaded(t, serviceBase+"functions:\n- "+relaying(t, "proper")+"\n- {name: b, kind: bridge}\nclassifier: {otherwise: chain, rules: [{name: vlan, match: {vlan: 100}, functions: [relay]}]}\n")
	inner, port := []byte{0x81, 0, 0xff, 7}, byte(0) // as a port would write it
	for path, tags := range map[string][]byte{"relay": {0x81, 0, 0, 100}, "relay b": {0x81, 0, 0xff, 8}} {
		for _, more := range [][]byte{nil, inner} {
			port++ // another flow
			frame := b.framed(port, tags, more)
			frame = append(frame, make([]byte, 14+1500+4-len(frame))...) // as long as a tagged one may be, in which a packet may be shorter
			const many = 20
			on, seen, back := b.onPath(path), 0, 0
			for _, packet := range b.captured("", 5*many, func() { b.raw(frame, 4*many) }) {
				if !bytes.HasPrefix(frame, packet.Data[nsh.Length:]) || packet.Length != nsh.Length+len(frame) {
					continue // what the kernel says of its own
				}
				if hop := hopAt(packet.Data); hop.Path != on.Forward.Path || hop.Index != on.Forward.Index && hop.Index != on.Forward.Index-1 {
					t.Errorf("%s: %+v, want %+v", packet.Interface, hop, on.Forward)
				}
				seen++
				if hopAt(packet.Data).Index == on.Forward.Index-1 {
					back++
				}
			}
			if seen < many/2 || back == 0 {
				t.Errorf("tags %x%x: %d frames are as they were sent, and %d of these come back", tags, more, seen, back)
			}
		}
	}
	if s := b.nsh(); s.Forward.Dropped != (run.NSHDropped{}) {
		t.Errorf("%+v", s)
	}
}

// framed is a datagram from a port of the first end's to the last, behind tags.
func (b *bed) framed(port byte, tags ...[]byte) []byte {
	b.Helper()
	p := b.planned()
	to, err := net.ParseMAC(p.Server().West.MAC)
	if err != nil {
		b.Fatal(err)
	}
	from, err := net.ParseMAC(p.Client().East.MAC)
	if err != nil {
		b.Fatal(err)
	}
	ip := []byte{0x45, 0, 0, 36, 0, 0, 0, 0, 64, 17, 0xf6, 0xc2, 192, 0, 2, 1, 192, 0, 2, 2, 0x1b, port, 0x1b, 0x58, 0, 16, 0, 0, 't', 'a', 'g', 'g', 'e', 'd', '!', '!'}
	return slices.Concat(to, from, slices.Concat(tags...), []byte{8, 0}, ip)
}

// TestTagsAreTheirSendersAgain when a function that was on several paths is on one: a tag like those by which ports said
// which is left in the frame.
func TestTagsAreTheirSendersAgain(t *testing.T) {
	spec := serviceBase + "functions:\n- " + relaying(t, "proper") + "\n- {name: b, kind: bridge}\n"
	b := newHeaded(t, spec+"classifier: {otherwise: chain, rules: [{name: vlan, match: {vlan: 100}, functions: [relay]}]}\n")
	b.chain = plantest.Chain(t, b.name(), spec)
	b.up(run.UpOptions{Wait: true})
	b.unchanged()
	frame := b.framed(1, []byte{0x81, 0, 0xff, 7})
	const many = 20
	seen := 0
	for _, packet := range b.captured("", 5*many, func() { b.raw(frame, 4*many) }) {
		if bytes.Equal(packet.Data[nsh.Length:], frame) {
			seen++
		}
	}
	if seen < many/2 {
		t.Errorf("%d of %d frames are as they were sent", seen, many)
	}
}

// raw sends a frame as it is from the first end, so many times.
func (b *bed) raw(frame []byte, many int) {
	err := netns.Do(b.planned().Client().Namespace, func() error {
		at, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		for range many {
			if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: at.Index}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Error(err)
	}
}

// TestHeadedPathsAreExplained, with what headers call them.
func TestHeadedPathsAreExplained(t *testing.T) {
	nstest.Require(t, feature.BPFTrace)
	b := newHeaded(t, serviceBase+pathsOf(relaying(t, "proper"), "direct", webRule, farRule))
	for _, c := range []struct{ from, to, path, rule string }{{"client", "server:7000", "a relay b", "web"}, {"client", "server:8001", "b relay", "far"}, {"server", "client:7009", "a relay b", "web"}, {"client", "server:9", "", ""}} {
		e := b.explained("udp", c.from, c.to)
		for range 20 { // what tells of packets may lose some on a busy machine
			if len(miscounted(e)) == 0 {
				break
			}
			e = b.explained("udp", c.from, c.to)
		}
		want := "path: direct, by no rule"
		if c.path != "" {
			spi := b.onPath(c.path).Forward.Path
			want = fmt.Sprintf("path: %s (service path %d, and %d back), by rule %s", strings.ReplaceAll(c.path, " ", " → "), spi, spi+nsh.Back, c.rule)
		}
		if !strings.HasPrefix(e.Path, want) {
			t.Errorf("%q, want %q", e.Path, want)
		}
		for _, wrong := range miscounted(e) {
			t.Errorf("%s to %s: %s; %s", c.from, c.to, wrong, e.Verdict)
		}
	}
}

// miscounted are functions that did not get and send as many packets as were sent.
func miscounted(e trace.Explanation) (wrong []string) {
	for _, h := range e.Hops {
		if h.Kind != "wiring" && h.Kind != "endpoint" && (h.In != e.Sent || h.Out != e.Sent) {
			wrong = append(wrong, fmt.Sprintf("%s got %d and sent %d of %d", h.Name, h.In, h.Out, e.Sent))
		}
	}
	return wrong
}

// TestHeadedPathsAreMeasured: the path is proven, of a function with replicas too.
func TestHeadedPathsAreMeasured(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFXDP)
	relay := strings.Replace(relaying(t, "proper"), "kind: command", "kind: command, replicas: 2", 1)
	b := newBed(t, serviceBase+pathsOf(relay, "direct", "{name: load, match: {protocol: \"udp\"}, functions: [b, relay, a]}", "{name: streams, match: {protocol: tcp}, functions: [relay]}"))
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestHeadedPathsAreLedPast a function that gives nothing back any more, on each path to what is behind it there; it was well
// before, by probes that no port says a path of.
func TestHeadedPathsAreLedPast(t *testing.T) {
	relay := strings.Replace(relaying(t, "proper"), "kind: command", "kind: command, onFailure: bypass", 1)
	b := newHeaded(t, serviceBase+pathsOf(relay, "direct", webRule, farRule))
	b.until("the function is known to be well", func() bool {
		_, all, err := process.OnWatch(b.name())
		return err == nil && slices.ContainsFunc(all, func(w process.Health) bool {
			return w.Node == "relay" && w.State == process.Healthy && len(w.Proven) == 2
		})
	})
	programs, err := process.Find(b.name())
	if err != nil || len(programs) != 1 {
		t.Fatal(programs, err)
	}
	if err := syscall.Kill(programs[0].PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for _, port := range []uint16{webPort, farPort} {
		k := b.talkTo("forward", 0, port, 0)
		b.until(fmt.Sprintf("packets to port %d come past the function", port), func() bool {
			k.send(0, 1)
			_ = k.to.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			_, err := k.to.Read(make([]byte, 100))
			return err == nil
		})
		k.close()
	}
	if err := syscall.Kill(programs[0].PID, syscall.SIGCONT); err != nil && !errors.Is(err, syscall.ESRCH) { // one that hangs is killed in a while
		t.Fatal(err)
	}
}
