package impair

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

// through sends n numbered packets, one a millisecond, through a line and gives the
// numbers in the order in which they left, and when.
func through(t *testing.T, c Config, n int) (order []int, when []int64, counts *Counts) {
	t.Helper()
	if c.Limit == 0 {
		c.Limit = n + 1
	}
	counts = &Counts{}
	l := newLine(c, 0, counts)
	drain := func(now int64) {
		l.giveUp(now)
		for {
			p, due := l.leave(now)
			if !due {
				return
			}
			if p.due > now {
				t.Fatalf("left %d ns early", p.due-now)
			}
			order, when = append(order, int(binary.BigEndian.Uint32(p.data))), append(when, p.due)
			l.done(p)
		}
	}
	for i := range n {
		l.arrive(int64(i)*ms, binary.BigEndian.AppendUint32(nil, uint32(i)))
		drain(int64(i) * ms)
	}
	for now := int64(n) * ms; l.next() != never; {
		now = max(now, l.next())
		drain(now)
	}
	return order, when, counts
}

func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func TestNothingAsked(t *testing.T) {
	order, when, counts := through(t, Config{}, 100)
	if !slices.Equal(order, upTo(100)) || when[7] != 7*ms || counts.Seen != 100 || counts.Delayed != 0 {
		t.Errorf("%v %v %+v", order, when, counts.Seen)
	}
}

// TestLossIsExact: one of every so many, the last of each, however many there are.
func TestLossIsExact(t *testing.T) {
	order, _, counts := through(t, Config{Loss: Pick{Every: 1000}}, 10_500)
	if counts.Dropped != 10 || len(order) != 10_490 || slices.Contains(order, 999) || !slices.Contains(order, 998) {
		t.Errorf("dropped %d, %d left", counts.Dropped, len(order))
	}
	if order, _, counts := through(t, Config{Loss: Pick{Every: 1}}, 10); len(order) != 0 || counts.Dropped != 10 {
		t.Errorf("of everything dropped, %v left", order)
	}
}

// TestDuplicatesAreExact, of what is not dropped, and next to the first.
func TestDuplicatesAreExact(t *testing.T) {
	order, _, counts := through(t, Config{Duplicate: Pick{Every: 4}}, 8)
	if !slices.Equal(order, []int{0, 1, 2, 3, 3, 4, 5, 6, 7, 7}) || counts.Duplicated != 2 {
		t.Errorf("%v", order)
	}
	order, _, counts = through(t, Config{Loss: Pick{Every: 4}, Duplicate: Pick{Every: 4}}, 8)
	if !slices.Equal(order, []int{0, 1, 2, 4, 4, 5, 6}) || counts.Duplicated != 1 || counts.Dropped != 2 {
		t.Errorf("%v", order)
	}
}

// TestReorderingExtent: each packet picked is overtaken by as many as asked for
// (RFC 4737 §4.2.3).
func TestReorderingExtent(t *testing.T) {
	order, _, counts := through(t, Config{Reorder: Pick{Every: 5}, By: 3}, 12)
	if !slices.Equal(order, []int{0, 1, 2, 3, 5, 6, 7, 4, 8, 10, 11, 9}) || counts.Reordered != 2 || counts.GivenUp != 1 {
		t.Errorf("%v, %d given up", order, counts.GivenUp)
	}
	order, _, counts = through(t, Config{Reorder: Pick{Every: 2}, By: 3}, 10)
	if !slices.Equal(order, []int{0, 2, 4, 6, 1, 8, 3, 5, 7, 9}) || counts.GivenUp != 3 {
		t.Errorf("%v, %d given up", order, counts.GivenUp)
	}
}

// TestGivesUp: a packet that nobody overtakes goes after a second all the same.
func TestGivesUp(t *testing.T) {
	order, when, counts := through(t, Config{Reorder: Pick{Every: 1}, By: 1, DelayNS: 5 * ms}, 2)
	if !slices.Equal(order, []int{0, 1}) || when[0] != 1005*ms || counts.GivenUp != 2 {
		t.Errorf("%v %v", order, when)
	}
}

func TestDelay(t *testing.T) {
	order, when, counts := through(t, Config{DelayNS: 250 * ms}, 100)
	if !slices.Equal(order, upTo(100)) || counts.Delayed != 100 {
		t.Errorf("%v", order)
	}
	for i, at := range when {
		if at != int64(i+250)*ms {
			t.Fatalf("packet %d is due at %d", i, at)
		}
	}
}

// TestJitter spreads delays evenly and reorders nothing.
func TestJitter(t *testing.T) {
	const n = 100_000
	l := newLine(Config{DelayNS: 10 * ms, JitterNS: 4 * ms, Seed: 1}, 0, &Counts{})
	sum, squares := 0.0, 0.0
	for i := range n {
		d := float64(l.delay(uint64(i))) / float64(ms)
		if d < 6 || d > 14 {
			t.Fatalf("%g ms", d)
		}
		sum, squares = sum+d, squares+d*d
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	// Of the uniform distribution, 8/√12, and five standard errors.
	if math.Abs(mean-10) > 5*2.31/math.Sqrt(n) || math.Abs(deviation-2.309) > 0.02 {
		t.Errorf("mean %g, standard deviation %g", mean, deviation)
	}
	if order, _, _ := through(t, Config{DelayNS: 10 * ms, JitterNS: 9 * ms}, 1000); !slices.Equal(order, upTo(1000)) {
		t.Error("jitter reorders")
	}
}

// TestRatio picks at random, the same every time for one seed, and other packets for
// another seed, direction or purpose.
func TestRatio(t *testing.T) {
	const n = 200_000
	picked := func(d dice, purpose uint64) (list []int) {
		for i := range n {
			if (Pick{Ratio: 0.01}).hits(d, purpose, uint64(i)) {
				list = append(list, i)
			}
		}
		return list
	}
	first := picked(newDice(7, 0), forLoss)
	if math.Abs(float64(len(first))-2000) > 5*math.Sqrt(2000) {
		t.Errorf("%d of %d at 1%%", len(first), n)
	}
	if !slices.Equal(first, picked(newDice(7, 0), forLoss)) {
		t.Error("not the same again")
	}
	for name, other := range map[string][]int{
		"seed": picked(newDice(8, 0), forLoss), "direction": picked(newDice(7, 1), forLoss), "purpose": picked(newDice(7, 0), forDuplicate),
	} {
		same := 0
		for _, i := range first {
			if _, found := slices.BinarySearch(other, i); found {
				same++
			}
		}
		if same > 60 { // 20 are expected
			t.Errorf("another %s picks %d of the same", name, same)
		}
	}
	if (Pick{}).hits(newDice(1, 0), forLoss, 1) {
		t.Error("nothing asked, and picked")
	}
}

// TestLimit drops what does not fit, and counts it.
func TestLimit(t *testing.T) {
	order, _, counts := through(t, Config{DelayNS: 100 * ms, Limit: 10}, 50)
	if len(order) != 10 || counts.Overflowed != 40 {
		t.Errorf("%d left, %d overflowed", len(order), counts.Overflowed)
	}
	order, _, counts = through(t, Config{DelayNS: 100 * ms, Limit: 10, Duplicate: Pick{Every: 1}}, 50)
	if len(order) != 10 || int(counts.Seen+counts.Duplicated) != len(order)+int(counts.Overflowed) {
		t.Errorf("%d left of %d and %d, %d overflowed", len(order), counts.Seen, counts.Duplicated, counts.Overflowed)
	}
}

// TestGoesOn: a line that begins with what another counted goes on where that was.
func TestGoesOn(t *testing.T) {
	c := Config{Loss: Pick{Every: 7}, Limit: 100}
	counts := &Counts{}
	for range 10 {
		l := newLine(c, 0, counts)
		for range 7 {
			l.arrive(0, []byte{1})
		}
	}
	if counts.Dropped != 10 {
		t.Errorf("%d dropped of 70", counts.Dropped)
	}
}

// TestPool gives memory back and never shares it.
func TestPool(t *testing.T) {
	var p pool
	a := p.copy(make([]byte, 100))
	b := p.copy(make([]byte, short+1))
	if len(a) != 100 || len(b) != short+1 {
		t.Fatal(len(a), len(b))
	}
	p.put(a)
	p.put(b)
	c, d, e := p.copy([]byte{1}), p.copy([]byte{2}), p.copy(make([]byte, longest))
	if &c[0] != &a[0] || &d[0] == &c[0] || &e[0] != &b[0] || c[0] != 1 || d[0] != 2 {
		t.Error("memory is not used again, or shared")
	}
}

func TestConfig(t *testing.T) {
	c := Config{Ways: []Way{Forward, Reverse}, Loss: Pick{Every: 5}, Duplicate: Pick{Ratio: 0.5}, By: 2, DelayNS: 3, Limit: 4, Seed: 1 << 63}
	back, err := Decode(c.Encode())
	if err != nil || back.Encode() != c.Encode() || len(back.Ways) != 2 {
		t.Errorf("%+v, %v", back, err)
	}
	for _, wrong := range []string{"", "{", `{"ways": [{"name": "up"}]}`} {
		if _, err := Decode(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// BenchmarkLine is what deciding and holding cost a short packet, beside the kernel's
// taking it out and in.
func BenchmarkLine(b *testing.B) {
	c := Config{Loss: Pick{Every: 1000}, Duplicate: Pick{Ratio: 0.001}, Reorder: Pick{Every: 500}, By: 3, DelayNS: 5 * ms, JitterNS: ms, Limit: 100_000}
	l := newLine(c, 0, &Counts{})
	data := make([]byte, 46)
	b.ReportAllocs()
	for i := range int64(b.N) {
		now := i * 5000 // 200,000 a second
		l.arrive(now, data)
		for p, due := l.leave(now); due; p, due = l.leave(now) {
			l.done(p)
		}
	}
}
