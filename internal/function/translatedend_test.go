package function_test

import "fmt"

// ending is how a connection of TCP ended.
type ending int

const (
	lives ending = iota
	closed
	refused
	reset
)

// end a connection of TCP, as its ends may: they close it, or the one that was asked refuses it, or one of them resets it, of
// which the other may not hear.
func (w *traffic) end(c *connection) {
	switch {
	case c.opened.protocol != tcp || c.ended != lives:
		w.answer(c)
	case !c.answered:
		w.back(c, rst|ack)
		c.ended = refused // and nothing is heard of it any more, but that it is opened anew
		delete(w.used[0], asWent(c.went[0]))
	case w.IntN(2) == 0:
		w.close(c)
	default:
		w.reset(c)
	}
}

// asWent names what a connection went on as.
func asWent(p *packet) string { return fmt.Sprint(p.protocol, p.asks, p.from, p.to) }

// says something of a connection, from the end that opened it or from the other.
func (w *traffic) says(c *connection, opener bool, flags byte) {
	w.t.Helper()
	if opener {
		w.onward(c, flags)
	} else {
		w.back(c, flags)
	}
}

// close a connection from both ends.
func (w *traffic) close(c *connection) {
	opener := w.IntN(2) == 0
	w.says(c, opener, fin|ack)
	if w.IntN(2) == 0 {
		w.says(c, !opener, ack)
	}
	w.says(c, !opener, fin|ack)
	w.says(c, opener, ack)
	c.ended = closed
}

// reset a connection from one end, which may open it anew at once. What it becomes is as before then, but where netfilter
// knows by the sequence number that the reset was of who opens it now.
func (w *traffic) reset(c *connection) {
	opener := w.IntN(2) == 0
	w.says(c, opener, rst|ack)
	if w.IntN(2) == 0 {
		w.reopen(c, [2]bool{opener, false})
	}
	c.ended = reset
}

// reopen a connection, of which rules are asked anew in either form, or which goes on as it did.
func (w *traffic) reopen(c *connection, anew [2]bool) {
	w.t.Helper()
	p, before := w.odd(c.opened), c.went
	p.payload = w.said()
	c.went, c.answered, c.ended = w.send(w.t, c.way, pair{&p, &p}, w.first()), false, lives
	w.alike(p, c.went)
	for form, went := range c.went {
		if went == nil || !anew[form] && (went.from != before[form].from || went.to != before[form].to) {
			w.t.Fatalf("form %d: %s is opened anew and goes on as %s, after %s", form, p, went, before[form])
		}
		if !anew[form] {
			continue
		}
		if form == 0 {
			delete(w.used[form], asWent(before[form]))
			w.note(form, c, *went)
			continue
		}
		// What it was is its own for a while.
		for _, had := range c.had {
			delete(w.used[form], had)
		}
		w.note(form, c, *went)
		for _, had := range c.had {
			w.used[form][had] = true
		}
	}
}
