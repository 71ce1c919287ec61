package steer_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// few addresses of a family, so that rules and packets meet.
func few(r *rand.Rand, six bool) netip.Addr {
	if six {
		a := netip.MustParseAddr("2001:db8::").As16()
		a[5], a[11], a[15] = byte(r.IntN(2)), byte(r.IntN(3)), byte(r.IntN(4))
		return netip.AddrFrom16(a)
	}
	return netip.AddrFrom4([4]byte{10, byte(r.IntN(2)), byte(r.IntN(3)), byte(r.IntN(4))})
}

// some of up to n values, or none.
func some[T any](r *rand.Rand, n int, one func() T) (all []T) {
	if r.IntN(2) == 0 {
		return nil
	}
	for range 1 + r.IntN(n) {
		all = append(all, one())
	}
	return all
}

func randomChoice(r *rand.Rand, rules int) steer.Choice {
	c := steer.Choice{Otherwise: pathNames[r.IntN(3)], Drop: r.IntN(3) == 0}
	for i := range rules {
		prefix := func() netip.Prefix {
			a := few(r, r.IntN(2) == 1)
			p, _ := a.Prefix(a.BitLen() - r.IntN(25)*a.BitLen()/32)
			return p
		}
		ports := func() api.PortRange {
			first := uint16(1 + r.IntN(6))
			return api.PortRange{First: first, Last: first + uint16(r.IntN(3))}
		}
		rule := steer.Rule{Name: fmt.Sprint("r", i), Path: pathNames[r.IntN(3)], Sources: some(r, 3, prefix), Destinations: some(r, 3, prefix),
			Protocol: []api.Protocol{"", "", "tcp", "udp", "sctp", "icmp", "icmpv6", "gre", "dccp", "ah", "255"}[r.IntN(11)], CodePoints: some(r, 3, func() uint8 { return uint8(r.IntN(4)) }), From: max(0, r.IntN(5)-2)}
		if r.IntN(2) == 0 && rule.Protocol.Ported() {
			rule.SourcePorts, rule.DestinationPorts = some(r, 2, ports), some(r, 2, ports)
		}
		if r.IntN(8) == 0 {
			rule.VLANs = []api.VLANRange{{First: 7, Last: 9}}
		}
		c.Rules = append(c.Rules, rule)
	}
	return c
}

// randomFirst packet of a flow, and its frame.
func randomFirst(r *rand.Rand, from int) (f steer.First, frame []byte) {
	six := r.IntN(2) == 1
	f = steer.First{Source: few(r, six), Destination: few(r, six), Protocol: []uint8{1, 6, 17, 58, 132, 47, 33, 50, 255}[r.IntN(9)], CodePoint: uint8(r.IntN(5)), VLAN: api.Untagged, From: from}
	source, destination := uint16(r.IntN(9)), uint16(r.IntN(9))
	transport := framestest.Ports(source, destination)
	fragment := r.IntN(8) == 0
	if f.Protocol == 1 || f.Protocol == 58 {
		transport[0] = map[bool]byte{false: 8, true: 128}[six] // an echo, no error
	} else if api.ProtocolOf(f.Protocol).Ported() && !fragment {
		f.SourcePort, f.DestinationPort = source, destination
	}
	if f.Protocol == 6 && r.IntN(2) == 0 {
		transport = append(transport, make([]byte, 20)...)[:20]
		transport[13] = []byte{2, 2 | 64, 18, 16}[r.IntN(4)]
		f.Opens = !fragment && transport[13]&18 == 2
	}
	class := f.CodePoint<<2 | byte(r.IntN(4))
	ether := [][]uint16{nil, nil, {0x8100}, {0x88a8, 0x8100}}[r.IntN(4)]
	var ip []byte
	if six {
		next := f.Protocol
		var extensions []byte
		if fragment {
			if r.IntN(2) == 0 { // what the first alone has behind it
				transport, next = append(framestest.Extension(next), transport...), 60
				f.Protocol, f.Opens = 60, false
			}
			extensions, next = framestest.Fragment(next, uint16(r.IntN(2)), true), 44
		}
		if r.IntN(4) == 0 {
			extensions, next = append(framestest.Extension(next), extensions...), 60
		}
		ip = framestest.IPv6(next, class, len(extensions)+len(transport))
		copy(ip[8:], f.Source.AsSlice())
		copy(ip[24:], f.Destination.AsSlice())
		ip = append(ip, extensions...)
		return f, slices.Concat(framestest.Ether(framestest.TypeIPv6, ether...), ip, transport)
	}
	bits := uint16(0)
	if fragment {
		bits = 1 << 13
	}
	ip = framestest.IPv4(f.Protocol, class, bits, make([]byte, 4*r.IntN(3)), len(transport))
	copy(ip[12:], f.Source.AsSlice())
	copy(ip[16:], f.Destination.AsSlice())
	return f, slices.Concat(framestest.Ether(framestest.TypeIPv4, ether...), ip, transport)
}

// entering is the program at an end, with rules.
func entering(tb testing.TB, c steer.Choice, end int) *steer.Entered {
	tb.Helper()
	nstest.Require(tb, feature.Root, feature.BPFPeer)
	e, err := steer.Enter(steer.Paths{Ways: waysTo("a", "a b", ""), Choice: &c, End: end, Flows: 1 << 16, Idle: api.Duration(time.Hour)}, []uint32{1, 2, 3})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(e.Close)
	return e
}

// agrees holds the program to the model.
func agrees(tb testing.TB, e *steer.Entered, c steer.Choice, f steer.First, frame []byte) {
	tb.Helper()
	verdict, _, err := e.Program.Test(frame)
	if err != nil {
		tb.Fatal(err)
	}
	rule, path, goes := c.Of(f)
	got, by, known, err := e.Known(f)
	switch {
	case err != nil:
		tb.Fatal(err)
	case !goes && (verdict != 2 || known):
		tb.Errorf("%+v: verdict %d, known %t, and it should end", f, verdict, known)
	case goes && (verdict != redirected || !known || got != path || by != rule):
		tb.Errorf("%+v: verdict %d, known %t, on %q by rule %d, and it should be on %q by %d of %+v\n%x", f, verdict, known, got, by, path, rule, c.Rules, frame)
	}
}

// TestKernelChooses the paths that the model does, by rules of all sorts.
func TestKernelChooses(t *testing.T) {
	for seed := range uint64(15) {
		r := rand.New(rand.NewPCG(seed, 3))
		c, end := randomChoice(r, []int{0, 1, 5, 20, 100}[seed%5]), steer.FirstEnd+int(seed%2)
		e := entering(t, c, end)
		for range 100 {
			f, frame := randomFirst(r, end)
			if err := e.Forget(); err != nil {
				t.Fatal(err)
			}
			agrees(t, e, c, f, frame)
		}
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
}

// TestKernelChoosesAmongMany rules, the last of them too.
func TestKernelChoosesAmongMany(t *testing.T) {
	c := manyRules(10_000)
	e := entering(t, c, steer.FirstEnd)
	r := rand.New(rand.NewPCG(1, 4))
	for i := range 2000 {
		n := i * 5
		if i%2 == 1 {
			n = r.IntN(len(c.Rules))
		}
		f, frame := ofRule(c, n)
		agrees(t, e, c, f, frame)
	}
}

// manyRules, each for a network and a port of its own, and one behind them.
func manyRules(n int) (c steer.Choice) {
	for i := range n {
		c.Rules = append(c.Rules, steer.Rule{Name: fmt.Sprint("r", i), Path: pathNames[i%3], Protocol: "udp",
			Sources:          []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)},
			DestinationPorts: []api.PortRange{{First: uint16(1 + i%1000), Last: uint16(1 + i%1000)}}})
	}
	return c
}

// ofRule is a packet that meets one of many.
func ofRule(c steer.Choice, n int) (steer.First, []byte) {
	rule := c.Rules[n]
	f := steer.First{Source: rule.Sources[0].Addr().Next(), Destination: netip.AddrFrom4([4]byte{198, 18, byte(n >> 8), byte(n)}), Protocol: 17,
		SourcePort: 4000, DestinationPort: rule.DestinationPorts[0].First, VLAN: api.Untagged, From: steer.FirstEnd}
	transport := framestest.Ports(f.SourcePort, f.DestinationPort)
	ip := framestest.IPv4(17, 0, 0, nil, len(transport))
	copy(ip[12:], f.Source.AsSlice())
	copy(ip[16:], f.Destination.AsSlice())
	return f, slices.Concat(framestest.Ether(framestest.TypeIPv4), ip, transport)
}

// TestOddFramesHaveAWay: whatever comes in goes on, where what no rule matches does, or ends if that ends.
func TestOddFramesHaveAWay(t *testing.T) {
	c := manyRules(600)
	c.Otherwise = "a"
	for _, drop := range []bool{false, true} {
		c.Drop = drop
		e := entering(t, c, steer.SecondEnd)
		want := uint32(redirected)
		if drop {
			want = 2
		}
		run := func(name string, frame []byte) {
			if !framestest.Runs(frame) {
				return
			}
			if verdict, _, err := e.Program.Test(frame); err != nil || verdict != want {
				t.Errorf("%s: verdict %d, error %v, want %d\n%x", name, verdict, err, want, frame)
			}
		}
		for name, frame := range framestest.Odd() {
			run(name, frame)
		}
		for frame := range framestest.Bent(300, 5) {
			run("bent", frame)
		}
	}
}

// BenchmarkClassified has the kernel run the program at an end on packets of a flow that is known, and of one that is held
// to the rules each time.
func BenchmarkClassified(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		c := manyRules(n)
		_, frame := ofRule(c, n-1)
		b.Run(fmt.Sprintf("known/%d", n), func(b *testing.B) { benchmarked(b, c, frame, redirected) })
		c.Rules = append(c.Rules[:n-1:n-1], steer.Rule{Name: "last", Sources: c.Rules[0].Sources})
		c.Drop = true
		frame[14+12] = 11 // nobody's, so that it is never known
		b.Run(fmt.Sprintf("asked/%d", n), func(b *testing.B) { benchmarked(b, c, frame, 2) })
	}
}

func benchmarked(b *testing.B, c steer.Choice, frame []byte, want uint32) {
	b.Helper()
	e := entering(b, c, steer.FirstEnd)
	b.ResetTimer()
	verdict, each, err := e.Program.Benchmark(frame, b.N, nil)
	if err != nil || verdict != want {
		b.Fatalf("verdict %d, error %v", verdict, err)
	}
	b.ReportMetric(float64(each.Nanoseconds()), "ns/packet")
}
