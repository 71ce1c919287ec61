package builtin

import (
	"math"
	"testing"
	"time"
)

func TestIntended(t *testing.T) {
	for _, c := range []struct {
		pps   float64
		burst uint64
		d     time.Duration
		want  uint64
	}{
		{1, 1, time.Second, 1}, {1, 1, 10 * time.Second, 10}, {1000, 1, time.Second, 1000},
		{3, 1, time.Second, 3}, {100_000, 1, 5 * time.Second, 500_000}, {1e6, 64, time.Second, 1e6},
		{7e6, 1, 60 * time.Second, 420e6}, {1000, 300, time.Second, 1200},
	} {
		p := pace{pps: c.pps, burst: c.burst, duration: c.d}
		if got := p.intended(); got != c.want {
			t.Errorf("%v pps in bursts of %d for %v: %d packets, want %d", c.pps, c.burst, c.d, got, c.want)
		}
	}
}

// TestRemaining leaves off after every packet of a load: what went before and what
// remains are all of it.
func TestRemaining(t *testing.T) {
	for _, p := range []pace{{pps: 997, burst: 1}, {pps: 1200, burst: 7}, {pps: 0.5, burst: 1}} {
		p.duration = 3 * time.Second
		const begin = 1 << 50
		s, sent := newSchedule(p, begin, 1), uint64(0)
		for ; s.due < begin+3e9; s.advance() {
			if rest := s.remaining(s.due, s.part, s.left, begin+3e9); sent+rest != p.intended() {
				t.Fatalf("%v pps in bursts of %d: %d remain after %d of %d", p.pps, p.burst, rest, sent, p.intended())
			}
			sent++
		}
		if rest := s.remaining(s.due, s.part, s.left, begin+3e9); rest != 0 {
			t.Errorf("%d remain after all", rest)
		}
	}
	p := pace{pps: 1000, burst: 1, pattern: poisson}
	if rest := p.remaining(0, 0, 1, 1e9); rest != 1001 {
		t.Errorf("%d remain of a Poisson process, want 1001", rest)
	}
	if rest := (pace{}).remaining(0, 0, 1, 1e9); rest != 0 {
		t.Errorf("%d remain of a load without a rate", rest)
	}
}

// TestGapIsTheRate adds a million gaps up as the kernel does.
func TestGapIsTheRate(t *testing.T) {
	for _, pps := range []float64{1, 3, 999.7, 1e5, 3e6, 14_880_952} {
		ns, part := pace{pps: pps, burst: 1}.gap()
		took := float64(ns)*1e6 + float64(part)*1e6/(1<<32)
		if want := 1e6 / pps * 1e9; math.Abs(took/want-1) > 1e-9 {
			t.Errorf("a million packets at %v pps take %v ns, want %v", pps, took, want)
		}
	}
}

func TestExponentialsHaveTheirMean(t *testing.T) {
	const cells = exponentialCells
	q := exponentials(cells)
	if len(q) != cells+1 || q[0] != 0 {
		t.Fatalf("%d quantiles from %d", len(q), q[0])
	}
	// The mean of the cells, linear within each; the last begins anew at its start.
	var sum float64
	for i := range cells - 1 {
		if q[i+1] < q[i] {
			t.Fatalf("quantile %d is below the one before", i+1)
		}
		sum += float64(q[i]+q[i+1]) / 2
	}
	mean := (sum + float64(q[cells-1])) / (cells - 1) / (1 << 16)
	if math.Abs(mean-1) > 1e-4 {
		t.Errorf("the mean is %v", mean)
	}
}

func TestBatch(t *testing.T) {
	for pps, want := range map[float64]uint32{0: 64, 1: 1, 1e5: 1, 1e6: 4, 1e9: 64} {
		if got := (pace{pps: pps}).batch(); got != want {
			t.Errorf("%v pps: batches of %d, want %d", pps, got, want)
		}
	}
}
