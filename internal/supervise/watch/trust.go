package watch

import "time"

const (
	// missing probes in a row say that a function has failed,
	missing = 3
	// once it is as long as this that the first of them was sent, and twice what probes took
	// lately besides: a function may delay on purpose, and who sends may be late.
	patience = 20 * time.Millisecond
	// garbled is how many probes in a row say so where other packets come out, and none of them: what
	// does is something else. One that drops most packets lets one of so many through.
	garbled = 1000
	// divided is how many in a row say so where those in the other family of addresses come, half as many at least:
	// one that drops packets because they are too many makes no such difference.
	divided = 50
	// memory is how long the longest time that a probe took counts; it fades meanwhile.
	memory = 10 * time.Second
)

// trust is what signs of life say of one direction through a function. It has no clock: times
// are given.
type trust struct {
	// proven: a probe came through once, so that it means something when none does.
	proven bool
	// sent and heard are numbers of probes: of the last one, and of the last one that came
	// through, or that live packets stand for.
	sent, heard uint64
	// came is the number of the last probe that did, whether or not live packets stood for it.
	came uint64
	// answers is how many have come, as far as they were seen one by one.
	answers int
	// since is when the first was sent that has not come.
	since time.Time
	// took is how long probes took lately, the longest of them, and answered when the last came.
	took     time.Duration
	answered time.Time
	// early is the number of the last probe that may have waited for the function to begin, or to go on, until as many as
	// are proofs came that were sent after it; 0 where none did. Later are these, and laterTook the longest time of one of them.
	early     uint64
	later     int
	laterTook time.Duration
}

// ask notes that a probe is sent, and gives its number.
func (t *trust) ask(now time.Time) uint64 {
	if t.heard >= t.sent {
		t.since = now
	}
	t.sent++
	return t.sent
}

// skip numbers up to one, where nothing is missing.
func (t *trust) skip(to uint64) { t.sent, t.heard, t.came = to, to, to }

// unask takes the last probe back, which could not be sent.
func (t *trust) unask() {
	if t.sent > t.heard {
		t.sent--
	}
}

// hear notes that a probe came through. One that was not sent is another supervisor's: numbers go on from there, or none would be
// seen for long.
func (t *trust) hear(number uint64, took time.Duration, now time.Time) {
	if number <= t.came {
		return
	}
	if !t.proven {
		t.begins(max(t.sent, number))
	}
	t.proven, t.came, t.sent = true, number, max(t.sent, number)
	t.answers++
	t.took, t.answered = t.longest(number, took, now), now
	if number > t.heard {
		t.heard, t.since = number, now
	}
}

// begins notes that the function lets probes through from now on: those that were sent by now may have waited for that, which says
// nothing of how long one takes from then on.
func (t *trust) begins(sent uint64) { t.early, t.later, t.laterTook = sent, 0, 0 }

// learns tells that it is still to be known how long a probe takes that waits for nothing.
func (t *trust) learns() bool { return t.proven && t.early > 0 }

// longest is how long probes took lately when one has come.
func (t *trust) longest(number uint64, took time.Duration, now time.Time) time.Duration {
	if t.learns() && number > t.early {
		t.later, t.laterTook = t.later+1, max(t.laterTook, took)
		if t.later == proofs {
			t.early = 0
			return t.laterTook
		}
	}
	return max(took, t.faded(now))
}

// faded is the longest time that a probe took, as far as it still counts.
func (t *trust) faded(now time.Time) time.Duration {
	since := min(now.Sub(t.answered), memory)
	return time.Duration(float64(t.took) * (1 - float64(since)/float64(memory)))
}

// doubtful tells that probes are missing, though live packets stand for them.
func (t *trust) doubtful() bool { return t.proven && t.sent >= t.came+missing }

// splits tells that probes are missing while so many answers came in the other family of addresses.
func (t *trust) splits(answers int) bool {
	return t.proven && t.sent >= t.came+divided && answers >= divided/2
}

// garbles tells that packets come out of the function, and what goes in does not.
func (t *trust) garbles() bool { return t.proven && t.sent >= t.came+garbled }

// live notes that other packets came out: the probes that are under way need not come any more.
func (t *trust) live() { t.heard = max(t.heard, t.sent) }

// adopt what was seen before, from which numbers go on. It proves something unless the function was
// changed since: then it may be meant to let probes through no more.
func (t *trust) adopt(number uint64, changed bool) {
	if number > t.sent {
		t.sent, t.heard, t.came, t.proven = number, number, number, !changed
	}
}

// asking tells that a probe is under way.
func (t *trust) asking() bool { return t.sent > t.heard }

// late tells that the first probe under way should have come by now.
func (t *trust) late(now time.Time) bool { return now.Sub(t.since) >= patience+2*t.took }

// overdue tells that the first probe under way takes longer than any did lately.
func (t *trust) overdue(now time.Time) bool { return now.Sub(t.since) > t.took }

// lost tells that the function lets nothing through any more in this direction.
func (t *trust) lost(now time.Time) bool {
	return t.proven && t.sent >= t.heard+missing && t.late(now)
}
