package impair

// packet is one that is held until its time.
type packet struct {
	data []byte
	// due is when it should leave.
	due int64
}

// late packets, put behind others.
type putBack struct {
	packet
	// behind is how many packets must still overtake it.
	behind int
	// until is when it is given up waiting for them.
	until int64
}

// patience is how long a packet waits, beyond its time, for those that are to
// overtake it: 1 s.
const patience = 1e9

// line holds the packets of one direction. Times are nanoseconds of any clock
// that does not go back; it is told them and reads none.
type line struct {
	config Config
	dice   dice
	counts *Counts

	waiting queue
	back    []putBack
	// last is when the packet that came last should leave: nobody overtakes it unless
	// that was asked for.
	last int64
	pool pool
}

func newLine(c Config, way int, counts *Counts) *line {
	return &line{config: c, dice: newDice(c.Seed, way), counts: counts}
}

// arrive takes a packet in that came at some time.
func (l *line) arrive(at int64, data []byte) {
	l.counts.Seen++
	seen := l.counts.Seen
	if l.config.Loss.hits(l.dice, forLoss, seen) {
		l.counts.Dropped++
		return
	}
	// The others count only what is left of the packets.
	kept := seen - l.counts.Dropped
	if l.full() {
		return
	}
	due := at + l.delay(seen)
	if l.config.DelayNS > 0 {
		l.counts.Delayed++
	}
	p := packet{l.pool.copy(data), due}
	twice := l.config.Duplicate.hits(l.dice, forDuplicate, kept)
	if l.config.Reorder.hits(l.dice, forReorder, kept) {
		l.counts.Reordered++
		l.back = append(l.back, putBack{p, l.config.By, due + patience})
	} else {
		l.enqueue(p)
		l.overtake()
	}
	if twice {
		l.double(data, due)
	}
}

// delay of the n-th packet.
func (l *line) delay(n uint64) int64 {
	d := l.config.DelayNS
	if j := l.config.JitterNS; j > 0 {
		d += int64((2*l.dice.draw(forJitter, n) - 1) * float64(j))
	}
	return d
}

// double sends a packet once more, next to the first.
func (l *line) double(data []byte, due int64) {
	l.counts.Duplicated++
	if !l.full() {
		l.enqueue(packet{l.pool.copy(data), due})
	}
}

// full tells whether no more packets are taken, and counts the one that is not.
func (l *line) full() bool {
	if l.waiting.len()+len(l.back) < l.config.Limit {
		return false
	}
	l.counts.Overflowed++
	return true
}

func (l *line) enqueue(p packet) {
	l.last = max(l.last, p.due)
	p.due = l.last
	l.waiting.push(p)
}

// overtake lets a packet pass those that are put back, and those go that enough have
// passed.
func (l *line) overtake() {
	stay := l.back[:0]
	for _, b := range l.back {
		if b.behind--; b.behind <= 0 {
			l.enqueue(b.packet)
		} else {
			stay = append(stay, b)
		}
	}
	l.back = stay
}

// giveUp lets those go that nobody overtook in time.
func (l *line) giveUp(now int64) {
	for len(l.back) > 0 && l.back[0].until <= now {
		b := l.back[0]
		l.back = append(l.back[:0], l.back[1:]...)
		l.counts.GivenUp++
		b.due = b.until
		l.enqueue(b.packet)
	}
}

// leave gives the next packet that is due. Its data belongs to the caller until it
// calls done.
func (l *line) leave(now int64) (packet, bool) {
	if l.waiting.len() == 0 || l.waiting.first().due > now {
		return packet{}, false
	}
	return l.waiting.pop(), true
}

// done takes a packet's memory back.
func (l *line) done(p packet) { l.pool.put(p.data) }

// next is when there is something to do; never is the end of time.
func (l *line) next() int64 {
	at := int64(never)
	if l.waiting.len() > 0 {
		at = l.waiting.first().due
	}
	if len(l.back) > 0 {
		at = min(at, l.back[0].until)
	}
	return at
}

const never = 1<<63 - 1
