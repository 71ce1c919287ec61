package plan

import (
	"net/netip"
	"slices"

	"nfchain.dev/nfchain/internal/resource/steer"
)

// toFunctions are the rules that lead to functions' own addresses, which answers to their own packets have: by a
// path on which packets of both ways visit the function, if there is one.
func (b *builder) toFunctions(c *Classifier) (rules []steer.Rule) {
	for i, n := range b.nodes {
		p := c.first(i)
		if both := slices.IndexFunc(c.Paths, func(p Path) bool { return slices.Contains(p.back, i) }); both >= 0 && !p.Branched {
			p = &c.Paths[both]
		}
		if n.Kind == "endpoint" || n.Apart != 0 || p == nil {
			continue
		}
		to := func(name string, own []netip.Addr) {
			r := steer.Rule{Name: "to " + name, Path: p.Name}
			for _, a := range own {
				r.Destinations = append(r.Destinations, netip.PrefixFrom(a, a.BitLen()))
			}
			rules = append(rules, r)
		}
		for _, f := range b.at(i) {
			if own := b.answered(f.Addresses, f.Name); len(own) > 0 {
				to(f.Name, own)
			}
		}
		if !n.Transparent {
			var names []string
			for _, m := range n.members() {
				names = append(names, m.Name)
			}
			to(n.Function(), b.answered(n.own(), names...))
		}
	}
	return rules
}

// answered are addresses to which answers to the own packets of functions that share these go: their own, and those that they give connections for
// their source.
func (b *builder) answered(own []netip.Addr, functions ...string) []netip.Addr {
	all := slices.Clone(own)
	for _, p := range b.published {
		for _, a := range p.t.Source {
			if slices.Contains(functions, p.by) && !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	return all
}
