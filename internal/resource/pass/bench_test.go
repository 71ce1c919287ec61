package pass

import (
	"fmt"
	"testing"

	"github.com/cilium/ebpf"
)

// BenchmarkPass runs the program on one packet of 60 bytes again and again.
func BenchmarkPass(b *testing.B) {
	limit := func(per Per) func(uint32) Step {
		return func(slot uint32) Step {
			return NewLimit(slot, Bucket{Rate: MostRate, Burst: MostBurst, Per: per, Bits4: 24, Bits6: 64})
		}
	}
	for _, c := range []struct {
		name string
		make func(slot uint32) Step
	}{
		{"count", NewCount},
		{"mark", func(slot uint32) Step { return NewMark(slot, slot, 0xff) }},
		{"dscp", func(slot uint32) Step { return NewDSCP(slot, uint8(slot)) }},
		{"drop", func(slot uint32) Step { return NewDrop(slot, Share{Every: 1 << 60}) }},
		{"limit", limit(Chain)},
		{"limit by flow", limit(Flow)},
	} {
		for _, n := range []int{0, 1, 20} {
			var steps []Step
			for slot := range uint32(n) {
				steps = append(steps, c.make(slot))
			}
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) { again(b, steps) })
		}
	}
}

func again(b *testing.B, steps []Step) {
	require(b)
	l, err := Load(Spec{Steps: steps, Flows: LeastFlows})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	g := udp(1)
	g.frame = frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 26), ports(1, 2), make([]byte, 6))
	b.ResetTimer()
	if verdict, err := l.Program.Run(&ebpf.RunOptions{Data: g.frame, Repeat: uint32(b.N)}); err != nil || verdict != goesOn {
		b.Fatal(verdict, err)
	}
}

// BenchmarkNAT translates packets of two known connections in turn, each of which becomes the other.
func BenchmarkNAT(b *testing.B) {
	require(b)
	l, err := Load(translating("", NAT{Name: "n", Rules: []Translation{
		{Address: addr("10.2.0.1"), Targets: targets("10.2.0.2")}, {Address: addr("10.2.0.2"), Targets: targets("10.2.0.1")},
	}}, false))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	flow := tuple{version: 4, protocol: 17, source: addr("10.1.0.1"), destination: addr("10.2.0.1"), ports: [2]uint16{4000, 53}}
	f := frame(ether(typeIPv4), flow.packet(make([]byte, 18), true))
	b.ResetTimer()
	if verdict, err := l.Program.Run(&ebpf.RunOptions{Data: f, Repeat: uint32(b.N)}); err != nil || verdict != goesOn {
		b.Fatal(verdict, err)
	}
	b.StopTimer()
	if c, err := l.Counts(); err != nil || c.Slots[0].Packets < uint64(b.N) {
		b.Errorf("%d of %d packets were translated: %v", c.Slots[0].Packets, b.N, err)
	}
}
