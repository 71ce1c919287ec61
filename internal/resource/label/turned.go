package label

import (
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// Known are the rules by which packets are labelled that leave by an interface, none where no program is there; known is false where
// one is of which that cannot be told.
func Known(p resource.Place, device string) (rules []Rule, known bool, err error) {
	err = p.Do(func() error {
		dev, err := p.Device(device)
		if err != nil {
			return nil // nothing leaves there
		}
		all, err := held.FindLeaving(p, dev.Attrs().Index, held.Labels)
		defer held.CloseAll(all)
		if known = err == nil && len(all) == 0; err != nil || len(all) != 1 || all[0].Name != name {
			return err
		}
		made, err := read(all[0])
		for _, r := range made {
			rules = append(rules, Rule{Mark: api.Mark(r.Mark), Mask: api.Mark(r.Mask), Label: r.Label})
		}
		known = err == nil
		return err
	})
	return rules, known, err
}

// Turned is a label that packets bear from a change of rules on, and the one that they bore before; 0 is none.
type Turned struct{ Now, Was uint32 }

// TurnedBy such a change are these labels. It is false where that cannot be said of labels alone: where rules change that packets may meet which
// met others, or they change their order.
func TurnedBy(before, after []Rule) (labels []Turned, is bool) {
	same := func(a, b Rule) bool { return a.Mark == b.Mark && a.Mask == b.Mask }
	next := 0
	for _, r := range after {
		i := slices.IndexFunc(before, func(b Rule) bool { return same(r, b) })
		switch {
		case i >= 0 && i < next || i < 0 && slices.ContainsFunc(before, r.meets):
			return nil, false
		case i < 0:
			labels = append(labels, Turned{Now: r.Label})
		default:
			labels, next = append(labels, Turned{r.Label, before[i].Label}), i
		}
	}
	for _, b := range before {
		if !slices.ContainsFunc(after, func(r Rule) bool { return same(r, b) }) {
			labels = append(labels, Turned{Was: b.Label})
		}
	}
	return labels, true
}

// meets tells whether a packet may have a mark that fits both rules.
func (r Rule) meets(o Rule) bool { return (r.Mark^o.Mark)&r.Mask&o.Mask == 0 }
