package v1alpha1

import (
	"fmt"
	"net/netip"
	"slices"
)

// The longest prefixes a pool may have: less would not hold a chain's block.
const (
	longestPool4 = 26
	longestPool6 = 112
)

// unroutable is what no packet goes to through a chain: this network, loopback, link-local
// and multicast addresses (RFC 1122 §3.2.1.3, RFC 3927, RFC 5771, RFC 4291 §2.4). A pool must be
// clear of them, for a chain's block may be any part of it.
var unroutable = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("::/64"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
}

func checkAddresses(a Addresses) []FieldProblem {
	var f findings
	if a.IPv4 == None && a.IPv6 == None {
		f.addf("", "both families are none; a chain needs one of them")
	}
	f.add("ipv4", checkPool(a.IPv4, "an IPv4", "198.18.0.0/15", netip.Addr.Is4, longestPool4))
	f.add("ipv6", checkPool(a.IPv6, "an IPv6", "2001:2::/48", netip.Addr.Is6, longestPool6))
	return f
}

func checkPool(text, family, example string, is func(netip.Addr) bool, longest int) string {
	if text == None {
		return ""
	}
	pool, err := netip.ParsePrefix(text)
	addr := pool.Addr()
	switch {
	case err != nil || !is(addr) || addr.Is4In6():
		return fmt.Sprintf("%s is not %s prefix; write one such as %s, or none", quote(text), family, example)
	case pool.Masked() != pool:
		return fmt.Sprintf("%s has bits set after its length; write %s", quote(text), pool.Masked())
	case pool.Bits() > longest:
		return fmt.Sprintf("%s is too small a pool; at most /%d", quote(text), longest)
	case slices.ContainsFunc(unroutable, pool.Overlaps):
		return fmt.Sprintf("%s cannot be routed through a chain; write a prefix such as %s", quote(text), example)
	}
	return ""
}
