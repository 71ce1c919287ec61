package builtin

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

func TestStepsOf(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		time.Millisecond: 10 * time.Millisecond, time.Second: 20 * time.Millisecond, 10 * time.Second: 200 * time.Millisecond,
		time.Minute: 2 * time.Second, 72 * time.Hour: 10_000 * time.Second, endless: 0,
	} {
		if got := stepsOf(d).step; got != want {
			t.Errorf("%v: steps of %v, want %v", d, got, want)
		}
	}
}

// TestStepsBeginInTime: a step lasts as long as it is told to, however long it is and whichever it is.
func TestStepsBeginInTime(t *testing.T) {
	for _, d := range []time.Duration{time.Millisecond, time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 72 * time.Hour} {
		s := stepsOf(d)
		s.origin = 1 << 40
		for i := range uint64(mostSteps) {
			begins := s.origin + i*uint64(s.step)
			if begins-s.origin > uint64(d) {
				break
			}
			for at, want := range map[uint64]int{begins + uint64(s.step)/1000: int(i), begins + uint64(s.step)*999/1000: int(i)} {
				if m, is := s.moment(at); !is || m != want {
					t.Errorf("%v: %d ns into step %d of %v is in step %d (%v)", d, at-begins, i, s.step, m, is)
				}
			}
		}
	}
}

// TestMoments has the sink in the kernel and this half agree about the step of a time.
func TestMoments(t *testing.T) {
	nstest.Require(t, feature.Root, feature.BPFXDP)
	s := steps{step: 2 * time.Second, origin: monotonic(t) - 100e9}
	m, err := loadMeter(meterOptions{signature: testSignature, steps: s}, false)
	must(t, err)
	t.Cleanup(m.close)
	must(t, m.begin(s.origin))
	o := offline{m, newOffline(t).frame}
	var want [moments]uint64
	for n := range uint32(500) {
		due := s.origin - 20e9 + uint64(n)*331e6
		o.take(t, n, due)
		if i, is := s.moment(due); is {
			want[i]++
		}
	}
	c, err := m.count()
	must(t, err)
	arrived := uint64(0)
	for i, p := range c.Parts {
		arrived += p.Arrived
		if p.Came != want[i] {
			t.Errorf("step %d: %d came, want %d", i, p.Came, want[i])
		}
	}
	if want[0] == 0 || want[10] == 0 || arrived != 500 {
		t.Errorf("%v are in the first steps; %d arrived in any", want[:11], arrived)
	}
}
