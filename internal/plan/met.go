package plan

import (
	"maps"
	"slices"
)

// Met is where packets meet functions without a namespace, before and after an edit of a chain, by the ports of its forwarder.
type Met struct {
	// Was and Is are those at each port, before and after.
	Was, Is map[string]Pass
	// Aside are those at the other ends of pairs that flows are led into which stay since an earlier edit, by these ends.
	Aside map[string]Pass
	// There are the ports that there were, and Wanted those that there are to be.
	There, Wanted map[string]bool
	// Turned are ports that lead elsewhere by the edit, or lead flows that stay since another elsewhere than new ones.
	Turned map[string]bool
	// Nodes are functions that have a namespace before or after.
	Nodes map[uint64]bool
}

// Pass is what packets meet at one port.
type Pass struct {
	// Of are the functions, as passes note them; 0 is one that nobody noted.
	Of []uint64
	// Steps in words, by which it is known whether they change, and EitherWay those that are the same whichever way packets go.
	Steps, EitherWay string
	// Beside are ports at which this same pass is.
	Beside []string
	// Translators are those of the functions that translate addresses.
	Translators []uint64
	// Translates tells that some step does, whosever it is, and Together that it has something that holds for all packets together.
	Translates, Together bool
}

// Alike tells whether flows that stay on the path that they began on meet what new ones meet, once and both ways, though functions
// without a namespace change: what changes does so, before and after, only at ports that the edit leaves alone. All flows come by these from and to
// the same nodes, and meet there at once what is new, as where nothing else is edited. Elsewhere some would meet a function one way
// alone, twice or not at all, or one that they have in common would be two for a while, of which each knows half.
func (m Met) Alike() bool {
	for _, at := range []map[string]Pass{m.Was, m.Is} {
		for _, one := range at {
			for _, f := range one.Of {
				if m.Nodes[f] {
					return false // it gets a namespace, or has none any more
				}
			}
		}
	}
	concerned := m.concerned()
	if len(concerned) == 0 {
		return true
	}
	if m.translates(m.Was, m.Is) {
		return false // connections that began with it are to keep the addresses that they have
	}
	for _, at := range []map[string]Pass{m.Was, m.Is} {
		for port, one := range at {
			alone := m.There[port] && m.Wanted[port] && !m.Turned[port]
			for _, f := range one.Of {
				if f == 0 || concerned[f] && !alone {
					return false
				}
			}
		}
	}
	return !m.meetsAside(concerned)
}

// translates tells whether a function translates addresses at some ports that is not met at others.
func (Met) translates(at, others map[string]Pass) bool {
	for _, one := range at {
		for _, f := range one.Translators {
			if !slices.ContainsFunc(slices.Collect(maps.Values(others)), func(other Pass) bool { return slices.Contains(other.Of, f) }) {
				return true
			}
		}
	}
	return false
}

// meetsAside tells whether flows that stay since an earlier edit meet one of these functions aside, where the edit changes nothing.
func (m Met) meetsAside(concerned map[uint64]bool) bool {
	for _, one := range m.Aside {
		if slices.ContainsFunc(one.Of, func(f uint64) bool { return f == 0 || concerned[f] }) {
			return true
		}
	}
	return false
}

// concerned are the functions at ports where passes change, and those that come to be at a port which is new, but were met before: with a pass of
// its own, which is not that of others.
func (m Met) concerned() map[uint64]bool {
	all, before := map[uint64]bool{}, m.before()
	for port, was := range m.Was {
		changes := m.Wanted[port] && m.Is[port].Steps != was.Steps
		for _, f := range was.Of {
			if changes {
				all[f] = true
			}
		}
	}
	for port, is := range m.Is {
		changes := m.There[port] && m.Was[port].Steps != is.Steps
		for _, f := range is.Of {
			if changes || !m.There[port] && before[f] && !m.joins(is) {
				all[f] = true
			}
		}
	}
	return all
}

// before are the functions that are met before the edit, also aside.
func (m Met) before() map[uint64]bool {
	all := map[uint64]bool{}
	for _, at := range []map[string]Pass{m.Was, m.Aside} {
		for _, one := range at {
			for _, f := range one.Of {
				all[f] = true
			}
		}
	}
	return all
}

// joins tells whether a pass is one that there was at another port, and stays there.
func (m Met) joins(is Pass) bool {
	for _, port := range is.Beside {
		if m.There[port] && m.Wanted[port] && m.Was[port].Steps == is.Steps {
			return true
		}
	}
	return false
}
