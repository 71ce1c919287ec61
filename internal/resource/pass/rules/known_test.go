package rules_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/rulestest"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func flowsOf(t testing.TB, o *rulestest.ProgramObjects) pass.Connections {
	t.Helper()
	f, err := pass.ReadConnections(o.RulesFlows, o.RulesTallies)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestKernelRemembersAnswers: the rules are asked once a direction, again when they are others, and by
// each firewall for itself; what is remembered is what they say.
func TestKernelRemembersAnswers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	table := compiled(t, randomRules(r, 200, false), "drop")
	objects, _ := loaded(t, table)
	p := said{Packet: rules.Packet{Source: netip.MustParseAddr("10.0.1.255"), Destination: netip.MustParseAddr("127.1.2.1"),
		Protocol: 17, SourcePort: 1024, DestinationPort: 53}}
	asked := uint64(0)
	for _, c := range []struct{ slot, generation uint32 }{{1, 1}, {1, 2}, {2, 2}, {1, 4097}} {
		for range 10 {
			for _, p := range []said{p, p.back(0)} {
				want, _ := table.Find(p.Packet)
				if got, _ := follows(t, objects, p, c.slot, c.generation, 1); got != want {
					t.Fatalf("%+v: rule %d, want %d", c, got, want)
				}
			}
		}
		asked += 2
		if f := flowsOf(t, objects); f.Asked != asked {
			t.Errorf("%+v: the rules were asked %d times, want %d", c, f.Asked, asked)
		}
	}
	if f := flowsOf(t, objects); f.Held != 2 || f.Evicted != 0 {
		t.Errorf("two firewalls with a flow have %+v", f)
	}
}

// TestKernelBoundsFlows and counts what made room.
func TestKernelBoundsFlows(t *testing.T) {
	objects, _ := loaded(t, compiled(t, nil, "accept"))
	const many = 100_000
	p := rules.Packet{Source: netip.MustParseAddr("10.0.0.0"), Destination: netip.MustParseAddr("172.16.0.0"), Protocol: 17}
	if _, _, err := objects.Opening.Benchmark(question(p, 0), many, func() {}); err != nil {
		t.Fatal(err)
	}
	f := flowsOf(t, objects)
	if f.Held > connections || f.Held+f.Evicted != f.Asked || f.Evicted < many-2*connections {
		t.Errorf("of %d flows in a table of %d: %+v", many, connections, f)
	}
}

// TestKernelRemembersNoneRefused: what rules refuse takes no place of connections, from its first packet on until one
// is accepted.
func TestKernelRemembersNoneRefused(t *testing.T) {
	objects, _ := loaded(t, compiled(t, []ruleset.Rule{{Verdict: "accept", Match: ruleset.Match{Protocol: "udp", DestinationPorts: ruleset.Ports{First: 53, Last: 53}}}}, "drop"))
	p := said{Packet: rules.Packet{Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("172.16.0.1"), Protocol: 17, SourcePort: 1}}
	for port := int32(54); port < 64; port++ {
		p.DestinationPort = port
		follows(t, objects, p, 0, 1, 1)
		follows(t, objects, p, 0, 1, 2)
	}
	if f := flowsOf(t, objects); f.Held != 0 || f.Evicted != 0 || f.Asked != 20 {
		t.Errorf("after refused packets of ten flows: %+v", f)
	}
	p.DestinationPort = 53
	follows(t, objects, p, 0, 1, 3)
	if f := flowsOf(t, objects); f.Held != 1 {
		t.Errorf("after one that is accepted: %+v", f)
	}
}

// TestKernelForgets connections in time, and those that end or are refused.
func TestKernelForgets(t *testing.T) {
	const second = 1_000_000_000
	objects, _ := loaded(t, compiled(t, []ruleset.Rule{{Verdict: "accept", Match: ruleset.Match{States: []string{"new", "established"}}}}, "drop"))
	tcp := said{Packet: rules.Packet{Source: netip.MustParseAddr("2001:db8::1"), Destination: netip.MustParseAddr("2001:db8::2"), Protocol: 6, SourcePort: 1, DestinationPort: 2}}
	udp := tcp
	udp.Protocol, tcp.what = 17, syn
	refused := tcp
	refused.SourcePort = 3
	for i, c := range []struct {
		said
		at   uint64
		want rules.State
	}{
		{udp, 0, rules.New}, {udp.back(0), 29, rules.Established}, {udp.back(0), 148, rules.Established}, {udp.back(0), 269, rules.New},
		{tcp, 0, rules.New}, {tcp.back(syn | ack), 119, rules.Established}, {tcp.back(ack), 400_000, rules.Established},
		{tcp.back(fin | ack), 400_001, rules.Established}, {tcp.back(ack), 400_122, rules.New},
		{refused, 0, rules.New}, {refused.back(rst | ack), 1, rules.Established}, {refused.back(ack), 2, rules.New},
		{refused.back(syn | fin), 3, rules.Invalid},
	} {
		if _, got := follows(t, objects, c.said, 0, 0, c.at*second); got != c.want {
			t.Errorf("packet %d is of state %d, want %d", i, got, c.want)
		}
	}
}

// BenchmarkFlows: rules of different numbers, asked about each packet, about a new flow with each packet,
// and about 10,000 flows that are known.
func BenchmarkFlows(b *testing.B) {
	for _, n := range []int{0, 100, 1000, 10_000, 100_000} {
		objects, _ := loaded(b, compiled(b, manyRules(n), "accept"))
		p := rules.Packet{Source: netip.MustParseAddr("10.0.0.0"), Destination: netip.MustParseAddr("172.16.0.0"), Protocol: 17}
		for _, way := range []struct {
			name string
			*ebpf.Program
		}{{"asked", objects.Fresh}, {"opened", objects.Opening}, {"known", objects.Known}} {
			b.Run(fmt.Sprintf("%s/%d", way.name, n), func(b *testing.B) {
				_, spent, err := way.Benchmark(question(p, 0), b.N, func() {})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(spent.Nanoseconds()), "ns/packet")
			})
		}
	}
}
