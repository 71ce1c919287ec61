package builtin

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// reference is RFC 4737 by the book, over all packets at once.
type reference struct{ arrivals, duplicates, reordered, extent uint64 }

func refer(numbers []uint32) (r reference) {
	var next uint32
	var came []uint32 // first copies
	seen := map[uint32]bool{}
	for _, s := range numbers {
		if seen[s] {
			r.duplicates++
			continue
		}
		seen[s] = true
		if s < next && len(came) > 0 { // section 3.3
			r.reordered++
			for j, other := range came { // section 4.2.1
				if other > s {
					r.extent = max(r.extent, uint64(len(came)-j))
					break
				}
			}
		} else {
			next = s + 1
		}
		came = append(came, s)
	}
	r.arrivals = uint64(len(came))
	return r
}

// offline is a sink that is attached nowhere, and packets to run it on.
type offline struct {
	*meter
	frame []byte
}

const testSignature = 0x12345678

func newOffline(t *testing.T) offline {
	t.Helper()
	nstest.Require(t, feature.Root, feature.BPFXDP)
	m, err := loadMeter(meterOptions{signature: testSignature}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.close)
	h := headers{fromMAC: make(net.HardwareAddr, 6), toMAC: make(net.HardwareAddr, 6),
		from: netip.MustParseAddr("192.0.2.1"), to: netip.MustParseAddr("192.0.2.2")}
	s, err := h.shape(64)
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 60)
	copy(frame, s.Header[:42])
	return offline{m, frame}
}

// take runs the sink on one packet and gives its verdict.
func (o offline) take(t *testing.T, number uint32, due uint64) uint32 {
	t.Helper()
	stamp(o.frame[42:], testSignature, number, due, 0)
	verdict, _, err := o.objects.Sink.Test(o.frame)
	if err != nil {
		t.Fatal(err)
	}
	return verdict
}

func monotonic(t *testing.T) uint64 {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		t.Fatal(err)
	}
	return uint64(now.Nano())
}

func check(t *testing.T, numbers []uint32) {
	t.Helper()
	o, want := newOffline(t), refer(numbers)
	now := monotonic(t)
	for _, n := range numbers {
		o.take(t, n, now)
	}
	r, err := o.order()
	if err != nil {
		t.Fatal(err)
	}
	if got := (reference{r.Arrivals, r.Duplicates, r.Reordered, r.Extent}); got != want || r.Stale != 0 || r.Unknown != 0 {
		t.Errorf("%v: %+v, want %+v (stale %d, unknown %d)", numbers, got, want, r.Stale, r.Unknown)
	}
	book := newOrderBook()
	for _, n := range numbers {
		book.place(n, 0, 0)
	}
	if b := &book.ProgramOrder; b.Arrivals != r.Arrivals || b.Duplicates != r.Duplicates || b.Reordered != r.Reordered || b.Extent != r.Extent ||
		b.First != r.First || b.Next != r.Next || b.GapsSeen != r.GapsSeen || b.Stale != 0 || b.Unknown != 0 {
		t.Errorf("%v: outside the kernel the order is another", numbers)
	}
}

func TestOrderByTheBook(t *testing.T) {
	for _, numbers := range [][]uint32{
		{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2, 4}, {3, 2, 1, 0}, {0, 0, 0}, {0, 2, 1, 1, 2}, {5, 4, 9, 6, 7, 8, 0},
		{0, 10, 20, 30, 15, 5, 25, 15}, {1, 2, 3, 5, 4, 6, 7}, // the last is section 7.1's
	} {
		check(t, numbers)
	}
}

// TestOrderAtRandom loses, copies and shifts packets, and compares with the book.
func TestOrderAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 737))
	for range 20 {
		var numbers []uint32
		for s := range uint32(400) {
			if r.IntN(10) == 0 {
				continue
			}
			numbers = append(numbers, s)
			if r.IntN(10) == 0 {
				numbers = append(numbers, s)
			}
		}
		for range r.IntN(60) {
			i := r.IntN(len(numbers))
			j := min(i+r.IntN(30), len(numbers)-1)
			numbers[i], numbers[j] = numbers[j], numbers[i]
		}
		check(t, numbers)
	}
}

// TestNumbersGoRound passes the 32 bits that a packet has for its number.
func TestNumbersGoRound(t *testing.T) {
	o, now := newOffline(t), monotonic(t)
	for _, n := range []uint32{1<<32 - 3, 1<<32 - 2, 0, 1<<32 - 1, 1, 1, 2} {
		o.take(t, n, now)
	}
	r, err := o.order()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (reference{r.Arrivals, r.Duplicates, r.Reordered, r.Extent}), (reference{6, 1, 1, 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestTooLate has a packet come after four million others.
func TestTooLate(t *testing.T) {
	o, now := newOffline(t), monotonic(t)
	for _, n := range []uint32{0, 1 << 22, 1<<22 + 1, 1, 1<<22 + 1} {
		o.take(t, n, now)
	}
	r, err := o.order()
	if err != nil {
		t.Fatal(err)
	}
	if r.Stale != 1 || r.Arrivals != 3 || r.Duplicates != 1 {
		t.Errorf("%d stale, %d new, %d seen before; want 1, 3, 1", r.Stale, r.Arrivals, r.Duplicates)
	}
}

// TestLatencyFromWhenDue has packets that are late by a known time at least, and
// early ones.
func TestLatencyFromWhenDue(t *testing.T) {
	o := newOffline(t)
	const late = 5_000_000_000
	for n := range uint32(10) {
		o.take(t, n, monotonic(t)-late)
	}
	o.take(t, 10, monotonic(t)+60_000_000_000)
	after := monotonic(t)
	c, err := o.count()
	if err != nil {
		t.Fatal(err)
	}
	if c.Packets != 11 || c.Early != 1 || c.Low != 1 || c.High < late || c.High > after {
		t.Errorf("%d packets, %d early, latency up to %d", c.Packets, c.Early, c.High)
	}
	var above uint64
	for b := trial.Bucket(late); b < trial.Buckets; b++ {
		above += c.Latency[b]
	}
	if above != 10 || c.Latency[0] != 1 {
		t.Errorf("%d packets are binned at 5 s or above, %d at nothing", above, c.Latency[0])
	}
}

// TestStrangersPass has packets that are not of this run.
func TestStrangersPass(t *testing.T) {
	o := newOffline(t)
	const pass, drop = 2, 1
	if v := o.take(t, 0, monotonic(t)); v != drop {
		t.Errorf("our own: verdict %d", v)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"signature": func(b []byte) []byte { b[42]++; return b },
		"protocol":  func(b []byte) []byte { b[23] = 6; return b },
		"type":      func(b []byte) []byte { b[12], b[13] = 0x08, 0x06; return b },
		"options":   func(b []byte) []byte { b[14] = 0x46; return b },
		"short":     func(b []byte) []byte { return b[:44] },
		"shorter":   func(b []byte) []byte { return b[:20] },
	} {
		verdict, _, err := o.objects.Sink.Test(change(append([]byte(nil), o.frame...)))
		if err != nil || verdict != pass {
			t.Errorf("%s: verdict %d, %v", name, verdict, err)
		}
	}
	if n, err := o.strangers(); err != nil || n != 6 {
		t.Errorf("%d strangers, %v", n, err)
	}
	if c, err := o.count(); err != nil || c.Packets != 1 {
		t.Errorf("%d packets counted, %v", c.Packets, err)
	}
}
