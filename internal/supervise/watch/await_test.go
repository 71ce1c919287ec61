package watch

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
)

// TestAwaits: what comes through functions at rest wakes who watches once in 50 ms, however much it is, and not while packets flow; then it is
// awaited again.
func TestAwaits(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.BPFIngress)
	h, loopback := ofLoopback(t)
	alarm, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer alarm.close()
	w := &Watcher{beats: time.Unix(1000, 0), alarm: alarm}
	if w.table, err = health.NewTable(1, 1); err != nil {
		t.Fatal(err)
	}
	defer w.table.Close()
	taker, err := w.table.Take(resource.At(h, nstest.Owner(t)), "lo", []int{0}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer taker.Close()
	var woken atomic.Int64
	go func() {
		for w.table.Wait() {
			woken.Add(1)
		}
	}()
	out := socket(t, h, 0)
	send := func() {
		frame := append(append(make([]byte, 12), 0x88, 0xb5), make([]byte, 50)...)
		if err := unix.Sendto(out, frame, 0, &unix.SockaddrLinklayer{Ifindex: loopback}); err != nil && !errors.Is(err, unix.ENOBUFS) {
			t.Fatal(err)
		}
	}
	wakes := int64(0)
	for _, c := range []struct {
		beats  float64
		active time.Duration // ago
		wakes  bool
	}{
		{0, time.Hour, true}, {0.01, time.Hour, false}, {0.04, time.Hour, false}, {0.05, time.Hour, true}, {0.06, time.Hour, false},
		{2, idle / 2, false}, {3.5, idle / 2, false}, {3.7, time.Hour, true}, {3.71, time.Hour, false}, {4, time.Hour, true},
	} {
		now := w.beats.Add(time.Duration(c.beats * float64(slow)))
		w.active = now.Add(-c.active)
		if w.sleep(now, time.Hour); c.wakes {
			wakes++
		}
		if after := set(alarm); (after < deaf) != (!c.wakes && c.active > idle) {
			t.Errorf("after %v beats: it is looked again in %v", c.beats, after)
		}
		for deadline := time.Now().Add(time.Minute); woken.Load() < wakes; time.Sleep(time.Millisecond) {
			if send(); time.Now().After(deadline) {
				t.Fatalf("after %v beats: woken %d times, want %d", c.beats, woken.Load(), wakes)
			}
		}
		if c.wakes {
			w.wake(now)
		}
		for range 100 {
			send()
		}
	}
	if n := woken.Load(); n != wakes {
		t.Errorf("woken %d times, want %d", n, wakes)
	}
	rests := newLine(t, "a b")
	rests.table, rests.alarm, rests.opened = w.table, alarm, rests.beats
	for beat := range turns {
		rests.probed(rests.beats.Add(time.Duration(beat)*slow), nil)
	}
	now := rests.beats.Add(turns * slow)
	rests.awaits = now.Add(fast / 2)
	if !rests.rest(now) || set(alarm) != fast/2 {
		t.Errorf("woken just before a beat, it is looked again in %v", set(alarm))
	}
}

// set is after how long an alarm rings, as it was set.
func set(a *alarm) time.Duration { return time.Duration(a.at.Value.Nano()) }
