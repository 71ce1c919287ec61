package watch

import (
	"fmt"
	"slices"
	"time"

	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
)

const (
	// firstPause is how long packets keep away from a function that failed, at least; it doubles,
	// up to longestPause, while it fails again before it was well for steady.
	firstPause, longestPause = 100 * time.Millisecond, 10 * time.Second
	steady                   = 10 * time.Second
	// proofs in a row, all looks without a missing probe, bring a function back.
	proofs = 3
	// hung is how long a program may be up while no probe comes through, before it is killed,
	// to be started again; that doubles, too, up to longestHung.
	hung, longestHung = time.Second, 30 * time.Second
	// seldom is how often a way is asked, without anything coming through, until it is at beats alone.
	seldom = 8
)

// way is one direction through a function, in by one port and out by the other, for one family of addresses.
type way struct {
	trust
	name    string
	in, out *port
	frame   *frame
	// row of the table where what has come through is noted.
	row int
	// twin is the same direction in the other family; nil where there is one family. Second is the one of both that is
	// tried more seldom while packets flow, and others how many probes the twin had let through when the last came
	// of this one.
	twin   *way
	second bool
	others int
	// passing: packets came out since the last probe was due, and wonders: nevertheless probes are missing.
	passing, wonders bool
	// asked is when the last probe was sent, and unasked that it could not be.
	asked   time.Time
	unasked bool
	// tries is how often it was asked by itself since the function was ready, which tells when it is again while none has come through.
	tries int
	// before and next are the ways of the same kind through the functions around, where one probe may go through them
	// all, and last is where the one ends that was sent into this way.
	before, next, last *way
	// joined: it is asked with others at this beat; carried: the last probe had come through the one before; and until apart
	// none is to.
	joined, carried bool
	apart           time.Time
	// changed: the function is not the one that was watched before.
	changed bool
	// owes: the one before let probes through until it failed, so that this one is not taken for well
	// before it does.
	owes bool
}

// listen to what came out, and tell whether packets did. Of a function that has failed, only probes
// tell that it is well: what it had before may come out yet. Of which family packets are is not known, so that
// they stand for both.
func (n *node) listen() (any bool) {
	for _, w := range n.ways {
		if w.second || !w.out.came() {
			continue
		}
		any = true
		for _, v := range []*way{w, w.twin} {
			if v != nil && !n.failed {
				v.live()
				v.passing = true
			}
		}
	}
	return any
}

// hearken to the probes that came through.
func (w *way) hearken(table *health.Table, now time.Time) {
	if w.sent > 0 && w.sent == w.came || w.out.taker == nil {
		return // all that were sent have come, or there is nobody who sees them
	}
	seen := table.Seen(w.row)
	if w.sent == 0 {
		w.adopt(seen.Number, w.changed)
		return
	}
	w.hear(seen.Number, time.Duration(seen.TookNS), now)
}

// hear notes that a probe came through.
func (w *way) hear(number uint64, took time.Duration, now time.Time) {
	if number > w.came && w.twin != nil {
		w.others = w.twin.answers
	}
	w.trust.hear(number, took, now)
}

// splits tells that packets of the other family come through, and those of this one do not.
func (w *way) splits() bool { return w.twin != nil && w.trust.splits(w.twin.answers-w.others) }

// wonder whether probes are missing, though live packets stand for them: several, or the last one, which should
// have come by now.
func (w *way) wonder(now time.Time) {
	w.wonders = w.doubtful() || w.proven && w.sent > w.came && now.Sub(w.asked) >= patience+2*w.took
}

// String is the direction, with the family where there are two.
func (w *way) String() string {
	if w.twin == nil {
		return w.name
	}
	return w.name + " over " + w.frame.family()
}

// due tells that probes should come through.
func (w *way) due() bool { return w.proven || w.owes }

// again is when it is asked the next time, if no beat is before, where none has come through yet: 10 ms later, and twice that each time,
// and 10 ms where too few have to tell how long they take.
func (w *way) again() time.Time {
	switch {
	case w.learns():
		return w.asked.Add(fast)
	case w.tries == 0:
		return w.asked
	}
	return w.asked.Add(fast << (min(w.tries, seldom) - 1))
}

// again is when a way is asked through which none has come yet, or too few have, if that is before a function is due.
func (n *node) again(now, due time.Time) time.Time {
	for _, w := range n.ways {
		if at := w.again(); (!w.due() || w.learns()) && at.After(now) && at.Before(due) {
			due = at
		}
	}
	return due
}

// begins to be ready: what may come through by now is looked for at once.
func (n *node) begins(now time.Time) {
	for _, w := range n.ways {
		w.tries = 0
	}
	if !n.failed {
		n.due = now
	}
}

// node is a watched function.
type node struct {
	spec process.Watched
	// number in path order.
	number int
	// leaving tells that it is on no path any more but those that flows stay on, and over that none do.
	leaving, over bool
	ways          []*way

	failed   bool
	reason   string
	since    time.Time
	failures int

	// due is when it is probed again.
	due   time.Time
	pause time.Duration
	good  int
	// quiet is since when nothing spoke for it, though its programs are up, and hung how long they may
	// go on so.
	quiet time.Time
	hung  time.Duration
	lack  lack
}

// know what was known of the function of that name.
func (n *node) know(old *node) {
	n.reason, n.failures, n.since = old.reason, old.failures, old.since
	if old.failed {
		n.failed, n.pause, n.hung, n.quiet, n.lack.between = true, firstPause, hung, time.Now(), hung
	}
	for _, w := range n.ways {
		for _, was := range old.ways {
			if was.String() != w.String() {
				continue
			}
			if w.changed = n.spec.Version != old.spec.Version; !w.changed {
				w.trust, w.others = was.trust, was.others
			}
			w.owes = old.failed && was.due()
		}
	}
}

// ill says why a function has failed; "" where it has not.
func (n *node) ill(now time.Time, ended map[string]string) string {
	for _, name := range n.spec.Programs {
		if how, is := ended[name]; is {
			return fmt.Sprintf("its program %s %s", name, how)
		}
	}
	if why := n.cut(); why != "" && n.lacks() { // one that is down is told of by probes, which may still pass where it only was when it was last looked at
		return why
	}
	for _, w := range n.ways {
		if w.lost(now) {
			return fmt.Sprintf("%d probes %s have not come through", w.sent-w.heard, w)
		}
		if w.splits() {
			return fmt.Sprintf("%d probes %s have not come through, and those over %s do", w.sent-w.came, w, w.twin.frame.family())
		}
		if w.garbles() {
			return fmt.Sprintf("packets come out of it %s, and of %d probes none", w, w.sent-w.came)
		}
	}
	return ""
}

// lacks tells whether one of its interfaces is not there.
func (n *node) lacks() bool {
	return slices.ContainsFunc(n.ways, func(w *way) bool { return w.in.gone || w.out.gone })
}

// cut says which of its interfaces takes no packets.
func (n *node) cut() string {
	for _, w := range n.ways {
		for _, p := range []*port{w.in, w.out} { // of a function that is one-way, nothing comes in by the other
			switch {
			case p.down:
				return fmt.Sprintf("its interface behind port %s is down; `nfchain up` has it up, with what it lost", p.name)
			case p.gone:
				return fmt.Sprintf("its interface behind port %s is not there", p.name)
			}
		}
	}
	return ""
}

// unready says which of its programs is not ready, though it runs.
func (n *node) unready(programs map[string]string) string {
	for _, name := range n.spec.Programs {
		if why, is := programs[name]; is {
			return fmt.Sprintf("its program %s %s", name, why)
		}
	}
	return ""
}

// silent tells that a probe has been under way for longer than it takes to send the next.
func (n *node) silent(now time.Time) bool {
	for _, w := range n.ways {
		if w.due() && w.asking() && now.Sub(w.since) >= fast {
			return true
		}
	}
	return false
}

// halted says which of its programs takes no packet any more, as the kernel has it: no other probe need be
// waited for then. One that is killed is told to have ended only when all that it held is gone, which takes
// the kernel longer than probes do where that is an interface.
func (n *node) halted(pids map[string]int) string {
	for _, name := range n.spec.Programs {
		if how := halted(pids[name]); how != "" {
			return fmt.Sprintf("its program %s %s", name, how)
		}
	}
	return ""
}

// fail notes that it has.
func (n *node) fail(now time.Time, reason string) {
	if n.pause == 0 || now.Sub(n.since) > steady {
		n.pause, n.hung = firstPause, hung
	} else {
		n.pause = min(2*n.pause, longestPause)
	}
	n.failed, n.reason, n.since, n.good = true, reason, now, 0
	n.due, n.quiet = now.Add(n.pause), now
	n.lack.next, n.lack.between = n.due, hung
	n.failures++
}

// heal notes that it is well again.
func (n *node) heal(now time.Time) {
	n.failed, n.since, n.due = false, now, now
	for _, w := range n.ways {
		w.live() // what is missing from before is forgotten
	}
}

// well tells that nothing speaks against a function that had failed: its programs are ready, its
// ports are there, and the last probes have come.
func (n *node) well(programs map[string]string) bool {
	if !n.up(programs) {
		return false
	}
	for _, w := range n.ways {
		if w.in.steer == nil || w.out.gone || w.owes && !w.proven || w.proven && w.asking() {
			return false
		}
	}
	return true
}

// up tells that programs run, or have done their work: one that is started again when it fails, and
// ended, did not.
func (n *node) up(programs map[string]string) bool {
	return n.all(programs, process.Running, process.Ended)
}

// all tells that each of its programs is in one of these states.
func (n *node) all(programs map[string]string, states ...string) bool {
	return !slices.ContainsFunc(n.spec.Programs, func(name string) bool { return !slices.Contains(states, programs[name]) })
}

// stuck tells that programs are up, and have been given long enough to let probes through.
func (n *node) stuck(now time.Time, programs map[string]string) bool {
	if !n.mendable(programs) {
		n.quiet = now
	}
	for _, w := range n.ways {
		if w.answered.After(n.quiet) {
			n.quiet = w.answered
		}
	}
	return n.asking() && now.Sub(n.quiet) >= max(n.hung, n.pause)
}

// mendable tells that all is there but what its programs do, so that others may do better. That one is ready no more is nothing
// to kill it for, but it does not keep it from that either.
func (n *node) mendable(programs map[string]string) bool {
	for _, w := range n.ways {
		if w.in.steer == nil {
			return false
		}
	}
	return n.cut() == "" && len(n.spec.Programs) > 0 && n.all(programs, process.Running, process.Ended, process.Unready)
}

// waiting for a probe that may come yet.
func (n *node) waiting(now time.Time) bool {
	for _, w := range n.ways {
		if w.due() && w.asking() && !w.late(now) {
			return true
		}
	}
	return false
}

// asking tells that a probe is under way that should come through.
func (n *node) asking() bool {
	for _, w := range n.ways {
		if w.due() && w.asking() {
			return true
		}
	}
	return false
}

// overdue tells that a probe is under way that should have come by now.
func (n *node) overdue(now time.Time) bool {
	return slices.ContainsFunc(n.ways, func(w *way) bool { return w.due() && w.asking() && w.overdue(now) })
}

// health as it is told.
func (n *node) health() process.Health {
	h := process.Health{Node: n.spec.Node, Version: n.spec.Version, State: process.Unproven, Since: n.since, OnFailure: n.spec.OnFailure,
		Failures: n.failures, Reason: n.reason, Proven: []string{}}
	for _, w := range n.ways {
		switch {
		case !w.proven:
		case w.twin == nil || !w.twin.proven:
			h.State, h.Proven = process.Healthy, append(h.Proven, w.String())
		case !w.second:
			h.State, h.Proven = process.Healthy, append(h.Proven, w.name)
		}
	}
	if n.failed {
		h.State = process.Failed
	}
	return h
}
