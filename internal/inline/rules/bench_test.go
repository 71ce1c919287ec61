package rules_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/inline/rules"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// BenchmarkPass runs passes on one packet of 60 bytes again and again: a firewall with more and more rules, and
// five firewalls of 100 rules with as many limits, counters and code points.
func BenchmarkPass(b *testing.B) {
	for _, n := range []int{0, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("firewall/%d", n), func(b *testing.B) { again(b, 1, n, false) })
	}
	b.Run("mixed/20", func(b *testing.B) { again(b, 5, 100, true) })
}

// again runs some firewalls, each with others behind it if they are mixed.
func again(b *testing.B, firewalls, n int, mixed bool) {
	table := compiled(b, manyRules(n), "accept")
	memory, at := rules.Join(table)
	var steps []pass.Step
	slot := func() uint32 { return uint32(len(steps)) }
	for i := range firewalls {
		steps = append(steps, pass.NewRules(slot(), at[0], uint32(i*(n+1)), 1))
		if mixed {
			steps = append(steps, pass.NewLimit(slot(), pass.Bucket{Rate: pass.MostRate, Burst: pass.MostBurst}))
			steps = append(steps, pass.NewCount(slot()))
			steps = append(steps, pass.NewDSCP(slot(), uint8(i)))
		}
	}
	l, err := pass.LoadWithRules(steps, pass.LeastFlows, pass.Tables{Memory: memory, Connections: connections, Counters: uint32(firewalls * (n + 1))})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	p := rules.Packet{Source: netip.MustParseAddr("10.9.9.9"), Destination: netip.MustParseAddr("172.16.0.1"), Protocol: 17, SourcePort: 1, DestinationPort: 2}
	b.ResetTimer()
	if _, err := l.Program.Run(&ebpf.RunOptions{Data: framed(bytesOf(p, false)), Repeat: uint32(b.N)}); err != nil {
		b.Fatal(err)
	}
}
