package impair

// queue is a ring of packets, first in, first out, that grows and never shrinks.
type queue struct {
	ring []packet
	// head is the place of the first, n how many there are.
	head, n int
}

func (q *queue) len() int { return q.n }

func (q *queue) first() packet { return q.ring[q.head] }

func (q *queue) push(p packet) {
	if q.n == len(q.ring) {
		larger := make([]packet, max(64, 2*len(q.ring)))
		copied := copy(larger, q.ring[q.head:])
		copy(larger[copied:], q.ring[:q.head])
		q.ring, q.head = larger, 0
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = p
	q.n++
}

func (q *queue) pop() packet {
	p := q.ring[q.head]
	q.ring[q.head] = packet{}
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return p
}

// short is the size of the buffers that most packets fit into.
const short = 2048

// pool keeps the memory of packets, so that the program makes no garbage and need
// not stop to collect it.
type pool struct{ short, long [][]byte }

// copy gives a packet memory of its own.
func (p *pool) copy(data []byte) []byte {
	free, size := &p.short, short
	if len(data) > short {
		free, size = &p.long, longest
	}
	var b []byte
	if last := len(*free) - 1; last >= 0 {
		b, *free = (*free)[last], (*free)[:last]
	} else {
		b = make([]byte, size)
	}
	return b[:copy(b[:size], data)]
}

func (p *pool) put(b []byte) {
	if cap(b) == short {
		p.short = append(p.short, b)
	} else {
		p.long = append(p.long, b)
	}
}
