package function_test

import (
	"bytes"
	"net/netip"
	"slices"
)

// routerOf a side, of an address's family.
func routerOf(way int, of netip.Addr) netip.AddrPort {
	routers := map[bool][]string{true: {"10.1.0.99", "10.2.0.99"}, false: {"fd01::99", "fd02::99"}}[of.Is4()]
	return netip.AddrPortFrom(netip.MustParseAddr(routers[way]), 0)
}

// redirect is what a router says to who sent packets of another way; some is said by one of the link.
func (w *traffic) redirect(way int, about *packet, own bool) *packet {
	to := about.from.Addr()
	r := packet{protocol: icmp, about: about, redirects: true, from: routerOf(way, to), to: netip.AddrPortFrom(to, 0)}
	if own && to.Is6() {
		r.from = netip.AddrPortFrom(netip.MustParseAddr("fe80::99"), 0)
	}
	return &r
}

// redirects has a router tell who sent packets of another way to where they went. Nobody is told who sent what was translated.
// Of IPv6 only what comes from a router's own link is about the packet that it quotes (RFC 4861 section 8.1): that goes to its
// link alone, and the kernel of a namespace forwards none. What comes from elsewhere is of nothing, and goes on as it is.
func (w *traffic) redirects(way int, came, sent pair) {
	w.t.Helper()
	own, six := w.IntN(3) > 0, came[0].from.Addr().Is6()
	p := pair{w.redirect(way, came[0], own), w.redirect(way, came[1], own)}
	translates := func(form int) bool { return came[form].from != sent[form].from || came[form].to != sent[form].to }
	if six && own && !translates(1) {
		if all := [][]byte{p[1].bytes()}; !w.takes(w.t, way, all) || !bytes.Equal(all[0], p[1].bytes()) {
			w.t.Fatalf("without a namespace, the redirect %s came as %x", p[1], all[0])
		}
		return
	}
	for form, got := range w.send(w.t, way, p, 0) {
		translated := translates(form)
		goes := !translated
		if six && !own {
			goes = !slices.Contains(w.ends, p[form].to.Addr())
		}
		if (got != nil) != goes {
			w.t.Fatalf("form %d: translated %t, the redirect %s\ncame as %s", form, translated, p[form], got)
		}
		if got != nil && (got.from != p[form].from || got.to != p[form].to || got.about.from != p[form].about.from || got.about.to != p[form].about.to) {
			w.t.Fatalf("form %d: the redirect %s\ncame as %s", form, p[form], got)
		}
	}
}
