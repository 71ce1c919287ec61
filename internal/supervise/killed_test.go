package supervise_test

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
)

// BenchmarkKilled is how long packets do not come while nfchain itself is killed, and started again: who watches over the
// chain, the only process of it that there is, and the `up` that has another do so. A packet that is lost fails it.
func BenchmarkKilled(b *testing.B) {
	p := newPath(b, spec(first, last))
	p.well("a")
	s := newStream(b, p)
	var all []time.Duration
	for b.Loop() {
		s.begin(b)
		from, dropped, killed := s.next.Load(), nstest.Dropped(b), supervisorOf(p.owner)
		if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
			b.Fatal(err)
		}
		gone(b, p.owner)
		s.more(b, 100)
		p.up(spec(first, last))
		p.well("a")
		s.more(b, 100)
		all = append(all, s.outage())
		s.whole(b, from, s.next.Load(), dropped)
		if next := supervisorOf(p.owner); next == 0 || next == killed {
			b.Fatalf("supervisor %d after %d", next, killed)
		}
	}
	report(b, all)
}

// report the median of times, the 99th percentile and the longest.
func report(b *testing.B, all []time.Duration) {
	b.Helper()
	slices.Sort(all)
	for name, at := range map[string]int{"p50": len(all) / 2, "p99": len(all) * 99 / 100, "max": len(all) - 1} {
		b.ReportMetric(float64(all[at])/1e6, name+"-ms")
	}
}
