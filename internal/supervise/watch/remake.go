package watch

import "time"

// freshly is how long what was read of the ports is taken for what is there now.
const freshly = 50 * time.Millisecond

// remake what a function that has failed lacks for taking packets: when it has failed for as long as packets keep away at least, since who
// changes it may have taken that away to make it anew, and if that does not help, after twice as long each time.
func (w *Watcher) remake(n *node, now time.Time) {
	if !n.lacks() || now.Before(n.remake) || now.Before(w.held) {
		return
	}
	if now.Sub(w.opened) >= freshly {
		w.opened = time.Time{} // it may be there again
		return
	}
	n.remake, n.between = now.Add(n.between), min(2*n.between, longestHung)
	w.config.Remake(n.spec.Node)
}

// Reread what is at the ports, as what functions lacked may be there again.
func (w *Watcher) Reread() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.opened = time.Time{}
	w.stir()
	w.alarm.set(0)
}
