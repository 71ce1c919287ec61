package watch

import (
	"fmt"
	"time"
)

// freshly is how long what was read of the ports is taken for what is there now.
const freshly = 50 * time.Millisecond

// lack is what is done where a function lacks an interface, or what else takes packets to it.
type lack struct {
	// asked tells that somebody makes it again, and given that somebody has.
	asked, given bool
	// next is when that is asked for the next time, if it is lacking yet, and between how long after the last answer.
	next    time.Time
	between time.Duration
}

// remake what a function that has failed lacks: when it has failed for as long as packets keep away at least, since who changes it may have taken
// that away to make it anew, and if that does not help, after twice as long each time.
func (w *Watcher) remake(n *node, now time.Time) {
	if !n.lacks() {
		if n.lack.given {
			n.lack.given = false
			w.config.Say(n.spec.Node, "was given what it lacked")
		}
		return
	}
	if n.lack.asked || now.Before(w.remakes(n)) {
		return
	}
	if now.Sub(w.opened) >= freshly {
		w.opened = time.Time{} // it may be there again
		return
	}
	n.lack.asked = true
	w.config.Remake(n.spec.Node)
}

// remakes is when what a function lacks is asked for: not while the chain is being changed.
func (w *Watcher) remakes(n *node) time.Time {
	if w.held.After(n.lack.next) {
		return w.held
	}
	return n.lack.next
}

// Remade tells that what a node lacked was made again, or what keeps it from that.
func (w *Watcher) Remade(name string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.nodes {
		if n.spec.Node == name && !n.leaving && !w.stopped {
			w.remade(n, err, time.Now())
		}
	}
}

func (w *Watcher) remade(n *node, err error, now time.Time) {
	n.lack.asked, n.lack.given = false, err == nil
	n.lack.next, n.lack.between = now.Add(n.lack.between), min(2*n.lack.between, longestHung)
	if err != nil {
		w.config.Say(n.spec.Node, fmt.Sprintf("could not be given what it lacks: %v", err))
	}
	w.opened = time.Time{} // what is at the ports now
	w.stir()
	w.alarm.set(0)
}
