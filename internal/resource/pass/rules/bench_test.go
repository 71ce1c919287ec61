package rules_test

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
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
	s := pass.Spec{Connections: connections}
	slot := func() uint32 { return uint32(len(s.Steps)) }
	for i := range firewalls {
		s.Firewalls = append(s.Firewalls, pass.Firewall{Slot: slot(), Name: fmt.Sprint(i), Policy: "accept", Rules: manyRules(n)})
		s.Steps = append(s.Steps, pass.NewRules(slot()))
		if mixed {
			s.Steps = append(s.Steps, pass.NewLimit(slot(), pass.Bucket{Rate: pass.MostRate, Burst: pass.MostBurst}))
			s.Steps = append(s.Steps, pass.NewCount(slot()))
			s.Steps = append(s.Steps, pass.NewDSCP(slot(), uint8(i)))
		}
	}
	l, err := pass.Load(s)
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
