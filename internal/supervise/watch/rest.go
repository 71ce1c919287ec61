package watch

import (
	"slices"
	"time"
)

// routine is what is asked at each turn while all functions are at rest. Nothing else is looked at then: bringing what is known of all ways
// into a core's caches costs more than looking at it.
type routine [turns][]*way

// settle notes which ways joined at this beat, where one of each function did: when it is their turn again, that is all there is to do.
func (w *Watcher) settle(now time.Time) {
	all := len(w.joined) == len(w.nodes) && len(w.post.ways) == 0
	if turn := w.turnAt(now); all && !slices.ContainsFunc(w.nodes, func(n *node) bool { return n.leaving }) {
		w.routine[turn] = slices.Clone(w.joined)
	} else {
		w.routine[turn] = nil
	}
}

// stir has everything be looked at again, until each turn has come once more.
func (w *Watcher) stir() { w.routine = routine{} }

// resting gives the ways that are to be asked now, if that is all there is to do; none if it may not be.
func (w *Watcher) resting(now time.Time) []*way {
	ways := w.routine[w.turnAt(now)]
	if len(ways) == 0 || len(w.ended) > 0 || w.anyUnready() || w.unsure || w.askedLately(ways[0], now) || now.Sub(w.opened) >= readsIdle {
		return nil
	}
	if slices.ContainsFunc(ways, func(v *way) bool { return v.sent != v.came }) || w.attended(now) {
		return nil
	}
	return ways
}

// anyUnready tells that a program of a watched function is not ready; others speak against none.
func (w *Watcher) anyUnready() bool {
	return len(w.unready) > 0 && slices.ContainsFunc(w.nodes, func(n *node) bool { return n.unready(w.unready) != "" })
}

// attended tells whether packets came from the ends.
func (w *Watcher) attended(now time.Time) (any bool) {
	for _, p := range w.ends {
		any = p.came() || any
	}
	if any {
		w.quicken(now)
	}
	return any
}

// quicken notes that packets came, wherever they were seen first. With the first of them it is time for all functions, which were at rest.
func (w *Watcher) quicken(now time.Time) {
	if !w.flows(now) {
		for _, n := range w.nodes {
			if !n.failed && n.due.After(now) {
				n.due = now
			}
		}
	}
	w.active = now
}

// rest asks what is asked at rest, and sets when to look again; false where more is to be done.
func (w *Watcher) rest(now time.Time) bool {
	ways := w.resting(now)
	if ways == nil {
		return false
	}
	w.join(ways...)
	w.round(now)
	w.send()
	for _, v := range ways {
		v.hearken(w.table, now)
	}
	after := w.beat(now).Sub(now)
	if slices.ContainsFunc(ways, func(v *way) bool { return v.unasked || v.asking() }) {
		w.stir()
		after = fast
	}
	w.sleep(now, after)
	return true
}

// sleep until it is time to look again. What comes through functions at rest wakes who watches before, but not for a while after something did.
func (w *Watcher) sleep(now time.Time, after time.Duration) {
	switch {
	case w.table == nil || w.flows(now):
	case now.Before(w.awaits):
		after = min(after, w.awaits.Sub(now))
	default:
		w.table.Rest()
	}
	w.alarm.set(after)
}

// heed what comes through functions at rest.
func (w *Watcher) heed() {
	for w.table.Wait() {
		w.mu.Lock()
		w.wake(time.Now())
		w.mu.Unlock()
	}
}

// wake, as something came through. It may be what a function sends by itself, and then nobody is woken again for a while.
func (w *Watcher) wake(now time.Time) {
	w.awaits = now.Add(deaf)
	w.alarm.set(0)
}
