package plan

import (
	"maps"
	"slices"
	"strings"
)

// Bygone is how flows that stay on the path that they began on meet the functions without a namespace that they met before, where new ones do not.
type Bygone struct {
	// Ports past which those that stay are led, since what packets meet there changes: they meet what was there, elsewhere.
	Ports []string
	// Translating are those of them where addresses are translated: before that, packets have other headers than those by which what is at the port
	// knows flows.
	Translating []string
	// Noted are ports that are turned, at which addresses are translated as before: flows that stay are noted before that, too, so that the next edit
	// can lead them past it.
	Noted []string
	// Joins are ports at which functions come to be that were at another one, or are aside, by which of these: they count and remember on, in one
	// with those.
	Joins map[string]string
}

// Bygone tells how that can be, if it can, where an edit is not [Met.Alike]. A side tells the way of packets that come in at a port, or 0 where
// nobody knows. It cannot be where a function becomes another under its name, which all flows are to meet at once, nor where what holds for all packets
// together would hold for those of the older path and those of the newer one each. Nor where a function comes that translates addresses, and none
// goes: it is to hear what is under way, which keeps its addresses then, whatever becomes of its path.
func (m Met) Bygone(side func(port string) int) (b Bygone, can bool) {
	b.Joins = map[string]string{}
	if m.translates(m.Is, m.Was) && !m.translates(m.Was, m.Is) || m.swapsRuntime() {
		return b, false
	}
	before := m.before()
	for port, was := range m.Was {
		switch {
		case !m.There[port] || !m.Wanted[port]:
		case m.Is[port].Steps == was.Steps:
			if was.Translates && m.Turned[port] {
				b.Noted = append(b.Noted, port)
			}
		default:
			b.Ports = append(b.Ports, port)
			if was.unclear() {
				return b, false
			}
			if was.Translates {
				b.Translating = append(b.Translating, port)
			}
		}
	}
	for _, port := range slices.Sorted(maps.Keys(m.Is)) {
		is, was := m.Is[port], m.Was[port]
		if m.There[port] && was.Steps == is.Steps {
			continue
		}
		if is.unclear() || m.changes(is) {
			return b, false
		}
		if m.There[port] && was.Steps == "" {
			b.Ports = append(b.Ports, port)
		}
		if from := m.cameFrom(port, side); from != "" && !is.Translates { // what one port translated another knows by that, if they are not one
			b.Joins[port] = from
			continue
		}
		again := func(f uint64) bool { return before[f] && !slices.Contains(was.Of, f) }
		if is.Together && slices.ContainsFunc(is.Of, again) {
			return b, false
		}
	}
	slices.Sort(b.Noted)
	slices.Sort(b.Ports)
	b.Ports = slices.Compact(b.Ports)
	return b, true
}

// cameFrom is the port at which what comes to be at one was before, the same way, and is no more, or at which older flows alone meet it; "" for none.
func (m Met) cameFrom(port string, side func(string) int) string {
	if m.Was[port].Steps != "" {
		return ""
	}
	is := m.Is[port]
	for _, at := range []map[string]Pass{m.Was, m.Aside} {
		for _, from := range slices.Sorted(maps.Keys(at)) {
			was := at[from]
			goes := !m.Wanted[from] || m.Is[from].Steps != was.Steps
			if goes && from != port && was.Steps == is.Steps && slices.Equal(was.Of, is.Of) && side(from) != 0 && side(from) == side(port) {
				return from
			}
		}
	}
	return ""
}

// changes tells whether a pass has a function that was met before, as another.
func (m Met) changes(is Pass) bool {
	steps := strings.Split(is.EitherWay, ", ")
	for i, f := range is.Of {
		met, same := false, false
		for _, was := range slices.AppendSeq(slices.Collect(maps.Values(m.Was)), maps.Values(m.Aside)) {
			if slices.Contains(was.Of, f) {
				met, same = true, same || slices.Contains(strings.Split(was.EitherWay, ", "), steps[min(i, len(steps)-1)])
			}
		}
		if met && !same {
			return true
		}
	}
	return false
}

// swapsRuntime tells whether a function that translates addresses gets a namespace, or has none any more: both would give the same ones.
func (m Met) swapsRuntime() bool {
	for _, at := range []map[string]Pass{m.Was, m.Is, m.Aside} {
		for _, one := range at {
			if slices.ContainsFunc(one.Translators, func(f uint64) bool { return m.Nodes[f] }) {
				return true
			}
		}
	}
	return false
}

// unclear tells whether a pass has a function that nobody noted.
func (p Pass) unclear() bool { return slices.Contains(p.Of, 0) }
