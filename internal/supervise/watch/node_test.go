package watch

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// newNode of a version, whose probes came through if it is proven.
func newNode(version string, proven, failed bool) *node {
	n := &node{spec: process.Watched{Node: "f", OnFailure: process.Bypass, Version: version}, failed: failed}
	for range 2 {
		n.ways = append(n.ways, &way{trust: trust{proven: proven}, in: &port{steer: &steer.Port{}}, out: &port{}})
	}
	return n
}

// TestAsksAgain where no probe has come through: when the function's program is ready at once, 10 ms later, then 20 and so on, and after some, as
// before it was ready, once a beat.
func TestAsksAgain(t *testing.T) {
	w := newLine(t, "a")
	alarm, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer alarm.close()
	w.alarm, w.opened, w.programs, w.pids, w.unready = alarm, w.beats, map[string]string{}, map[string]int{}, map[string]string{}
	n := w.nodes[0]
	n.spec.Programs = []string{"f"}
	for _, v := range n.ways {
		v.proven, v.tries = false, seldom
	}
	asked := func(ms int) (at []int) {
		for i := range ms {
			now := w.beats.Add(time.Duration(i) * time.Millisecond)
			if !now.Before(n.due) {
				w.visit(n, now)
			}
			if len(w.post.ways) > 0 {
				at = append(at, i)
			}
			w.post = post{}
			w.wait(now)
		}
		return at
	}
	if got, want := asked(2500), []int{0, 1000, 2000}; !slices.Equal(got, want) {
		t.Errorf("before it is ready it is asked at %v ms, want %v", got, want)
	}
	for _, state := range []string{process.Running, process.Ended} {
		for _, v := range n.ways {
			v.asked = time.Time{}
		}
		w.Note(process.Status{Node: "f", State: state})
		w.beats = n.due
		if got, want := asked(4500), []int{0, 10, 30, 70, 150, 310, 630, 1000, 2000, 3000, 4000}; !slices.Equal(got, want) {
			t.Errorf("%s: it is asked at %v ms, want %v", state, got, want)
		}
	}
	w.Note(process.Status{Node: "f", State: process.Running})
	w.beats = n.due
	for _, v := range n.ways {
		v.proven = true
		v.live()
	}
	if got := asked(900); len(got) > 1 {
		t.Errorf("one through which probes come is asked at %v ms", got)
	}
}

// TestLearns how long probes take of a function that has just begun to let them through: as many as are proofs, one each 10 ms, whether or not packets flow.
func TestLearns(t *testing.T) {
	for _, visit := range []func(*Watcher, *node, time.Time){(*Watcher).visit, (*Watcher).attend} {
		w := newLine(t, "a")
		n := w.nodes[0]
		for _, v := range n.ways {
			v.trust, v.passing = trust{}, true
			v.hear(v.ask(w.beats), time.Second, w.beats)
		}
		for i := 1; i <= 2*proofs; i++ {
			now, due := w.beats.Add(time.Duration(i)*fast), w.beats.Add(slow)
			asked := 0
			visit(w, n, now)
			for _, v := range n.ways {
				v.passing = true
				if !v.asked.Equal(now) {
					continue
				}
				asked++
				v.hear(v.sent, time.Millisecond, now)
			}
			if want := len(n.ways); (i <= proofs) != (asked == want) {
				t.Errorf("%v behind the first probe %d of %d ways are asked", now.Sub(w.beats), asked, want)
			}
			if again := n.again(now, due); (i < proofs) != again.Equal(now.Add(fast)) {
				t.Errorf("%v behind the first probe the next is due %v later", now.Sub(w.beats), again.Sub(now))
			}
		}
	}
}

// TestProvesLearn: a function that is well again has to tell how long probes take, and no way of it through which none ever came, which is asked as
// seldom as before.
func TestProvesLearn(t *testing.T) {
	nstest.Root(t)
	h, loopback := ofLoopback(t)
	w := newLine(t, "a")
	w.socket = socket(t, h, 0)
	n := w.nodes[0]
	silent := n.ways[1]
	for _, v := range n.ways {
		v.in.steer.Index = loopback
		v.trust, v.tries = trust{}, seldom
		if v.ask(w.beats); v != silent {
			v.hear(v.sent, 0, w.beats)
		}
	}
	n.fail(w.beats, "for a reason")
	now := w.beats.Add(time.Hour)
	w.prove(n, now)
	if n.good != 1 {
		t.Fatalf("it has let probes through, and %d are taken for proofs", n.good)
	}
	for i, v := range n.ways {
		if v.learns() == (v == silent) {
			t.Errorf("way %d of %d learns: %v", i, len(n.ways), v.learns())
		}
	}
	n.heal(now)
	if again := n.again(now, now.Add(slow)); again != now.Add(fast) {
		t.Errorf("it is asked again after %v", again.Sub(now))
	}
	for _, v := range n.ways {
		for range proofs {
			if v != silent {
				v.hear(v.ask(now), 0, now)
			}
		}
	}
	if again := n.again(now, now.Add(slow)); again != now.Add(slow) {
		t.Errorf("when all is learned it is asked again after %v", again.Sub(now))
	}
}

// TestIllInOneFamily: of two families of addresses the one whose probes do not come is told, while packets come out
// that may be of either.
func TestIllInOneFamily(t *testing.T) {
	for _, c := range []struct {
		lost string
		want string
	}{
		{"", ""}, {"both", ""}, {"IPv4", "50 probes eastward over IPv4 have not come through, and those over IPv6 do"},
		{"IPv6", "50 probes eastward over IPv6 have not come through, and those over IPv4 do"},
	} {
		n, now := newNode("1", true, false), time.Unix(0, 0)
		for i, address := range []string{"198.18.0.1", "2001:db8::1"} {
			a := netip.MustParseAddr(address)
			f, err := newFrame(process.Probe{FromMAC: "02:00:00:00:00:01", ToMAC: "02:00:00:00:00:02", From: a, To: a})
			if err != nil {
				t.Fatal(err)
			}
			n.ways[i].name, n.ways[i].frame, n.ways[i].twin, n.ways[i].second = "eastward", f, n.ways[1-i], i == 1
		}
		const well = 100 // probes of each come before that
		for i := range well + divided {
			if reason := n.ill(now, nil); reason != "" {
				t.Errorf("%q is lost: %q after %d probes", c.lost, reason, i)
			}
			now = now.Add(fast)
			for _, w := range n.ways {
				number := w.ask(now)
				if i < well || c.lost != "both" && c.lost != w.frame.family() {
					w.hear(number, 0, now)
				}
				w.live()
			}
		}
		if reason := n.ill(now, nil); reason != c.want {
			t.Errorf("%q is lost: %q, want %q", c.lost, reason, c.want)
		}
	}
}

// TestOwes: a function that was edited after it failed is not well before probes come through, if those
// of the one before did.
func TestOwes(t *testing.T) {
	for name, c := range map[string]struct{ proven, failed, owes bool }{
		"failed, and probes had come":   {true, true, true},
		"failed, and none had":          {false, true, false},
		"was well, and probes had come": {true, false, false},
	} {
		n := newNode("2", false, false)
		n.know(newNode("1", c.proven, c.failed))
		again := newNode("3", false, false)
		again.know(n)
		for edits, n := range []*node{n, again} {
			if got := n.well(nil); got == c.owes {
				t.Errorf("%s, edited %d times: well %v", name, edits+1, got)
			}
			for _, w := range n.ways {
				w.hear(w.ask(time.Unix(0, 0)), 0, time.Unix(0, 0))
			}
			if !n.well(nil) {
				t.Errorf("%s, edited %d times: not well when probes have come", name, edits+1)
			}
		}
	}
}

// TestStuck: a program is killed when it was up for long and let no probe through, and not before.
func TestStuck(t *testing.T) {
	at := func(s float64) time.Time { return time.Unix(0, int64(s*1e9)) }
	for name, c := range map[string]struct {
		up    float64 // since when the program is, in seconds after the function failed
		heard float64 // when a probe came through last
		asked float64 // when one was sent that has not
		now   float64
		stuck bool
	}{
		"just failed":                   {0, 0, 0.1, 0.5, false},
		"nothing came for long":         {0, 0, 0.1, 1.5, true},
		"came up late":                  {1.2, 0, 0.1, 1.5, false},
		"came up late, and nothing yet": {1.2, 0, 0.1, 2.5, true},
		"one came meanwhile":            {0, 1, 1.1, 1.5, false},
		"one came, and then nothing":    {0, 1, 1.1, 2.5, true},
		"all that were sent came":       {0, 1, 0, 2.5, false},
	} {
		n := newNode("1", true, false)
		n.spec.Programs = []string{"f"}
		n.fail(at(0), "test")
		programs := map[string]string{"f": process.Starting}
		if n.stuck(at(c.up), programs) {
			t.Errorf("%s: stuck before it is up", name)
		}
		programs["f"] = process.Running
		w := n.ways[0]
		if c.heard > 0 {
			w.hear(w.ask(at(0)), 0, at(c.heard))
		}
		if c.asked > 0 {
			w.ask(at(c.asked))
		}
		if got := n.stuck(at(c.now), programs); got != c.stuck {
			t.Errorf("%s: stuck %v", name, got)
		}
	}
}

// TestWaiting: a probe of a function that may come yet is waited for, as long as probes took lately, and
// one that may not is none.
func TestWaiting(t *testing.T) {
	n, now := newNode("1", true, true), time.Unix(100, 0)
	w := n.ways[0]
	w.hear(w.ask(now), 100*time.Millisecond, now)
	if n.waiting(now) {
		t.Error("nothing is under way")
	}
	w.ask(now)
	for after, want := range map[time.Duration]bool{0: true, 200 * time.Millisecond: true, 220 * time.Millisecond: false, time.Second: false} {
		if got := n.waiting(now.Add(after)); got != want {
			t.Errorf("after %v: %v", after, got)
		}
	}
}
