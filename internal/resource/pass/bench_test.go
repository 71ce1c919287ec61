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
