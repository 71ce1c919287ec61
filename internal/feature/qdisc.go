package feature

import (
	"context"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
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

var redirectPart = part{"classifier u32 with action mirred", "act_mirred", "CONFIG_NET_ACT_MIRRED, CONFIG_NET_CLS_U32 and CONFIG_NET_SCH_INGRESS"}

// askRedirect passes on what one end of a pair takes in.
func askRedirect(ctx context.Context, env Env) answer {
	return redirectPart.try(ctx, env, func() error {
		index, err := addVeth()
		if err != nil {
			return err
		}
		clsact := netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(0xffff, 0), Parent: netlink.HANDLE_CLSACT}
		if err := netlink.QdiscAdd(&netlink.Clsact{QdiscAttrs: clsact}); err != nil {
			return err
		}
		return netlink.FilterAdd(&netlink.U32{
			FilterAttrs: netlink.FilterAttrs{LinkIndex: index, Parent: netlink.HANDLE_MIN_INGRESS, Priority: 1, Protocol: unix.ETH_P_IP},
			Actions:     []netlink.Action{netlink.NewMirredAction(index)},
		})
	})
}
