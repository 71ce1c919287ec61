package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// until is the way of a flow as far as the function to which it goes, and whether that ends there: what the function
// translates goes on.
func until(hops []Hop, f Flow) ([]Hop, bool) {
	end := len(hops)
	for end > 0 && !hops[end-1].means(f.Goal) {
		end--
	}
	if f.Goal == "" || end == 0 || slices.ContainsFunc(hops[end:], func(h Hop) bool { return h.entry(f.Reverse).OwnIn.Packets+own(h.Drops) > 0 }) {
		return hops, false
	}
	way := slices.Clone(hops[:end])
	for i := range way {
		if h := &way[i]; h.means(f.Goal) {
			if len(h.Interfaces) > 1 && h.entry(!f.Reverse).OwnOut.Packets > 0 {
				return hops, false
			}
			h.Aside, h.OneWay = false, false
		}
	}
	return way, true
}

// means tells whether the hop is what a name of a function means, of whose replicas it may be one.
func (h Hop) means(function string) bool { return h.function() == function }

// function that the hop is, or is a replica of.
func (h Hop) function() string { return cmp.Or(h.Of, h.Name) }

// entry is the interface by which packets of a direction come in.
func (h Hop) entry(reverse bool) Interface {
	if reverse {
		return h.Interfaces[len(h.Interfaces)-1]
	}
	return h.Interfaces[0]
}

// arrives says that a flow came where it goes.
func (e *Explanation) arrives() string {
	if e.toFunction {
		return "it arrives at " + e.end().Name
	}
	return "it goes through the chain"
}

// got says what that is to the hop that got it.
func (e *Explanation) got(last Step) string {
	if e.toFunction {
		return ", whose own address that is"
	}
	return fmt.Sprintf(": %s got it", last.Name)
}

// refuses says what the hop does that does not take what came to it.
func (e *Explanation) refuses(last Step) string {
	other := slices.ContainsFunc(ownOf(last.Drops), func(d Drop) bool { return d.Cause != noSocket })
	if !e.toFunction || other {
		return last.Name + " does not take it"
	}
	return fmt.Sprintf("%s refuses it: nobody listens at port %d there", last.Name, e.flow.To.Port())
}
