package plan

import (
	"fmt"
	"slices"
	"strings"
)

// orderOn refuses a path whose functions packets would meet in another order, or by whose order addresses would be others.
func (b *builder) orderOn(c *Classifier) error {
	for _, p := range c.Paths {
		if met := b.met(p); !slices.Equal(met, p.Functions) {
			if len(b.strays) > 0 {
				return nil // they are met where they are to be, it may be, once these are at stops
			}
			if err := b.astray(b.onHops(func(f *Inline) bool { return slices.Contains(p.Functions, f.Name) })...); err != nil {
				return err
			}
			return fmt.Errorf("packets on the path %q would meet %s", p.Text(), strings.Join(met, ", "))
		}
		if slices.IsSorted(p.at) {
			continue
		}
		for _, place := range p.at {
			if m := b.translator(b.nodes[place]); m != nil {
				return fmt.Errorf("%s translates addresses, and which of them others see follows from the chain's order; write the functions of the path %q in that order", m.Name, p.Text())
			}
		}
	}
	return nil
}

// functions are those at a node, as the chain's file has them.
func (n Node) functions() (names []string) {
	if n.Replica != nil {
		return []string{n.Replica.Of}
	}
	for _, m := range n.members() {
		names = append(names, m.Name)
	}
	return names
}

// met are the functions that packets on a path meet, in order.
func (b *builder) met(p Path) []string {
	names := []string{}
	for i, place := range p.at[:len(p.at)-1] {
		if place > 0 {
			names = append(names, b.nodes[place].functions()...)
		}
		for _, f := range b.inline {
			if f.hop == place && (f.Stop || p.at[i+1] == place+1) {
				names = append(names, f.Name)
			}
		}
	}
	return names
}
