package pass

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
)

// translator is what a NAT is to do, written without a look at how the program does it.
type translator struct {
	NAT
	flows  map[tuple]known
	parts  map[part]known
	rings  [][]uint32
	turns  []uint64
	taken  []uint64 // by target, one rule's behind the other's
	done   uint64   // packets translated
	strays uint64
	full   uint64
	// redirected are dropped redirects, by the version of IP.
	redirected [7]int
}

// known is as what packets of a flow go on.
type known struct {
	becomes tuple
	last    uint64
	talk    *talk // of TCP
	end     int   // of the two, who sends them; 0 is who opened
}

// talk is how far a connection of TCP is.
type talk struct {
	asker    int // who asked for it last
	answered bool
	ended    [2]bool
	// reset is not believed any more when something else comes, and refused when the connection is granted.
	reset, refused bool
}

// asksFor tells whether flags ask for a connection.
func asksFor(flags byte) bool { return flags&(fin|syn|rst|ack) == syn }

// grants tells whether flags grant a connection.
func grants(flags byte) bool { return flags&(fin|syn|rst|ack) == syn|ack }

// over tells that both ends have closed it.
func (c *talk) over() bool { return c.refused || c.ended == [2]bool{true, true} }

// lasting tells that it is to be known for as long as one is that nobody has closed.
func (c *talk) lasting() bool { return c.answered && !c.reset && !c.over() }

// hear a packet of an end.
func (c *talk) hear(end int, flags byte) {
	switch {
	case c.over() && grants(flags):
		*c = talk{answered: true}
	case c.over() || flags&rst != 0 && c.reset:
		return
	case flags&rst != 0:
		c.refused = !c.answered && end != c.asker
		c.reset = !c.refused
		return
	case asksFor(flags) && (c.reset || c.ended != [2]bool{}):
		*c = talk{asker: end}
	case c.reset:
		*c = talk{answered: true}
	}
	if c.answered = c.answered || end != c.asker; c.answered && flags&fin != 0 {
		c.ended[end] = true
	}
}

// part is a packet of which there are fragments.
type part struct {
	version             byte
	source, destination netip.Addr
	id                  uint32
}

const second = 1_000_000_000

func newTranslator(n NAT) *translator {
	m := &translator{NAT: n, flows: map[tuple]known{}, parts: map[part]known{}, turns: make([]uint64, len(n.Rules))}
	for _, r := range n.Rules {
		m.taken = append(m.taken, make([]uint64, len(r.Targets))...)
		m.rings = append(m.rings, r.ring())
	}
	return m
}

// run gives the verdict over a sound packet that opens or answers, and the packet then, but for checksums.
func (m *translator) run(frame []byte, now uint64, answers bool) (verdict uint32, want []byte) {
	want = slices.Clone(frame)
	at, _ := ipOf(frame)
	x := parse(want[at:])
	if x.other || !x.cut && ofLink(x.destination) {
		return goesOn, want
	}
	var translated, dropsIt bool
	switch {
	case x.cut:
		dropsIt = true
	case x.quotes > 0:
		translated, dropsIt = m.about(x, want[at:], now, answers)
	default:
		to, how := m.find(x, now, answers)
		if how == isFull {
			m.full++
			return dropped, frame
		}
		dropsIt, translated = how == isStray, how == isKnown && to != x.tuple
		if translated {
			x.become(want[at:], to)
		}
	}
	if dropsIt {
		m.strays++
		return dropped, frame
	}
	if translated {
		m.done++
	}
	return goesOn, want
}

// ofLink tells of an address that it means nothing behind its link, or many.
func ofLink(a netip.Addr) bool {
	if a.Is4() {
		return a.As4()[0] >= 224
	}
	return a.As16()[0]&0xfe == 0xfe
}

// How a packet stands to connections.
type how int

const (
	isKnown how = iota
	isUnknown
	isStray
	isFull
)

// unknown is a packet of no connection.
func (m *translator) unknown(x parsed, answers bool) how {
	own := slices.ContainsFunc(m.Rules, func(r Translation) bool { return r.Source && r.Targets[0].Address == x.destination })
	if answers && own {
		return isStray
	}
	return isUnknown
}

func (m *translator) find(x parsed, now uint64, back bool) (tuple, how) {
	of := part{x.version, x.source, x.destination, x.id}
	if x.later {
		p, there := m.parts[of]
		if !there || now-p.last > 30*second {
			return x.tuple, isStray
		}
		to := x.tuple
		to.source, to.destination = p.becomes.source, p.becomes.destination
		return to, isKnown
	}
	e, there := m.flows[x.tuple]
	if there && !past(x, e, now) {
		m.seen(x, e, now)
	} else {
		becomes, how := m.open(x, now, back)
		if how != isKnown {
			return x.tuple, how
		}
		e.becomes = becomes
	}
	if x.first {
		m.parts[of] = known{becomes: e.becomes, last: now}
	}
	return e.becomes, isKnown
}

func idle(t tuple, e known, now uint64) bool {
	keeps := uint64(301 * second) // the last is noted to a second
	if t.protocol == 6 && e.talk.lasting() {
		keeps = 7441 * second
	} else if t.protocol == 6 {
		keeps = 241 * second
	} else if t.echo != 0 {
		keeps = 61 * second
	}
	return now > e.last && now-e.last > keeps
}

// past tells that a packet is of a connection no more: it is known no longer, or is over and the packet opens it anew.
func past(x parsed, e known, now uint64) bool {
	return idle(x.tuple, e, now) || e.talk != nil && asksFor(x.flags) && e.talk.over()
}

// seen keeps both entries of a connection, of which one may have had to make room.
func (m *translator) seen(x parsed, e known, now uint64) {
	turned := false
	if e.talk != nil {
		before := *e.talk
		e.talk.hear(e.end, x.flags)
		turned = before != *e.talk
	}
	if !turned && now < e.last+second {
		return
	}
	t := x.tuple
	m.flows[t] = known{e.becomes, now, e.talk, e.end}
	other, there := m.flows[e.becomes.answer()]
	if !there || other.becomes == t.answer() {
		m.flows[e.becomes.answer()] = known{t.answer(), now, e.talk, 1 - e.end}
	}
}

func (m *translator) open(x parsed, now uint64, back bool) (tuple, how) {
	if x.echo == answers && !back {
		return x.tuple, isStray
	}
	if h := m.unknown(x, back); x.echo == answers || h == isStray {
		return x.tuple, h
	}
	becomes := x.tuple
	if !back {
		becomes = m.ruled(x.tuple)
	}
	return m.claim(x, becomes, now)
}

// ruled is what rules say that a connection becomes.
func (m *translator) ruled(t tuple) tuple {
	becomes, said, first := t, map[bool]bool{}, 0
	for i, r := range m.Rules {
		if said[r.Source] || !r.concerns(t) {
			first += len(r.Targets)
			continue
		}
		said[r.Source] = true
		target := m.pick(i, r, t)
		m.taken[first+target]++
		first += len(r.Targets)
		if r.Source {
			becomes.source = r.Targets[target].Address
			continue
		}
		becomes.destination = r.Targets[target].Address
		if r.Port != 0 {
			becomes.ports[1] = r.Port
		}
	}
	return becomes
}

func (r Translation) concerns(t tuple) bool {
	if r.Targets[0].Address.BitLen() != t.source.BitLen() || r.Source {
		return r.Source && r.Targets[0].Address.BitLen() == t.source.BitLen()
	}
	if r.Protocol != 0 && r.Protocol != t.protocol || r.Address != t.destination {
		return false
	}
	return r.Last == 0 || ported(t.protocol) && t.ports[1] >= r.First && t.ports[1] <= r.Last
}

func (m *translator) pick(i int, r Translation, t tuple) int {
	ring := m.rings[i]
	if len(ring) == 1 {
		return int(ring[0])
	}
	if r.ByHash {
		return int(ring[hash(t, false)%uint64(len(ring))])
	}
	m.turns[i]++
	return int(ring[(m.turns[i]-1)%uint64(len(ring))])
}

// halves of an address as the program hashes them.
func halves(a netip.Addr) (high, low uint64) {
	var w [4]uint32
	for i, b := 0, a.AsSlice(); i < len(b); i += 4 {
		w[i/4] = binary.NativeEndian.Uint32(b[i:])
	}
	return uint64(w[0])<<32 | uint64(w[1]), uint64(w[2])<<32 | uint64(w[3])
}

func hash(t tuple, all bool) uint64 {
	high, low := halves(t.source)
	h := splitmix(splitmix(splitmix(high)^low) ^ uint64(bits.ReverseBytes16(t.ports[0])))
	if !all {
		return h
	}
	high, low = halves(t.destination)
	h = splitmix(splitmix(h^high) ^ low)
	return splitmix(h ^ (uint64(t.protocol)<<16 | uint64(bits.ReverseBytes16(t.ports[1]))))
}

// claim what a connection becomes, with a port that answers to it have alone.
func (m *translator) claim(x parsed, becomes tuple, now uint64) (tuple, how) {
	t, start := x.tuple, hash(x.tuple, true)
	var c *talk
	if t.protocol == 6 {
		c = &talk{}
	}
	for n := range uint64(16) {
		e, there := m.flows[becomes.answer()]
		if !there || e.becomes == t.answer() || idle(t, e, now) {
			m.flows[becomes.answer()] = known{t.answer(), now, c, 1}
			if own, there := m.flows[t]; there && !past(x, own, now) {
				return own.becomes, isKnown
			}
			m.flows[t] = known{becomes, now, c, 0}
			return becomes, isKnown
		}
		if !ported(t.protocol) && t.echo == 0 {
			return t, isFull
		}
		becomes.ports[0] = another(t, splitmix(start+n))
	}
	return t, isFull
}

// another port.
func another(t tuple, drawn uint64) uint16 {
	switch port := t.ports[0]; {
	case t.echo != 0:
		return uint16(drawn)
	case port < 512:
		return 1 + uint16(drawn%511)
	case port < 1024:
		return 600 + uint16(drawn%424)
	}
	return 1024 + uint16(drawn%64512)
}

// about translates an error, and what it quotes. A redirect of what is translated is dropped.
func (m *translator) about(x parsed, ip []byte, now uint64, back bool) (translated, strays bool) {
	quote := ip[min(x.at+x.quotes, len(ip)):]
	q := parse(quote)
	if q.none || q.later || q.other || q.quotes > 0 || q.version != x.version || q.source != x.destination {
		return false, m.unknown(x, back) == isStray
	}
	key := q.answer()
	e, there := m.flows[key]
	if !there || idle(key, e, now) {
		return false, m.unknown(x, back) == isStray
	}
	if e.becomes == key || x.redirects {
		if e.becomes != key {
			m.redirected[x.version]++
		}
		return false, e.becomes != key
	}
	to := x.tuple
	to.destination = e.becomes.destination
	if e.becomes.source != key.source {
		to.source = e.becomes.source
	}
	q.become(quote, e.becomes.answer())
	x.become(ip, to)
	return true, false
}
