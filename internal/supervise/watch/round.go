package watch

import (
	"bytes"
	"time"
)

const (
	// farthest is through how many functions one probe goes at most: each takes one from its hop limit.
	farthest = 16
	// lonely is how long a function is probed by itself at which a probe ended that had come through others.
	lonely = 10 * time.Second
)

// kind of a way: those of one kind are probed at one beat, and by one probe where they can be.
type kind struct {
	name   string
	second bool
}

// turns are how many kinds there are, which have a beat each.
const turns = 4

// turnAt is which of them it is.
func (w *Watcher) turnAt(now time.Time) int { return int(now.Sub(w.beats)/slow) & (turns - 1) }

// kindAt is the kind whose turn it is.
func (w *Watcher) kindAt(now time.Time) kind {
	turn := w.turnAt(now)
	return kind{[]string{eastward, westward}[turn&1], turn&2 != 0}
}

// line up the ways of functions that are on the path: a probe comes out of one as it goes into the next, and so through all.
func (w *Watcher) line() {
	latest := map[kind]*way{}
	for _, n := range w.nodes {
		for _, v := range n.ways {
			of := kind{v.name, v.second}
			before, next := latest[of], v
			if v.name == westward {
				before, next = next, before
			}
			if before != nil && next != nil && before.frame.isLike(next.frame) {
				before.next, next.before = next, before
			}
			latest[of] = v
		}
	}
}

// isLike tells that a function which gets the one may get the other just as well: only who is next to it differs.
func (f *frame) isLike(other *frame) bool {
	const sum = 2
	return f.at == other.at && bytes.Equal(f.bytes[12:f.at-sum], other.bytes[12:f.at-sum])
}

// joins tells that one probe may go through a way and others: all that were sent have come.
func (w *Watcher) joins(v *way) bool {
	return v.proven && v.sent == v.came && v.in.steer != nil && v.out.taker != nil && w.socket >= 0
}

// join ways, which are asked with others.
func (w *Watcher) join(ways ...*way) {
	for _, v := range ways {
		v.joined = true
	}
	w.joined = append(w.joined, ways...)
}

// round asks the ways that joined, each probe as many as stand in a line. A function that takes its time is not waited for
// by those behind it.
func (w *Watcher) round(now time.Time) {
	for _, first := range w.joined {
		if first.before != nil && first.before.joined {
			continue // it is come to
		}
		for first != nil && first.joined {
			last, took := first, first.took
			for n := 1; n < farthest && last.goesOn(now); n++ {
				if took += last.next.took; took > fast/2 {
					break
				}
				last = last.next
			}
			w.askThrough(first, last, now)
			first = last.next
		}
	}
	for _, v := range w.joined {
		v.joined = false
	}
	w.joined = w.joined[:0]
}

// goesOn tells whether the probe that comes through a way may be sent into the next one: neither is apart.
func (v *way) goesOn(now time.Time) bool {
	return v.next != nil && v.next.joined && !now.Before(v.apart) && !now.Before(v.next.apart)
}

// askThrough ways from the first to the last by one probe, which has the same number for all.
func (w *Watcher) askThrough(first, last *way, now time.Time) {
	var sent uint64
	for v := first; v != last.next; v = v.next {
		sent = max(sent, v.sent)
	}
	for v := first; v != last.next; v = v.next {
		v.skip(sent)
		v.trust.ask(now)
		v.asked, v.unasked, v.carried = now, false, v != first
	}
	first.last = last
	w.post.put(first, payload{Signature: w.signature, Number: sent + 1, Row: uint32(first.row), Last: uint32(last.row)}, first.in.steer.Index)
}

// askBehind one that could not be sent its probe those that it was to go on to.
func (w *Watcher) askBehind(first *way) {
	last := first.last
	for v := first; v != last.next; v = v.next { // the machine, and not the functions, lost it
		v.unask()
		v.unasked = true
	}
	for v := first; v != last; {
		if v = v.next; v.in.steer != nil {
			w.askThrough(v, last, first.asked)
			return
		}
	}
}

// strays notes what became of a probe through several functions that did not come. If it was sent into this one, or came through
// the one before, it may be that the function lets through what is sent into it alone, or loses some; if not, it never came here,
// and what is missing begins with a probe of its own.
func (v *way) strays(now time.Time) {
	switch {
	case !v.asking() || !v.carried && (v.last == nil || v.last == v):
	case !v.carried || v.before.came >= v.sent:
		v.apart = now.Add(lonely)
	default:
		v.heard = v.sent
	}
}

// lead probes on at the ports, as these are now.
func (w *Watcher) lead() {
	for _, n := range w.nodes {
		for _, v := range n.ways {
			if v.next == nil {
				continue
			}
			var to uint32
			if p := v.next.in.steer; p != nil {
				to = p.Number
			}
			if w.table.Lead(v.row, to, v.next.row) != nil {
				w.unsure = true
			}
		}
	}
}
