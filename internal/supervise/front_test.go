package supervise_test

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// besidePaths is a chain whose functions send packets on by marks, half of the flows by each way, but for those that go by a path of one
// function which is not watched.
const besidePaths = `functions:
- {name: tell, kind: forward, branches: [{mark: 1, mask: 1, to: two}]}
- {name: one, kind: forward, onFailure: bypass, next: last}
- {name: two, kind: forward, onFailure: bypass}
- {name: last, kind: forward, onFailure: block}
classifier: {otherwise: chain, rules: [{name: ping, match: {protocol: icmp}, functions: [tell]}, {name: ping6, match: {protocol: icmpv6}, functions: [tell]}]}
`

// TestLedPastBesidePaths: where ways part, and rules lead other flows by paths, what goes to a function which fails is led past it, or ends
// before it, and what is on a path that does not go there comes through. Who watches next knows it.
func TestLedPastBesidePaths(t *testing.T) {
	t.Parallel()
	p := newPath(t, besidePaths)
	all := []string{"tell", "one", "two", "last"}
	p.marked("tell", 1)
	p.countsAt(all...)
	p.well(all[1:]...)
	p.crosses()
	s := answered(t, p, 64)
	s.back.more(t, 500)
	visits := func(what, want string) {
		t.Helper()
		p.visit(s, what, want, all...)
	}
	visits("at first", "tell one two last")
	p.sh("two", nstest.Drops)
	p.until("two", "failed", hasFailed)
	p.fails(p.watched("tell").East, steer.Past, "two")
	s.back.more(t, 50)
	from, dropped := s.next.Load(), nstest.Dropped(t)
	visits("while two fails", "tell one last")
	p.crosses()
	killSupervisorOf(t, p.owner)
	p.up(besidePaths)
	p.until("two", "failed", hasFailed)
	p.sh("two", nstest.Mends)
	p.well("two")
	visits("when all are well", "tell one two last")
	to := s.next.Load()
	s.back.more(t, 100)
	s.whole(t, from+1, to, dropped)
	s.back.whole(t, from+1, to, dropped)
	p.sh("last", nstest.Drops)
	p.until("last", "failed", hasFailed)
	p.fails(p.watched("two").East, steer.Ends, "last")
	before, _ := p.came("last")
	p.crosses()
	for sent := s.next.Load(); s.next.Load() < sent+400; time.Sleep(interval) {
	}
	if after, _ := p.came("last"); after > before+200 { // some were on their way
		t.Errorf("%d packets came to the last function while it failed", after-before)
	}
	p.sh("last", nstest.Mends)
	p.well("last")
	s.back.more(t, 100)
	visits("when all are well again", "tell one two last")
}
