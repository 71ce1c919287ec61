package builtin

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/bpf/sink"
)

// remembered is an order in which all packets up to sent came, but those lost, as the
// kernel's half would have it.
func remembered(sent uint64, lost ...uint64) *sink.ProgramOrder {
	o := new(sink.ProgramOrder)
	words := uint64(len(o.Words))
	missing := map[uint64]uint32{}
	for _, n := range lost {
		missing[n/wordPackets] |= 1 << (n % wordPackets)
	}
	for n := uint64(0); n < sent; n += wordPackets {
		wide := n + firstNumber
		at, lap := wide/wordPackets%words, wide/wordPackets/words+1
		if had := o.Words[at]; had != 0 && ^uint32(had) != 0 {
			o.LostBase, o.Lost = wide-words*wordPackets, uint64(^uint32(had))
		}
		came := ^uint32(0)
		if left := sent - n; left < wordPackets {
			came = 1<<left - 1
		}
		o.Words[at] = lap<<32 | uint64(came&^missing[n/wordPackets])
	}
	return o
}

func TestLastLost(t *testing.T) {
	const window = 1 << 22
	for _, c := range []struct {
		sent uint64
		lost []uint64
		want uint64
		any  bool
	}{
		{0, nil, 0, false}, {1, nil, 0, false}, {1, []uint64{0}, 0, true}, {100, []uint64{3, 77}, 77, true}, {64, []uint64{63}, 63, true},
		{window + 100, nil, 0, false}, {window + 100, []uint64{50}, 50, true}, {window + 100, []uint64{window - 1}, window - 1, true},
		{3 * window, []uint64{5, window + 7, window + 9}, window + 9, true}, {3*window + 40, []uint64{5, 3*window + 39}, 3*window + 39, true},
	} {
		got, any := lastLost(remembered(c.sent, c.lost...), c.sent)
		if got != c.want || any != c.any {
			t.Errorf("of %d, %v were lost: the last was %d, %v", c.sent, c.lost, got, any)
		}
	}
	if got, any := lastLost(new(sink.ProgramOrder), 1000); got != 999 || !any {
		t.Errorf("nothing came: the last lost was %d, %v", got, any)
	}
}

// TestForgetting has the sink in the kernel forget packets of which some had not come.
func TestForgetting(t *testing.T) {
	const window = 1 << 22
	o, now, book := newOffline(t), monotonic(t), newOrderBook()
	take := func(n uint32) {
		o.take(t, n, now)
		book.place(n, 0, 0)
	}
	for n := range uint32(32) {
		if n != 5 && n != 7 {
			take(n)
		}
	}
	expect := func(base, lost uint64) {
		t.Helper()
		r, err := o.order()
		must(t, err)
		if book.LostBase != base || book.Lost != lost {
			t.Errorf("outside the kernel %#x are lost from %d; want %#x from %d", book.Lost, book.LostBase, lost, base)
		}
		if r.LostBase != base || r.Lost != lost {
			t.Errorf("lost %#x from %d; want %#x from %d", r.Lost, r.LostBase, lost, base)
		}
	}
	expect(0, 0)
	take(window + 1)
	expect(firstNumber, 1<<5|1<<7)
	take(3 * window) // the lap between had nothing of that word
	expect(firstNumber+2*window, 1<<32-1)
}

func TestDueAfter(t *testing.T) {
	for _, c := range []struct {
		pace   pace
		packet uint64
		want   float64
	}{
		{pace{pps: 500, burst: 1}, 99, 0.198}, {pace{pps: 1000, burst: 10}, 25, 0.02}, {pace{pps: 1e6, burst: 1}, 60e6, 60},
	} {
		if got := c.pace.dueAfter(c.packet); got < c.want-1e-6 || got > c.want+1e-6 {
			t.Errorf("packet %d of %+v is due after %v s, want %v", c.packet, c.pace, got, c.want)
		}
	}
}

// TestScheduleTurns counts what is due before and after the turn, where one is late.
func TestScheduleTurns(t *testing.T) {
	p := pace{pps: 1000, burst: 1, duration: 2 * time.Second, second: second{time.Second, 500}}
	const begin = 1 << 40
	s, counts := newSchedule(p, begin, 1), [2]int{}
	for s.turn(s.due); s.due < begin+2e9; s.turn(s.due) {
		counts[flag(s.turned)]++
		s.advance()
	}
	if counts != [2]int{1000, 500} || p.first().intended() != 1000 || p.then().intended() != 500 {
		t.Errorf("%v are due, want 1000 and 500", counts)
	}
	late := newSchedule(p, begin, 1)
	if late.turn(begin+1e9+uint64(p.overdue())-1) || !late.turn(begin+1e9+uint64(p.overdue())) || late.due != begin+1e9 {
		t.Errorf("a source that is behind turns to %d", late.due-begin)
	}
}
