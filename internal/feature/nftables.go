package feature

import (
	"context"
	"os"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

var (
	nftablesPart  = part{"nftables", "nf_tables", "CONFIG_NF_TABLES"}
	nftBytesPart  = part{"nftables expression ct bytes", "nft_ct", "CONFIG_NFT_CT"}
	nftNATPart    = part{"nftables address translation", "nft_nat", "CONFIG_NF_NAT, CONFIG_NFT_NAT, CONFIG_NFT_MASQ, CONFIG_NFT_NUMGEN and CONFIG_NFT_HASH"}
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

// askNFTNAT masquerades one connection in two, and leaves others by a hash.
func askNFTNAT(ctx context.Context, env Env) answer {
	return nftNATPart.try(ctx, env, func() error {
		return addRules(nftables.Chain{
			Name: "postrouting", Type: nftables.ChainTypeNAT, Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
		}, nftables.TableFamilyINet,
			&expr.Numgen{Register: 1, Modulus: 2, Type: unix.NFT_NG_INCREMENTAL},
			&expr.Hash{SourceRegister: 1, DestRegister: 1, Length: 4, Modulus: 2, Seed: 1, Type: expr.HashTypeJenkins},
			&expr.Immediate{Register: 1, Data: []byte{192, 0, 2, 1}},
			&expr.NAT{Type: expr.NATTypeSourceNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: 1},
			&expr.Masq{})
	})
}

// addRule makes a table with a chain on the forward hook and one rule in it.
func addRule(match expr.Any) error {
	return addRules(nftables.Chain{
		Name: "forward", Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter,
	}, nftables.TableFamilyIPv4, match)
}

// addRules makes a table with a chain, and a rule of all the expressions in it.
func addRules(chain nftables.Chain, family nftables.TableFamily, all ...expr.Any) error {
	conn, err := nftables.New()
	if err != nil {
		return err
	}
	table := conn.AddTable(&nftables.Table{Family: family, Name: "nfprobe"})
	chain.Table = table
	conn.AddChain(&chain)
	conn.AddRule(&nftables.Rule{Table: table, Chain: &chain, Exprs: all})
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
