package watch

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// attend to a function while packets flow, which are as good as probes where they come out. How long probes take is
// learned all the time, and whether those of the second family come.
func (w *Watcher) attend(n *node, now time.Time) {
	for _, v := range n.ways {
		v.wonder(now)
	}
	for _, v := range n.ways {
		quiet := !v.passing && !v.second
		if quiet || v.wonders || v.twin != nil && v.twin.wonders || v.learns() || !w.askedLately(v, now) {
			w.ask(v, now)
		}
		v.passing = false
	}
}

// visit a function that is at rest. Its directions have their turns, one at each beat, and all when a probe
// does not come that should have: so two beats tell of both, for half of what asking both at each would cost.
func (w *Watcher) visit(n *node, now time.Time) {
	missing, turn := n.asking(), w.turnOf(n, now)
	if missing && !n.overdue(now) {
		return // it comes yet
	}
	for _, v := range n.ways {
		v.strays(now)
		switch v.passing = false; {
		case !missing && v == turn && w.joins(v) && !v.learns():
			w.join(v)
		case missing || v == turn || !v.due() || v.learns():
			w.ask(v, now)
		}
	}
}

// turnOf a direction in which probes come through: the one that all functions are asked in, or else the one that was asked
// longest ago; nil where any was at this beat.
func (w *Watcher) turnOf(n *node, now time.Time) (next *way) {
	for _, v := range n.ways {
		switch {
		case !v.due():
		case w.askedLately(v, now):
			return nil
		case next == nil || v.asked.Before(next.asked):
			next = v
		}
	}
	for _, v := range n.ways {
		if v.due() && w.kindAt(now) == (kind{v.name, v.second}) {
			return v
		}
	}
	return next
}

// prove that a function which had failed is well: it is, when probes came through some times in
// a row.
func (w *Watcher) prove(n *node, now time.Time) {
	if n.waiting(now) {
		n.due = now.Add(fast)
		return
	}
	well := n.well(w.programs)
	for _, v := range n.ways {
		if well && n.good == 0 {
			v.trust.begins(v.sent)
		}
		w.ask(v, now)
	}
	w.send()
	if well && !slices.ContainsFunc(n.ways, func(v *way) bool { return v.unasked }) {
		n.good++
		n.due = now.Add(fast)
		return
	}
	n.good = 0
	n.due = now.Add(min(n.pause, slow))
}

// ask by a probe, which is sent with others. Where none came through yet, one a second is enough, but soon after the function is ready.
func (w *Watcher) ask(v *way, now time.Time) {
	v.unasked = false
	if !v.due() && w.askedLately(v, now) && now.Before(v.again()) {
		return
	}
	v.asked, v.unasked, v.carried = now, true, false
	if v.in.steer == nil || v.out.taker == nil || w.socket < 0 {
		return
	}
	v.tries++
	w.post.put(v, payload{Signature: w.signature, Number: v.trust.ask(now), Row: uint32(v.row), Last: uint32(v.row)}, v.in.steer.Index)
	v.unasked, v.last = false, v
}

// askedLately tells that a probe was sent since it was last time for one where functions are at rest.
func (w *Watcher) askedLately(v *way, now time.Time) bool { return w.beat(v.asked).After(now) }

// send the probes. One that cannot be is taken back, and who was to have it behind the first is asked without that one.
func (w *Watcher) send() {
	for len(w.post.ways) > 0 {
		var unsent []*way
		w.post.send(w.socket, func(v *way, err error) {
			if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENETDOWN) {
				v.in.lose() // a port that is not there is judged so, and one by which nothing can be sent
				v.in.down = errors.Is(err, unix.ENETDOWN)
			}
			w.stir()
			unsent = append(unsent, v)
		})
		for _, v := range unsent {
			w.askBehind(v)
		}
	}
}
