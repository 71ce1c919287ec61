package run_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/capture/capturetest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/nsh"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// The marks of what goes by the side, and of what goes past all but the last function.
const (
	sideMark, pastMark = farPort / 100, 90
	pastPort           = 100 * pastMark
)

// headedNode is a function that gets headers, with more in its line of the file.
func headedNode(t *testing.T, name, way, more string) string {
	t.Helper()
	return "- " + strings.NewReplacer("name: relay", "name: "+name, "kind: command", "kind: command"+more).Replace(relaying(t, way)) + "\n"
}

// headedWays are of functions that get headers where ways part, on each way, and where they come together.
func headedWays(t *testing.T, more string) string {
	t.Helper()
	return "functions:\n- {name: a, kind: forward}\n" + headedNode(t, "parts", marking, ", branches: [{mark: 80, to: side}, {mark: 90, to: out}]") + headedNode(t, "plain", "proper", ", next: joins") +
		headedNode(t, "side", "proper", more) + "- {name: more, kind: bridge}\n" + headedNode(t, "joins", "proper", "") + "- {name: out, kind: forward}\n"
}

// placed is where frames are at a function, and what it is called there.
type placed struct {
	forward, reverse uint8
	aside            bool
}

// headedAt are the places of those functions on their service paths.
var headedAt = map[string]placed{"parts": {254, 252, false}, "plain": {253, 253, false}, "side": {255, 254, true}, "joins": {252, 254, false}}

// wayOf a function, on the way there and back, by the plan.
func (b *bed) wayOf(function string) *plan.NSH {
	b.Helper()
	p := b.planned()
	i := slices.IndexFunc(p.Nodes, func(n plan.Node) bool { return n.Function() == function })
	if i < 0 || p.Nodes[i].NSH == nil {
		b.Fatalf("%s gets no headers", function)
	}
	return p.Nodes[i].NSH
}

// hopsSeen are how many frames of what fits a filter were at a function's interfaces, by these and their headers, while so many were
// to come.
func (b *bed) hopsSeen(function, expression string, many uint64, meanwhile func()) map[string]int {
	b.Helper()
	return b.hopsOf(function, b.capturedAt(function, expression, many, meanwhile))
}

// hopsOf are how many frames were at a function's interfaces, by these and their headers.
func (b *bed) hopsOf(function string, packets []capturetest.Packet) map[string]int {
	b.Helper()
	seen := map[string]int{}
	for _, packet := range packets {
		hop := hopAt(packet.Data)
		want := fmt.Sprintf("service path %d, index %d (", hop.Path, hop.Index)
		if b.chain.Spec.Classifier == nil { // else it is one path of several
			want += b.wayOf(function).Way + ")"
		}
		if !strings.Contains(packet.Comment, want) {
			b.Errorf("%q, want %q", packet.Comment, want)
		}
		seen[fmt.Sprint(packet.Interface, hop)]++
	}
	return seen
}

func lower(h nsh.Hop) nsh.Hop { return nsh.Hop{Path: h.Path, Index: h.Index - 1} }

// dropsNone of the frames at functions that get headers.
func (b *bed) dropsNone() {
	b.Helper()
	s, err := run.Inspect(b.Context(), b.planned())
	if err != nil {
		b.Fatal(err)
	}
	told := 0
	for _, n := range s.Nodes {
		if n.NSH == nil {
			continue
		}
		if told++; n.NSH.Forward.Dropped != (run.NSHDropped{}) || n.NSH.Reverse.Dropped != (run.NSHDropped{}) {
			b.Errorf("%s: %+v", n.Name, n.NSH)
		}
	}
	if told == 0 {
		b.Error("no function gets headers")
	}
}

// TestHeadedWays: functions where ways part, on each of them and where they come together read which service path frames are on and at
// which place, there and back, and one of them says by marks which way they go.
func TestHeadedWays(t *testing.T) {
	for _, options := range []string{"service_path: 100", "service_path: 100, hook: clsact"} {
		b := newHeaded(t, "wiring: ebpf\nebpf: {"+options+"}\n"+headedWays(t, ""))
		b.unchanged()
		side := b.wayOf("side")
		for function, at := range headedAt {
			path := uint32(100)
			if at.aside {
				path = side.Forward.Path
			}
			want := plan.NSH{Forward: nsh.Hop{Path: path, Index: at.forward}, Reverse: nsh.Hop{Path: path | nsh.Back, Index: at.reverse}, Way: map[bool]string{false: "a → parts → plain → joins → out", true: "side → more"}[at.aside]}
			if got := b.wayOf(function); got.Forward != want.Forward || got.Reverse != want.Reverse || got.Way != want.Way || path <= 100 == at.aside {
				t.Errorf("%s: %+v, want %+v", function, got, want)
			}
		}
		const many = 10
		for family := range 2 {
			for port, way := range map[uint16][]string{webPort: {"parts", "plain", "joins"}, farPort: {"parts", "side", "joins"}, pastPort: {"parts"}} {
				k := b.talkTo("forward", family, port, 0)
				b.exchange(k, many) // the ports know then which way the flow comes
				missed := map[string]uint64{}
				for function := range headedAt {
					if !slices.Contains(way, function) {
						missed[function] = b.took(function)
					}
				}
				for _, function := range way {
					at := b.wayOf(function)
					seen := b.hopsOf(function, b.exchangedAt(function, k, port, many))
					for _, want := range []string{
						fmt.Sprint(function, ":eth0:in", at.Forward), fmt.Sprint(function, ":eth1:out", lower(at.Forward)), fmt.Sprint(function, ":eth1:in", at.Reverse), fmt.Sprint(function, ":eth0:out", lower(at.Reverse)),
					} {
						if seen[want] != many {
							t.Errorf("port %d, family %d: %d of %d frames %s: %v", port, family, seen[want], many, want, seen)
						}
					}
				}
				for function, was := range missed { // what the kernel says of its own comes by the planned way too
					if now := b.took(function); now-was >= 2*many {
						t.Errorf("port %d, family %d: %d packets came to %s, which is not on the way %v", port, family, now-was, function, way)
					}
				}
				k.close()
			}
		}
		b.dropsNone()
		b.down()
	}
}

// otherPort is that of flows which a classifier has go past branches, and besideWays such a classifier.
const (
	otherPort  = 8200
	besideWays = "classifier: {otherwise: direct, rules: [{name: other, priority: 5, match: {protocol: udp, destination_port: 8200-8299}, functions: [joins, side]}, {name: marked, match: {protocol: udp}, functions: [a, parts, plain, side, more, joins, out]}]}\n"
)

// TestHeadedWaysBesidePaths of a classifier: functions read on which of both a frame is, and where, and what comes back goes on by that.
func TestHeadedWaysBesidePaths(t *testing.T) {
	for _, options := range []string{"service_path: 100", "service_path: 100, hook: clsact"} {
		b := newHeaded(t, "wiring: ebpf\nebpf: {"+options+"}\n"+headedWays(t, "")+besideWays)
		b.unchanged()
		const many = 10
		for family := range 2 {
			for port, way := range map[uint16][]string{webPort: {"parts", "plain", "joins"}, farPort: {"parts", "side", "joins"}, otherPort: {"joins", "side"}} {
				k := b.talkTo("forward", family, port, 0)
				b.exchange(k, many) // the ports know then which way the flow comes
				for _, function := range way {
					paths := b.wayOf(function).Paths
					i := slices.IndexFunc(paths, func(p plan.NSHPath) bool { return (p.Path == "joins side") == (port == otherPort) })
					at := paths[i]
					seen := b.hopsOf(function, b.exchangedAt(function, k, port, many))
					for _, want := range []string{
						fmt.Sprint(function, ":eth0:in", at.Forward), fmt.Sprint(function, ":eth1:out", lower(at.Forward)), fmt.Sprint(function, ":eth1:in", at.Reverse), fmt.Sprint(function, ":eth0:out", lower(at.Reverse)),
					} {
						if seen[want] != many {
							t.Errorf("port %d, family %d: %d of %d frames %s: %v", port, family, seen[want], many, want, seen)
						}
					}
				}
				k.close()
			}
		}
		if aside, planned := b.wayOf("side").Forward.Path, b.wayOf("joins").Forward.Path; aside == planned {
			t.Errorf("both ways are called %d", aside)
		}
		b.dropsNone()
		b.down()
	}
}

// TestHeadedWaysGetPaths of a classifier, others, and none any more, while packets of three flows pass, of which each comes once.
func TestHeadedWaysGetPaths(t *testing.T) {
	ways := headedWays(t, "")
	b := newHeaded(t, serviceBase+ways)
	dropped, owner := nstest.Dropped(t), b.name()
	var streams []*numbers
	for i, port := range []uint16{webPort, farPort, otherPort} {
		streams = append(streams, b.stream4(i%2, port))
	}
	for _, paths := range []string{besideWays, strings.Replace(besideWays, "[joins, side]", "[side]", 1), strings.Replace(besideWays, "direct", "chain", 1), ""} {
		b.chain = plantest.Chain(t, owner, serviceBase+ways+paths)
		if _, _, err := b.edit(t.Context(), run.UpOptions{Wait: true}); err != nil {
			t.Fatal(err)
		}
		b.unchanged()
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
	b.dropsNone()
}

// TestErrorsOnHeadedWays: what ICMP says of a packet goes back by the way on which that came, behind its headers.
func TestErrorsOnHeadedWays(t *testing.T) {
	b := newHeaded(t, serviceBase+headedWays(t, ""))
	for family, filter := range map[int]string{0: "icmp", 1: "icmp6 and host client"} {
		k := b.talkTo("forward", family, farPort, 0)
		_ = k.to.Close() // nobody listens there any more
		at := b.wayOf("side")
		const many = 5
		seen := b.hopsSeen("side", filter, 2*many, func() {
			for refused := 0; refused < many; {
				k.send(refused, 1)
				_ = k.from.SetReadDeadline(time.Now().Add(5 * time.Second)) // kernels do not say it of all
				if _, err := k.from.Read(make([]byte, 100)); errors.Is(err, syscall.ECONNREFUSED) {
					refused++
				}
			}
		})
		if in, out := seen[fmt.Sprint("side:eth1:in", at.Reverse)], seen[fmt.Sprint("side:eth0:out", lower(at.Reverse))]; in < many-1 || out < many-1 || in+out != 2*many {
			t.Errorf("family %d: %v", family, seen)
		}
		k.close()
	}
	b.dropsNone()
}

// TestHeadedWaysAreEdited while packets of three flows pass, of which each comes once: ways come and go, and functions on them and
// before them, and functions come to be on others.
func TestHeadedWaysAreEdited(t *testing.T) {
	for _, hook := range []string{"tcx", "clsact"} {
		t.Run(hook, func(t *testing.T) {
			if hook == "tcx" {
				nstest.Require(t, feature.BPFTCX)
			}
			wiring := "wiring: ebpf\nebpf: {service_path: 100, hook: " + hook + "}\n"
			b := newHeaded(t, wiring+headedWays(t, ""))
			dropped := nstest.Dropped(t)
			var streams []*numbers
			for family, port := range []uint16{webPort, farPort} {
				streams = append(streams, b.stream4(family, port), b.stream4(1-family, port))
			}
			owner := b.name()
			parts := func(more string) string { return "functions:\n" + headedNode(t, "parts", marking, more) }
			side, joins := headedNode(t, "side", "proper", ""), headedNode(t, "joins", "proper", "")
			const toSide, toSooner = ", branches: [{mark: 80, to: side}]", ", branches: [{mark: 80, to: sooner}]"
			const other, sooner, out = "- {name: other, kind: forward, next: joins}\n", "- {name: sooner, kind: forward}\n", "- {name: out, kind: forward}\n"
			for _, c := range []struct {
				functions string
				index     uint8 // that it has on its way, where the side is
				planned   bool  // and on the planned one
			}{
				{strings.Replace(parts(toSide)+other+side+joins+out, "functions:\n", "functions:\n- {name: before, kind: bridge}\n", 1), 255, false},
				{parts(toSooner) + other + sooner + side + joins, 254, false},
				{parts("") + side + joins + out, 254, true},
				{parts(toSooner+", next: joins") + sooner + side + joins, 254, false},
				{parts(toSide) + other + side + joins, 255, false},
			} {
				b.chain = plantest.Chain(t, owner, wiring+c.functions)
				if _, _, err := b.edit(t.Context(), run.UpOptions{Wait: true}); err != nil {
					t.Fatal(err)
				}
				b.unchanged()
				at := b.wayOf("side").Forward
				if at.Index != c.index || (at.Path == 100) != c.planned {
					t.Errorf("%s: %+v", c.functions, at)
				}
				// What waited in the function's program leaves it by the interface that it is to leave by as it came.
				for turned, ends := map[string]bool{}, time.Now().Add(time.Minute); len(turned) < 2; {
					for _, packet := range b.capturedAt("side", fmt.Sprintf("udp dst port %d", farPort), 50, func() {}) {
						if hop := hopAt(packet.Data); hop == at || hop == lower(at) {
							turned[packet.Interface] = true
						} else if turned[packet.Interface] || time.Now().After(ends) {
							t.Fatalf("%s: %+v, want %+v", packet.Interface, hop, at)
						}
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
			b.dropsNone()
		})
	}
}

// TestStreamsOnHeadedWays: super-packets are cut up before they get a header, and go where the mark of each frame says.
func TestStreamsOnHeadedWays(t *testing.T) {
	b := newHeaded(t, serviceBase+headedWays(t, ", replicas: 2"))
	const size = 8 << 20
	for family := range 2 {
		if n := b.stream(family, size); n != size {
			t.Errorf("family %d: of %d bytes %d came", family, size, n)
		}
	}
	s, err := run.Inspect(t.Context(), b.planned())
	if err != nil {
		t.Fatal(err)
	}
	given := map[string]uint64{}
	for _, n := range s.Nodes {
		if n.NSH != nil {
			function, _, _ := strings.Cut(n.Name, "-") // and not the replica
			given[function] += n.NSH.Forward.Given
		}
	}
	if least := uint64(2 * size / 1500); given["side"] < least || given["joins"] < least || given["plain"] >= least {
		t.Errorf("%v", given)
	}
	b.dropsNone()
}

// TestHeadedWaysAreMeasured: whichever way the load goes is proven, of functions with replicas too.
func TestHeadedWaysAreMeasured(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.BPFXDP)
	b := newBed(t, serviceBase+headedWays(t, ", replicas: 2"))
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

// TestHeadedWaysAreLedPast a function that gives nothing back any more, on its way and where ways come together; when it does again,
// packets go by it, behind the headers that they had.
func TestHeadedWaysAreLedPast(t *testing.T) {
	for _, function := range []string{"side", "joins"} {
		t.Run(function, func(t *testing.T) {
			spec := strings.Replace(headedWays(t, ""), "name: "+function+",", "name: "+function+", onFailure: bypass,", 1)
			b := newHeaded(t, serviceBase+spec)
			k := b.talkTo("forward", 0, farPort, 0)
			b.exchange(k, 10)
			well := func() (pid int, is bool) {
				_, all, err := process.OnWatch(b.name())
				if err != nil || !slices.ContainsFunc(all, func(w process.Health) bool {
					return w.Node == function && w.State == process.Healthy && len(w.Proven) == 2
				}) {
					return 0, false
				}
				programs, err := process.Find(b.name())
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range programs {
					if f.Node == function {
						return f.PID, true
					}
				}
				return 0, false
			}
			var pid int
			b.until(function+" is known to be well", func() (is bool) { pid, is = well(); return is })
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			b.until("packets come and are answered, past it or by one begun anew", func() bool {
				k.send(0, 1)
				_ = k.to.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				_, from, err := k.to.ReadFromUDPAddrPort(make([]byte, 100))
				if err == nil {
					_, err = k.to.WriteToUDPAddrPort([]byte{1}, from)
				}
				_ = k.from.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
				if err == nil {
					_, err = k.from.Read(make([]byte, 100))
				}
				return err == nil
			})
			b.until(function+" is well again", func() bool { again, is := well(); return is && again != pid })
			k.close()
			k = b.talkTo("forward", 0, farPort, 0)
			defer k.close()
			at := b.wayOf(function)
			const many = 10
			seen := b.hopsSeen(function, fmt.Sprintf("udp port %d", farPort), 4*many, func() {
				for range 10 * many { // packets may go past it for a moment
					b.exchange(k, many)
					time.Sleep(10 * time.Millisecond)
				}
			})
			for _, want := range []string{fmt.Sprint(function, ":eth0:in", at.Forward), fmt.Sprint(function, ":eth1:out", lower(at.Forward)), fmt.Sprint(function, ":eth1:in", at.Reverse), fmt.Sprint(function, ":eth0:out", lower(at.Reverse))} {
				if seen[want] == 0 || len(seen) != 4 {
					t.Errorf("no frame %s: %v", want, seen)
				}
			}
		})
	}
}
