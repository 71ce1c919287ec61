package rules

import (
	"cmp"
	"encoding/binary"
	"net/netip"
	"slices"

	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// number is a place in a dimension: an address or a port.
type number struct{ high, low uint64 }

func (n number) compare(m number) int {
	return cmp.Or(cmp.Compare(n.high, m.high), cmp.Compare(n.low, m.low))
}

// next is the number behind; there is none behind the last.
func (n number) next() (number, bool) {
	n.low++
	if n.low == 0 {
		n.high++
	}
	return n, n != number{}
}

// dimension is one that rules have ranges in.
type dimension struct {
	// wide numbers have 128 bits, others 32.
	wide bool
	// of gives the range that a rule has there; false if it matches nothing there.
	of func(r ruleset.Rule) (first, last number, ok bool)
}

// The dimensions, in the order in which a table has them.
const (
	source4 = iota
	destination4
	source6
	destination6
	sourcePort
	destinationPort
	dimensions
)

var all = [dimensions]dimension{
	source4:      {of: func(r ruleset.Rule) (number, number, bool) { return ends(r.Source, 32) }},
	destination4: {of: func(r ruleset.Rule) (number, number, bool) { return ends(r.Destination, 32) }},
	source6:      {wide: true, of: func(r ruleset.Rule) (number, number, bool) { return ends(r.Source, 128) }},
	destination6: {wide: true, of: func(r ruleset.Rule) (number, number, bool) { return ends(r.Destination, 128) }},
	sourcePort:   {of: func(r ruleset.Rule) (number, number, bool) { return ports(r.SourcePorts) }},
	destinationPort: {of: func(r ruleset.Rule) (number, number, bool) {
		return ports(r.DestinationPorts)
	}},
}

// ends of a prefix among the addresses of so many bits. No prefix is every address.
func ends(p netip.Prefix, width int) (first, last number, ok bool) {
	if p.IsValid() && p.Addr().BitLen() != width {
		return number{}, number{}, false
	}
	free := width
	if p.IsValid() {
		first, free = numberOf(p.Masked().Addr()), width-p.Bits()
	}
	last = first
	last.low |= 1<<min(free, 64) - 1
	last.high |= 1<<max(free-64, 0) - 1
	return first, last, true
}

func numberOf(a netip.Addr) number {
	if a.Is4() {
		b := a.As4()
		return number{low: uint64(binary.BigEndian.Uint32(b[:]))}
	}
	b := a.As16()
	return number{high: binary.BigEndian.Uint64(b[:8]), low: binary.BigEndian.Uint64(b[8:])}
}

// everyPort is as wide as what a table compares, beyond the ports there are.
var everyPort = number{low: 1<<32 - 1}

func ports(p ruleset.Ports) (first, last number, ok bool) {
	if p == (ruleset.Ports{}) {
		return number{}, everyPort, true
	}
	return number{low: uint64(p.First)}, number{low: uint64(p.Last)}, true
}

// cut is a dimension cut into ranges: the first begins at 0, the others at starts.
type cut struct {
	starts  []number
	vectors []uint32
}

// turn is a place where a rule begins to match, or no longer does.
type turn struct {
	at   number
	rule int
}

// cut walks along a dimension and notes every place where other rules match.
func (p *pool) cut(d dimension, rules []ruleset.Rule, blocks int) cut {
	turns := turns(d, rules)
	w := p.pencil(blocks)
	for len(turns) > 0 && turns[0].at == (number{}) {
		w.turn(turns[0].rule)
		turns = turns[1:]
	}
	c := cut{vectors: []uint32{w.vector()}}
	for len(turns) > 0 && p.room >= 0 {
		at := turns[0].at
		for len(turns) > 0 && turns[0].at == at {
			w.turn(turns[0].rule)
			turns = turns[1:]
		}
		if v := w.vector(); v != c.vectors[len(c.vectors)-1] {
			c.starts, c.vectors = append(c.starts, at), append(c.vectors, v)
		}
	}
	return c
}

// turns of all rules, in order.
func turns(d dimension, rules []ruleset.Rule) []turn {
	var found []turn
	for i, r := range rules {
		first, last, ok := d.of(r)
		if !ok {
			continue
		}
		found = append(found, turn{first, i})
		if behind, ok := last.next(); ok && (d.wide || behind.low <= everyPort.low) {
			found = append(found, turn{behind, i})
		}
	}
	slices.SortFunc(found, func(a, b turn) int { return a.at.compare(b.at) })
	return found
}
