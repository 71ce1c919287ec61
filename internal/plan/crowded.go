package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/words"
)

// otherPools of private networks are named to who needs another one: RFC 1918 section 3 and RFC 4193 section 3.1.
var otherPools = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("fd00::/8"),
}

// mostNamed is how many chains, or routes, are named.
const mostNamed = 5

// crowded says what is in the way of a block of that length in a pool, and a pool in which nothing is.
func (b *builder) crowded(pool netip.Prefix, length int) error {
	var there []string
	if chains := b.chainsIn(pool); len(chains) > 0 {
		there = append(there, "other chains' blocks ("+words.Few(chains, mostNamed, ", ")+")")
	}
	if routes := b.routesIn(pool); len(routes) > 0 {
		there = append(there, "routes of the host or of the chain's ends (to "+words.Few(routes, mostNamed, ", ")+")")
	}
	return fmt.Errorf("spec.addresses: no block of /%d, which %d nodes take, in %s is clear of %s; %s", length, len(b.nodes), pool, strings.Join(there, ", and of "), b.elsewhere(pool, length))
}

// elsewhere says what else to write.
func (b *builder) elsewhere(pool netip.Prefix, length int) string {
	family := "ipv6"
	if pool.Addr().Is4() {
		family = "ipv4"
	}
	for _, other := range otherPools {
		if other.Addr().Is4() != pool.Addr().Is4() || other.Bits() > length {
			continue
		}
		if _, found := b.firstClear(other, length); found {
			return fmt.Sprintf("write a pool that has one, such as addresses: {%s: %q}", family, other)
		}
	}
	return fmt.Sprintf("write a pool that has one in addresses.%s, or %s", family, api.None)
}

// chainsIn are the other chains with blocks in a pool which must not meet the chain's.
func (b *builder) chainsIn(pool netip.Prefix) (names []string) {
	for chain, blocks := range b.facts.Blocks {
		if chain != b.chain.Metadata.Name && !b.stranger(chain) && slices.ContainsFunc(blocks, pool.Overlaps) {
			names = append(names, chain)
		}
	}
	slices.Sort(names)
	return names
}

// routesIn are the destinations in a pool of routes that the chain's block must not meet.
func (b *builder) routesIn(pool netip.Prefix) (destinations []string) {
	for _, r := range b.facts.Routes {
		if to := r.String(); r.Bits() > 0 && r.Overlaps(pool) && !slices.Contains(destinations, to) {
			destinations = append(destinations, to)
		}
	}
	return destinations
}
