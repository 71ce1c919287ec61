package v1alpha1

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// ParsePrefix reads an address or a prefix of either family; bits after its length count for
// nothing.
func ParsePrefix(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is not an address or prefix; write one like 192.0.2.1 or 2001:db8::/32", text)
	}
	return p.Masked(), nil
}

// ParsePorts reads a port or an inclusive range of them, as "443" or "1000-2000".
func ParsePorts(text string) (first, last uint16, err error) {
	return numbers(text, 1, 65535, "is not a port or range; write 443 or 1000-2000, between 1 and 65535")
}

// numbers reads one, or an inclusive range of them, between two others; wrong says what it is that is none.
func numbers(text string, least, most uint64, wrong string) (first, last uint16, err error) {
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	a, errA := strconv.ParseUint(low, 10, 16)
	b, errB := strconv.ParseUint(high, 10, 16)
	switch {
	case errA != nil || errB != nil || min(a, b) < least || max(a, b) > most:
		return 0, 0, fmt.Errorf("%q %s", text, wrong)
	case a > b:
		return 0, 0, fmt.Errorf("%q ends before it begins; write %d-%d", text, b, a)
	}
	return uint16(a), uint16(b), nil
}

// Code points of differentiated services that have a name of their own: expedited forwarding
// (RFC 3246), voice admit (RFC 5865), lower effort (RFC 8622).
var codePoints = map[string]uint8{"ef": 46, "va": 44, "le": 1}

// ParseCodePoint reads a code point of differentiated services (RFC 2474), by its number or name.
func ParseCodePoint(text string) (uint8, error) {
	word := strings.ToLower(text)
	if n, err := strconv.ParseUint(word, 10, 8); err == nil && n < 64 {
		return uint8(n), nil
	}
	if n, is := codePoints[word]; is {
		return n, nil
	}
	for class := range uint8(8) {
		if word == fmt.Sprintf("cs%d", class) { // RFC 2474 §4.2.2
			return class << 3, nil
		}
		for precedence := uint8(1); precedence <= 3; precedence++ {
			if class >= 1 && class <= 4 && word == fmt.Sprintf("af%d%d", class, precedence) { // RFC 2597 §6
				return class<<3 | precedence<<1, nil
			}
		}
	}
	return 0, fmt.Errorf("%q is no code point; write 0 to 63, ef, va, le, cs0 to cs7, or af11 to af43", text)
}
