package qdisc

import (
	"fmt"
	"math"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/resource"
)

// Netem impairs what leaves, at random.
const Netem = "netem"

// Impair is what a netem does to each packet.
type Impair struct {
	DelayNS  uint64 `json:"delay_ns"`
	JitterNS uint64 `json:"jitter_ns"`
	// Loss and Duplicate are probabilities, 0 to 1.
	Loss      float64 `json:"loss_ratio"`
	Duplicate float64 `json:"duplicate_ratio"`
	// LimitPackets held at once.
	LimitPackets uint32 `json:"limit_packets"`
}

// netem is the same as the kernel keeps it: times in ticks, probabilities in parts
// of 2^32 - 1.
func (i Impair) netem(attrs netlink.QdiscAttrs) *netlink.Netem {
	return &netlink.Netem{
		QdiscAttrs: attrs, Latency: uint32(i.DelayNS / uint64(tick)), Jitter: uint32(i.JitterNS / uint64(tick)),
		Loss: part(i.Loss), Duplicate: part(i.Duplicate), Limit: i.LimitPackets,
	}
}

func part(ratio float64) uint32 { return uint32(math.Round(ratio * math.MaxUint32)) }

// describe is the fingerprint of a netem.
func describe(n *netlink.Netem) string {
	return fmt.Sprintf("%s delay=%d jitter=%d loss=%d duplicate=%d limit=%d reorder=%d corrupt=%d rate=%d",
		Netem, n.Latency, n.Jitter, n.Loss, n.Duplicate, n.Limit, n.ReorderProb, n.CorruptProb, n.Rate64)
}

// command is what tc(8) calls it.
func (i Impair) command(ns string, root []string) resource.Command {
	args := append(root, "limit", fmt.Sprint(i.LimitPackets))
	if i.DelayNS > 0 {
		args = append(args, "delay", microseconds(i.DelayNS))
	}
	if i.JitterNS > 0 {
		args = append(args, microseconds(i.JitterNS))
	}
	if i.Loss > 0 {
		args = append(args, "loss", fmt.Sprintf("%g%%", i.Loss*100))
	}
	if i.Duplicate > 0 {
		args = append(args, "duplicate", fmt.Sprintf("%g%%", i.Duplicate*100))
	}
	return resource.TC(ns, args...)
}

func microseconds(ns uint64) string { return fmt.Sprintf("%gus", float64(ns)/1000) }
