package watch

import (
	"testing"
	"time"
)

const step = 10 * time.Millisecond

// TestTrust follows probes and what is heard of them, a step after the other.
func TestTrust(t *testing.T) {
	for name, c := range map[string]struct {
		steps string // a: ask, h: hear the last, e: hear the one before, l: live packets, u: the last could not be sent, .: a step of time
		lost  bool
	}{
		"nothing known":                {"", false},
		"never heard":                  {"a.a.a.a.a.a.", false},
		"all heard":                    {"ah.ah.ah.ah.", false},
		"two missing":                  {"ah.a.a.", false},
		"three missing":                {"ah.a.a.a.", true},
		"three missing at once":        {"ahaaa", false},
		"three missing, time after":    {"ahaaa..", true},
		"heard late":                   {"ah.a.a.a.h", false},
		"late by one, always":          {"ah.a.ae.ae.ae.ae.ae.ae.", false},
		"live in their place":          {"ah.a.a.l.", false},
		"live, and then nothing":       {"ah.a.a.l.a.a.a.", true},
		"live, never heard":            {"l.a.a.l.a.a.a.a.a.", false},
		"rest between":                 {"ah....................a", false},
		"rest between, then three":     {"ah....................a.a.a.", true},
		"heard again after it was not": {"ah.a.a.a.ah.a.a.", false},
		"could not be sent":            {"ah.au.au.au.au.", false},
		"one could not be sent":        {"ah.au.a.a.au.", false},
		"could be sent again":          {"ah.au.au.a.a.a.", true},
	} {
		t.Run(name, func(t *testing.T) {
			var tr trust
			now := time.Unix(0, 0)
			for _, s := range c.steps {
				switch s {
				case 'a':
					tr.ask(now)
				case 'h':
					tr.hear(tr.sent, 0, now)
				case 'e':
					tr.hear(tr.sent-1, 0, now)
				case 'u':
					tr.unask()
				case 'l':
					tr.live()
				case '.':
					now = now.Add(step)
				}
			}
			if got := tr.lost(now); got != c.lost {
				t.Errorf("lost %v: %+v", got, tr)
			}
		})
	}
}

// TestTrustOfTheSlow: a function that delays is given time, and less again when it is fast.
func TestTrustOfTheSlow(t *testing.T) {
	var tr trust
	now := time.Unix(0, 0)
	tr.hear(tr.ask(now), time.Second, now)
	missed := func() time.Duration {
		for range missing {
			tr.ask(now)
		}
		began := now
		for ; !tr.lost(now); now = now.Add(time.Millisecond) {
		}
		return now.Sub(began)
	}
	if took := missed(); took != 2*time.Second+patience {
		t.Errorf("after a second's delay it is lost in %v", took)
	}
	for range 200 {
		now = now.Add(memory / 20)
		tr.hear(tr.ask(now), time.Millisecond, now)
	}
	if took := missed(); took > patience+10*time.Millisecond {
		t.Errorf("long after that it is lost in %v", took)
	}
	tr.hear(tr.ask(now), time.Second, now)
	for range 200 { // packets come before the probes do
		now = now.Add(memory / 20)
		number := tr.ask(now)
		tr.live()
		tr.hear(number, time.Millisecond, now)
	}
	if took := missed(); took > patience+10*time.Millisecond {
		t.Errorf("long after that, while packets flow, it is lost in %v", took)
	}
}

// TestTrustOfWhoBegins: how long probes waited for a function to begin, or to go on, is forgotten when some came that did not,
// and what those took is not.
func TestTrustOfWhoBegins(t *testing.T) {
	for _, takes := range []time.Duration{time.Millisecond, 50 * time.Millisecond} {
		var tr trust
		now := time.Unix(0, 0)
		answers := func(waited time.Duration) {
			tr.ask(now)
			tr.ask(now)
			if tr.proven { // and not the first
				tr.begins(tr.sent)
			}
			tr.hear(tr.sent-1, waited, now)
			tr.hear(tr.sent, waited, now) // it was sent before the other came
			for i := range proofs {
				if tr.took < waited*9/10 {
					t.Errorf("after %d answers %v are forgotten: %+v", i, waited, tr)
				}
				now = now.Add(step)
				tr.hear(tr.ask(now), takes-time.Duration(i)*time.Microsecond, now)
			}
			if tr.took != takes {
				t.Errorf("probes take %v, and took %v: %+v", takes, tr.took, tr)
			}
		}
		answers(3 * time.Second)
		answers(time.Second)
	}
}

// TestTrustIsHandedOn: numbers go on where another supervisor stopped, and what it had proven is,
// unless the function is another one by now.
func TestTrustIsHandedOn(t *testing.T) {
	var tr trust
	now := time.Unix(0, 0)
	tr.adopt(0, false)
	if tr.proven || tr.ask(now) != 1 {
		t.Errorf("nothing was seen: %+v", tr)
	}
	for _, changed := range []bool{false, true} {
		tr = trust{}
		tr.adopt(41, changed)
		if tr.proven == changed || tr.asking() || tr.ask(now) != 42 || !tr.asking() {
			t.Errorf("41 was seen, changed %v: %+v", changed, tr)
		}
		tr.hear(41, 0, now)
		if tr.proven == changed || !tr.asking() {
			t.Errorf("41 is seen yet, changed %v: %+v", changed, tr)
		}
	}
}

// TestTrustOfStrangers: what another supervisor counted where this one looks is not waited for.
func TestTrustOfStrangers(t *testing.T) {
	var tr trust
	now := time.Unix(0, 0)
	tr.hear(tr.ask(now), 0, now)
	tr.hear(100, 0, now)
	if number := tr.ask(now); number != 101 || !tr.asking() {
		t.Errorf("the next is %d: %+v", number, tr)
	}
	for range missing - 1 {
		tr.ask(now)
	}
	if !tr.lost(now.Add(patience)) {
		t.Errorf("it is deaf: %+v", tr)
	}
}

// TestSplits: where probes of the one family come and those of the other do not, that is known after some of them, and
// a function that loses many of both is not taken for one that does.
func TestSplits(t *testing.T) {
	for name, c := range map[string]struct {
		ours, others int // so manieth comes through, none of 0
		want         bool
	}{
		"none, and all others": {0, 1, true}, "none, and half the others": {0, 2, true}, "none, and few others": {0, 5, false}, "none, and no others": {0, 0, false},
		"few, and all others": {divided - 1, 1, false}, "all, and no others": {1, 0, false},
	} {
		var tr trust
		now := time.Unix(0, 0)
		tr.hear(tr.ask(now), 0, now)
		since := 0 // of the others, that ours came
		for i := 1; i <= divided; i++ {
			if tr.splits(since) {
				t.Fatalf("%s: known after %d probes", name, i-1)
			}
			number := tr.ask(now)
			if c.others > 0 && i%c.others == 0 {
				since++
			}
			if c.ours > 0 && i%c.ours == 0 {
				tr.hear(number, 0, now)
				since = 0
			}
			tr.live()
		}
		if got := tr.splits(since); got != c.want {
			t.Errorf("%s: splits %v", name, got)
		}
	}
}

// TestGarbles: a function that gives back something else is known by probes that are missing for long,
// and one that loses many is not taken for it.
func TestGarbles(t *testing.T) {
	for name, c := range map[string]struct {
		every int // so manieth probe comes through, none of 0
		want  bool
	}{"all": {1, false}, "few": {garbled - 1, false}, "none": {0, true}} {
		var tr trust
		now := time.Unix(0, 0)
		tr.hear(tr.ask(now), 0, now)
		for i := 1; i <= garbled; i++ {
			number := tr.ask(now)
			if c.every > 0 && i%c.every == 0 {
				tr.hear(number, 0, now)
			}
			tr.live()
			if now = now.Add(step); tr.lost(now) {
				t.Fatalf("%s: lost, though packets come", name)
			}
		}
		if tr.garbles() != c.want || tr.doubtful() != (c.every != 1 && c.want) {
			t.Errorf("%s come: garbles %v, doubtful %v", name, tr.garbles(), tr.doubtful())
		}
	}
}
