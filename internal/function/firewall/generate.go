package firewall

import (
	"net/netip"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// neverReached is more bytes than a connection can carry here: 2^60.
const neverReached = 1 << 60

// unused begins 240.0.0.0/4, which RFC 1112 §4 reserves and Linux will not send
// from: no packet of a chain has such a source.
var unused = netip.AddrFrom4([4]byte{240, 0, 0, 0})

// generated rules match nothing, so every packet is tested by all of them. A
// stateless one names an address nobody uses, each its own; a stateful one asks
// connection tracking for a byte count nobody reaches.
func generated(r Rules, site function.Site) []ruleset.Rule {
	n := r.Generate + share(r.Total, site.Part, site.Parts)
	rules := make([]ruleset.Rule, 0, n)
	source := unused
	for range n {
		rule := ruleset.Rule{Verdict: "drop", Counted: true}
		if r.Stateful {
			rule.ConnectionBytes = neverReached
		} else {
			source = source.Next()
			rule.Source = netip.PrefixFrom(source, 32)
		}
		rules = append(rules, rule)
	}
	return rules
}

// share of a number that is split evenly: parts differ by one at most, and the first
// are the larger.
func share(total, part, parts int) int {
	if parts == 0 {
		return 0
	}
	n := total / parts
	if part < total%parts {
		n++
	}
	return n
}
