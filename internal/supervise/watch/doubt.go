package watch

import (
	"fmt"
	"slices"
	"time"
)

// doubted is how long something at a port may be in the way before that is said: others may be changing it.
const doubted = 5 * time.Second

// doubt is what is in the way at a port, since when, whether that was said, and whether it was met since ports were last read.
type doubt struct {
	text      string
	since     time.Time
	said, met bool
}

// doubt notes that something at a port could not be read or changed, if so. It is tried again, and said of the functions there if it stays so.
func (w *Watcher) doubt(p *port, err error) {
	if err == nil {
		return
	}
	w.unsure = true
	if w.doubts == nil {
		w.doubts = map[*port]doubt{}
	}
	d, is := w.doubts[p]
	if !is {
		d.since = time.Now()
	}
	d.text, d.met = err.Error(), true
	w.doubts[p] = d
}

// doubtAll notes what is in the way at each port.
func (w *Watcher) doubtAll(err error) {
	for _, p := range w.ports {
		w.doubt(p, err)
	}
}

// ponder what is in the way when all ports have been read and turned, and begin anew: what was not met is not there any more.
func (w *Watcher) ponder(now time.Time) {
	for p, d := range w.doubts {
		if !d.met {
			if delete(w.doubts, p); d.said {
				w.sayAt(p, "what was in the way at port %s is not any more", p.name)
			}
			continue
		}
		if !d.said && now.Sub(d.since) >= doubted && !now.Before(w.held) {
			w.sayAt(p, "cannot be watched, or not be led past, at port %s: %s", p.name, d.text)
			d.said = true
		}
		d.met = false
		w.doubts[p] = d
	}
}

// sayAt says something of the functions that a port is of.
func (w *Watcher) sayAt(p *port, format string, args ...any) {
	for _, n := range w.nodes {
		if slices.ContainsFunc(n.ways, func(v *way) bool { return v.in == p || v.out == p }) {
			w.config.Say(n.spec.Node, fmt.Sprintf(format, args...))
		}
	}
}
