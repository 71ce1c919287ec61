package feature

import (
	"context"
	"os"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
)

var (
	nftablesPart  = part{"nftables", "nf_tables", "CONFIG_NF_TABLES"}
	nftBytesPart  = part{"nftables expression ct bytes", "nft_ct", "CONFIG_NFT_CT"}
	conntrackPart = part{"connection tracking", "nf_conntrack", "CONFIG_NF_CONNTRACK"}
)

func askNFTables(ctx context.Context, env Env) answer {
	return nftablesPart.try(ctx, env, func() error {
		return addRule(&expr.Counter{})
	})
}

func askNFTBytes(ctx context.Context, env Env) answer {
	return nftBytesPart.try(ctx, env, func() error {
		return addRule(&expr.Ct{Key: expr.CtKeyBYTES, Register: 1})
	})
}

// addRule makes a table with a chain on the forward hook and one rule in it.
func addRule(match expr.Any) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "nfprobe"})
	chain := conn.AddChain(&nftables.Chain{
		Name: "forward", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter,
	})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{match}})
	return conn.Flush()
}

// askConntrack lists the connections of a namespace that has none. Where the
// kernel cannot list them, the limit that tracking brings tells that it is there.
func askConntrack(ctx context.Context, env Env) answer {
	return conntrackPart.try(ctx, env, func() error {
		_, err := netlink.ConntrackTableList(netlink.ConntrackTable, netlink.FAMILY_V4)
		if err == nil {
			return nil
		}
		if _, missing := os.Stat("/proc/sys/net/netfilter/nf_conntrack_max"); missing == nil {
			return nil
		}
		return err
	})
}
