package watch

import (
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// TestHeld: what ends while nothing is taken for a failure is one when that is over, unless it runs
// again by then. A program that is not started again, because it has done its work, has not failed.
func TestHeld(t *testing.T) {
	for name, c := range map[string]struct {
		states []string
		fails  bool
	}{
		"ended": {[]string{process.Waiting}, true}, "runs again": {[]string{process.Waiting, process.Running}, false}, "is done": {[]string{process.Ended}, false},
	} {
		now := time.Now()
		n := &node{spec: process.Watched{Node: "f", Programs: []string{"f"}, OnFailure: process.Block}}
		alarm, err := newAlarm()
		if err != nil {
			t.Fatal(err)
		}
		defer alarm.close()
		w := &Watcher{config: Config{Say: func(string, string) {}}, programs: map[string]string{}, pids: map[string]int{}, ended: map[string]string{},
			alarm: alarm, nodes: []*node{n}, held: now.Add(time.Minute)}
		for _, s := range c.states {
			w.Note(process.Status{Node: "f", State: s})
		}
		if w.act(now); n.failed {
			t.Errorf("%s: it has failed while it is held", name)
		}
		if w.act(now.Add(time.Minute)); n.failed != c.fails || len(w.ended) != 0 {
			t.Errorf("%s: failed %v, ended %v", name, n.failed, w.ended)
		}
	}
}

// TestWhyNotRunning: one that waits for others before it begins has not ended.
func TestWhyNotRunning(t *testing.T) {
	for want, s := range map[string]process.Status{
		"its program f has ended":            {Node: "f", State: process.Waiting, BeganNs: 1, Message: "ended with exit code 1; waits for a"},
		"its program f waits for a":          {Node: "f", State: process.Waiting, Message: "waits for a"},
		"its program f has not begun":        {Node: "f", State: process.Waiting},
		"its program f could not be started": {Node: "f", State: process.Waiting, Message: "could not be started"},
	} {
		n := &node{spec: process.Watched{Node: "f", Programs: []string{"f"}, OnFailure: process.Block}}
		alarm, err := newAlarm()
		if err != nil {
			t.Fatal(err)
		}
		defer alarm.close()
		w := &Watcher{config: Config{Say: func(string, string) {}}, programs: map[string]string{}, pids: map[string]int{}, ended: map[string]string{}, alarm: alarm, nodes: []*node{n}}
		w.Note(s)
		if w.act(time.Now()); n.reason != want {
			t.Errorf("of %+v: %q, want %q", s, n.reason, want)
		}
	}
}

// TestNotReady: what speaks against a function is a ready command that has said no for too long, and not one that could not be asked.
func TestNotReady(t *testing.T) {
	answered := &process.Answer{At: time.Unix(1, 0), Failures: 1}
	for name, c := range map[string]struct {
		status process.Status
		fails  bool
	}{
		"it says no":                  {process.Status{State: process.Starting, ReadyCommand: answered}, false},
		"it has said no for too long": {process.Status{State: process.Starting, Late: true, ReadyCommand: answered}, true},
		"it was never asked":          {process.Status{State: process.Starting, Late: true}, false},
		"it could not be asked":       {process.Status{State: process.Starting, Late: true, ReadyCommand: &process.Answer{Unasked: "no engine"}}, false},
		"it could not be asked any more": {process.Status{State: process.Starting, Late: true,
			ReadyCommand: &process.Answer{At: time.Unix(1, 0), Failures: 1, Unasked: "no engine"}}, true},
		"it says no again": {process.Status{State: process.Unready, Late: true, ReadyCommand: answered}, true},
	} {
		n := &node{spec: process.Watched{Node: "f", Programs: []string{"f"}, OnFailure: process.Block}}
		alarm, err := newAlarm()
		if err != nil {
			t.Fatal(err)
		}
		defer alarm.close()
		w := &Watcher{config: Config{Say: func(string, string) {}}, programs: map[string]string{}, pids: map[string]int{}, ended: map[string]string{},
			unready: map[string]string{}, alarm: alarm, nodes: []*node{n}}
		c.status.Node, c.status.Message = "f", "is not ready"
		w.Note(c.status)
		if w.act(time.Now()); n.failed != c.fails {
			t.Errorf("%s: failed %v", name, n.failed)
		}
	}
}

// TestNotReadyEither: of a function that failed for something else is told that its ready command says no, or that an interface of its own is down,
// which is no other failure. The latter is said once.
func TestNotReadyEither(t *testing.T) {
	n, now, said := newNode("1", true, false), time.Unix(100, 0), 0
	n.spec.Programs = []string{"f"}
	n.fail(now, "no probe comes through")
	w := &Watcher{config: Config{Say: func(string, string) { said++ }}, programs: map[string]string{"f": process.Unready}, unready: map[string]string{}, nodes: []*node{n}}
	const down = "its interface behind port  is down; `nfchain up` has it up, with what it lost"
	for _, c := range []struct {
		why  string
		down bool
		want string
	}{
		{"", false, "no probe comes through"}, {"is ready no more", false, "its program f is ready no more"}, {"", false, "its program f is ready no more"},
		{"is ready no more", true, down}, {"is ready no more", true, down}, {"", false, down}, {"is ready no more", false, "its program f is ready no more"},
	} {
		n.ways[0].in.down = c.down
		if delete(w.unready, "f"); c.why != "" {
			w.unready["f"] = c.why
		}
		if w.judge(n, now) || n.reason != c.want || n.failures != 1 || !n.since.Equal(now) {
			t.Errorf("%+v: %+v", c, n.health())
		}
	}
	if said != 1 {
		t.Errorf("it was said %d times", said)
	}
}

// TestBeat: functions at rest are probed at the same times whenever that is asked, one a second, and a time is
// not its own next one.
func TestBeat(t *testing.T) {
	for any := range uint64(8) {
		w := &Watcher{beats: beats(any)}
		first := w.beat(w.beats)
		if first.Sub(w.beats) != slow {
			t.Errorf("%v after one beat is the next", first.Sub(w.beats))
		}
		for _, after := range []time.Duration{1, slow / 3, slow - 1} {
			if next := w.beat(w.beats.Add(after)); !next.Equal(first) {
				t.Errorf("%v after a beat the next one is at %v", after, next.Sub(w.beats))
			}
		}
		if next := w.beat(first); next.Sub(first) != slow {
			t.Errorf("%v after the second beat is the third", next.Sub(first))
		}
		if w.beat(time.Time{}).After(time.Now()) {
			t.Error("what was never asked was asked lately")
		}
	}
}

// TestAttends to a function while packets flow: where they come out once a beat, where none do all the time, but for the
// second family, which is tried all the time when its probe, or that of the first, is missing.
func TestAttends(t *testing.T) {
	w := &Watcher{beats: time.Unix(1000, 0)}
	n := newNode("1", true, false)
	first, second := n.ways[0], n.ways[1]
	first.twin, second.twin, second.second = second, first, true
	for i, c := range []struct {
		passing, firstMissing, secondMissing bool
		after                                time.Duration // that they were asked
		want                                 []*way
	}{
		{true, false, false, fast, nil},
		{true, false, false, slow, []*way{first, second}},
		{false, false, false, fast, []*way{first}},
		{true, false, true, fast, nil},
		{true, false, true, patience, []*way{first, second}},
		{true, true, false, patience, []*way{first, second}},
	} {
		began := w.beats.Add(time.Duration(i) * time.Hour)
		for v, misses := range map[*way]bool{first: c.firstMissing, second: c.secondMissing} {
			v.trust, v.asked, v.passing = trust{proven: true}, began, c.passing
			if v.ask(began); !misses {
				v.hear(1, 0, began)
			}
			v.live()
		}
		now := began.Add(c.after)
		w.attend(n, now)
		var got []*way
		for _, v := range n.ways {
			if v.asked.Equal(now) {
				got = append(got, v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %d are asked, want %d", c, len(got), len(c.want))
		}
	}
}

// TestVisits a function at rest: its directions by turns, one at each beat, those too that nothing came through yet,
// and all when a probe is missing, but not while it may come yet.
func TestVisits(t *testing.T) {
	w := &Watcher{beats: time.Unix(1000, 0)}
	at := func(beats float64) time.Time { return w.beats.Add(time.Duration(beats * float64(slow))) }
	visited := func(n *node, now time.Time) (list []int) {
		w.visit(n, now)
		for i, v := range n.ways {
			if v.asked.Equal(now) {
				list = append(list, i)
			}
		}
		return list
	}
	check := func(what string, n *node, now time.Time, want ...int) {
		t.Helper()
		if got := visited(n, now); !slices.Equal(got, want) {
			t.Errorf("%s: directions %v are asked; want %v", what, got, want)
		}
	}
	n := newNode("1", true, false)
	for i, want := range []int{0, 1, 0, 1} {
		check("at a beat", n, at(float64(i)), want)
		check("soon after that beat", n, at(float64(i)+0.01))
	}
	n.ways[0].proven, n.ways[0].tries = false, seldom
	check("one has never been heard of", n, at(4), 0, 1)
	check("soon after", n, at(4.01))
	n.ways[0].proven = true
	for i, v := range n.ways {
		v.took = []time.Duration{100 * time.Millisecond, 0}[i]
		v.ask(at(5))
		check("a probe that may take long is under way", n, at(5.05), [][]int{nil, {0, 1}}[i]...)
		check("it is missing", n, at(5.11), 0, 1)
		v.live()
	}
}
