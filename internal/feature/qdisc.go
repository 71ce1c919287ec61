package feature

import (
	"context"

	"github.com/vishvananda/netlink"
)

// qdiscKind is a kind of queueing discipline and the way to make one.
type qdiscKind struct {
	part
	make func(netlink.QdiscAttrs) netlink.Qdisc
}

var (
	htbKind = qdiscKind{part{"queueing discipline htb", "sch_htb", "CONFIG_NET_SCH_HTB"},
		func(a netlink.QdiscAttrs) netlink.Qdisc { return netlink.NewHtb(a) }}
	tbfKind = qdiscKind{part{"queueing discipline tbf", "sch_tbf", "CONFIG_NET_SCH_TBF"},
		func(a netlink.QdiscAttrs) netlink.Qdisc {
			return &netlink.Tbf{QdiscAttrs: a, Rate: 125_000_000, Limit: 1 << 20, Buffer: 1 << 20}
		}}
	netemKind = qdiscKind{part{"queueing discipline netem", "sch_netem", "CONFIG_NET_SCH_NETEM"},
		func(a netlink.QdiscAttrs) netlink.Qdisc {
			return netlink.NewNetem(a, netlink.NetemQdiscAttrs{Latency: 1000})
		}}
)

// qdiscAsking asks for a kind by putting one on a link.
func qdiscAsking(kind qdiscKind) asking {
	return func(ctx context.Context, env Env) answer {
		return kind.try(ctx, env, kind.add)
	}
}

func (k qdiscKind) add() error {
	index, err := addVeth()
	if err != nil {
		return err
	}
	return netlink.QdiscAdd(k.make(netlink.QdiscAttrs{
		LinkIndex: index,
		Handle:    netlink.MakeHandle(1, 0),
		Parent:    netlink.HANDLE_ROOT,
	}))
}
