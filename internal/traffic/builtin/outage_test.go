package builtin

import (
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/bpf/sink"
	"nfchain.dev/nfchain/internal/traffic"
)

// TestOutage is of the direction that lacked packets for longer, and unknown where they had not come again.
func TestOutage(t *testing.T) {
	const ms = uint64(time.Millisecond)
	lane := func(silence, came uint64) (o outcome) {
		o.Progress.Start, o.Progress.Stop, o.Progress.Sent, o.Unsent = 1000*ms, 2000*ms, 900, 100 // one a millisecond
		o.Order.Silence, o.Order.Came = silence, came
		return o
	}
	begun := func(o outcome, first uint64) outcome { // the way takes 2 ms
		o.Order.Arrivals, o.Count.First, o.Count.Low = 700, first, 2*ms+1
		return o
	}
	for name, c := range map[string]struct {
		lanes []outcome
		want  time.Duration
		open  string
	}{
		"none":                  {[]outcome{lane(1*ms, 2000*ms)}, 0, ""},
		"between":               {[]outcome{lane(21*ms, 2000*ms)}, 20 * time.Millisecond, ""},
		"of two ways":           {[]outcome{lane(5*ms, 2000*ms), lane(31*ms, 1999*ms)}, 30 * time.Millisecond, ""},
		"at the end":            {[]outcome{lane(21*ms, 1900*ms)}, 0, "in the last 99ms of the load"},
		"at the end of one way": {[]outcome{lane(21*ms, 2000*ms), lane(1*ms, 1500*ms)}, 0, "in the last 499ms of the load"},
		"short at the end":      {[]outcome{lane(21*ms, 1990*ms)}, 20 * time.Millisecond, ""},
		"at the beginning":      {[]outcome{begun(lane(1*ms, 2000*ms), 1300*ms)}, 297 * time.Millisecond, ""},
		"nothing came":          {[]outcome{lane(0, 0)}, 0, "in the last 999ms of the load"},
		"and after it was over": {[]outcome{lane(21*ms, 2100*ms)}, 20 * time.Millisecond, ""},
		"a way without a load":  {[]outcome{lane(21*ms, 2000*ms), {}}, 20 * time.Millisecond, ""},
	} {
		s := traffic.Sample{Metrics: map[string]float64{}}
		outage(&s, c.lanes)
		got, told := s.Metrics[traffic.OutageMetric]
		if told == (c.open != "") || time.Duration(got) != c.want || !strings.Contains(strings.Join(s.Warnings, ""), c.open) {
			t.Errorf("%s: %v, told %t, want %v; %q", name, time.Duration(got), told, c.want, s.Warnings)
		}
	}
}

// TestSilence is the longest time between two first copies: a second copy of one ends none.
func TestSilence(t *testing.T) {
	o := newOffline(t)
	book := newOrderBook()
	begun := monotonic(t)
	for _, c := range []struct {
		number uint32
		after  time.Duration
	}{{0, 0}, {1, 0}, {2, 30 * time.Millisecond}, {2, 30 * time.Millisecond}, {3, 30 * time.Millisecond}, {4, 0}} {
		time.Sleep(c.after)
		now := monotonic(t)
		o.take(t, c.number, now)
		book.place(c.number, now, 0)
	}
	most := time.Duration(monotonic(t) - begun)
	r, err := o.order()
	if err != nil {
		t.Fatal(err)
	}
	for who, r := range map[string]*sink.ProgramOrder{"the kernel": r, "outside the kernel": &book.ProgramOrder} {
		if s := time.Duration(r.Silence); s < 60*time.Millisecond || s > most || r.Came == 0 {
			t.Errorf("%s: %v without a first copy, the last at %d", who, s, r.Came)
		}
	}
}
