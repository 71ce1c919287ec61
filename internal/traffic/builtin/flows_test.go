package builtin

import (
	"context"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// conditionOf frames at a rate.
func conditionOf(pps float64) trial.Condition { return trial.Condition{OfferedPps: pps} }

// wireFlows is how many flows of each rule are looked at.
const wireFlows = 1000

// TestFlowsDifferOnTheWire has a router show what the flows of each rule differ in, and that
// their checksums are right.
func TestFlowsDifferOnTheWire(t *testing.T) {
	for _, version := range []int{4, 6} {
		for rule, differ := range map[string][2]int{"": {1, wireFlows}, trial.FlowsByAddresses: {wireFlows, 1}, trial.FlowsByBoth: {wireFlows, wireFlows}} {
			r := newRouted(t, trial.Condition{OfferedPps: wireFlows, DurationS: 2, Flows: wireFlows, Frames: trial.Frames{IPVersion: version, FlowsBy: rule, FrameSize: 128}})
			r.SpareEast = spares(version, 6)
			r.routeSpares(t)
			heard := listen(t, r)
			s := r.whole(t)
			o := raw(t, s)
			if o.Received != o.Sent || s.Metrics["silent_flows"] != 0 || s.Metrics["flow_loss_max_ratio"] != 0 {
				t.Errorf("IPv%d by %q: %d of %d came: %v", version, rule, o.Received, o.Sent, s.Metrics)
			}
			sources, targets, ports := distinct(t, heard())
			wantTargets := 1
			if rule != "" {
				wantTargets = 4 // the end's own and three of six, so that it is a power of two
			}
			if sources != differ[0] || ports != differ[1] || targets != wantTargets {
				t.Errorf("IPv%d by %q: %d sources, %d targets, %d ports; want %v, %d", version, rule, sources, targets, ports, differ, wantTargets)
			}
		}
	}
}

// spares are addresses behind the router, near that of the server.
func spares(version, n int) (list []netip.Addr) {
	a := netip.MustParseAddr(map[int]string{4: "198.51.100.16", 6: "2001:db8:2::16"}[version])
	for ; len(list) < n; a = a.Next() {
		list = append(list, a)
	}
	return list
}

// distinct sources, targets and source ports of frames, whose checksums are looked at.
func distinct(t *testing.T, frames [][]byte) (sources, targets, ports int) {
	t.Helper()
	seen := [3]map[string]bool{{}, {}, {}}
	for _, f := range frames {
		if got := checksum(f); got != 0xffff {
			t.Fatalf("the checksum adds up to %#x in % x", got, f)
		}
		from, to, udp := f[26:30], f[30:34], f[34:]
		if binary.BigEndian.Uint16(f[12:]) != 0x0800 {
			from, to, udp = f[22:38], f[38:54], f[54:]
		}
		for i, part := range [][]byte{from, to, udp[:2]} {
			seen[i][string(part)] = true
		}
	}
	return len(seen[0]), len(seen[1]), len(seen[2])
}

// TestFlowLosses has a router that lets one flow in eight not pass, and another only now
// and then.
func TestFlowLosses(t *testing.T) {
	r := newRouted(t, trial.Condition{OfferedPps: 800, Flows: 8})
	r.rules(t, `table ip lossy { chain forward { type filter hook forward priority 0
		udp sport 20003 drop
		udp sport 20005 numgen inc mod 4 == 0 drop
}
}`)
	s := r.run(t)
	o := raw(t, s)
	m, want := s.Metrics, o.Sent-sentOf(o.Sent, 3, 8)-(sentOf(o.Sent, 5, 8)+3)/4
	if m["silent_flows"] != 1 || m["flow_loss_max_ratio"] != 1 || m["flow_loss_min_ratio"] != 0 || o.Received != want || !warned(s, "of 1 flow of 8 nothing came") {
		t.Errorf("%d came: %v, %q", o.Received, m, s.Warnings)
	}
}

// TestCountsByFlow has both sinks tell flows apart by the numbers of packets, lost, swapped,
// doubled, and beyond 32 bits.
func TestCountsByFlow(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFXDP)
	const flows = 7
	for _, numbers := range [][]uint32{
		{0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 2, 1, 1, 9, 30, 29, 31, 32}, {1<<32 - 3, 1<<32 - 2, 1, 2, 0, 3, 4},
	} {
		m, err := loadMeter(meterOptions{signature: testSignature, flows: flows}, false)
		must(t, err)
		t.Cleanup(m.close)
		o := offline{m, newOffline(t).frame}
		s := &packetSink{flows: flows, book: newOrderBook(), byFlow: make([]uint64, flows)}
		want, seen := make([]uint64, flows), map[uint32]bool{}
		now := monotonic(t)
		for _, n := range numbers {
			o.take(t, n, now)
			s.one(packet{number: n, due: now}, now)
			whole := uint64(n)
			if numbers[0] > 1<<31 && n < 1<<31 {
				whole += 1 << 32
			}
			if !seen[n] {
				want[whole%flows]++
			}
			seen[n] = true
		}
		got, err := m.byFlow()
		must(t, err)
		if !slices.Equal(got, want) || !slices.Equal(s.byFlow, want) {
			t.Errorf("%v: %v in the kernel, %v here, want %v", numbers, got, s.byFlow, want)
		}
	}
}

// TestSpread chooses where flows come from and go to.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		from, to, nearest, spare string
		flows, targets           int
		wrong                    string
	}{
		{"198.18.0.2", "198.18.0.35", "198.19.0.0", "198.18.0.40 198.18.0.41 198.18.0.42 2001:db8::2", 4096, 4, ""},
		{"198.19.0.2", "198.19.0.35", "198.18.0.0", "", 65536, 1, ""},
		{"198.19.0.2", "198.19.0.35", "", "", 65537, 0, "65536 addresses of IPv4"},
		{"198.18.0.2", "198.19.0.35", "", "", 2, 0, "say where they come from"},
		{"2001:2:0:7::2", "2001:2:0:7:8000::2", "2001:2:0:ffff::", "2001:2:0:7:8000::3 2001:2:0:7:9000::3 198.18.0.1", 1 << 20, 2, ""},
	} {
		l := load{headers: headers{from: netip.MustParseAddr(c.from), to: netip.MustParseAddr(c.to), variety: varietyOf(trial.FlowsByBoth)}, flows: c.flows, port: 5201}
		var spare []netip.Addr
		for _, a := range strings.Fields(c.spare) {
			spare = append(spare, netip.MustParseAddr(a))
		}
		err := l.spread(netip.Addr{}, spare)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || l.nearest.String() != c.nearest || len(l.targets) != c.targets || l.targets[0] != l.to {
			t.Errorf("%+v: from %s on, to %v, %v", c, l.nearest, l.targets, err)
		}
	}
}

// TestAloneToManyAddresses has a load by itself go to addresses in turn.
func TestAloneToManyAddresses(t *testing.T) {
	r := newRouted(t, trial.Condition{})
	heard := listen(t, r)
	_, err := Send(context.Background(), Offer{Netns: r.ClientNetns, Device: "eth0", To: netip.MustParseAddr("198.51.100.16"), Targets: 4, Port: 9,
		Condition: trial.Condition{OfferedPps: 1000, DurationS: 0.2, Flows: 16, Frames: trial.Frames{FrameSize: 128, FlowsBy: trial.FlowsByBoth}}})
	must(t, err)
	if sources, targets, ports := distinct(t, heard()); sources != 16 || targets != 4 || ports != 16 {
		t.Errorf("%d sources, %d targets, %d ports", sources, targets, ports)
	}
}
