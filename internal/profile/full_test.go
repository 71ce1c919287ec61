package profile

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
)

// keepBusy gives a core something to sample until the test ends.
func keepBusy(t *testing.T) {
	t.Helper()
	var ended atomic.Bool
	t.Cleanup(func() { ended.Store(true) })
	go func() {
		for !ended.Load() {
			continue
		}
	}()
}

// until something is so, which takes as long as it takes.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// TestFullRing samples into a ring that nobody reads: what there was no room for is
// counted, also when no record comes after it that could tell.
func TestFullRing(t *testing.T) {
	nstest.Require(t, feature.Root, feature.PerfEvents)
	e, err := openEvents(MaxFrequency, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if err := e.enable(true); err != nil {
		t.Fatal(err)
	}
	keepBusy(t)
	samples := 0
	take := func(record) { samples++ }
	eventually(t, "a ring of one page is never full", func() bool {
		if !e.cores[0].told {
			e.read(take) // so that there is room to tell
		}
		return e.missing() > 0
	})
	if err := e.enable(false); err != nil {
		t.Fatal(err)
	}
	lost := e.missing()
	e.read(take)
	if e.missing() < lost || samples == 0 {
		t.Errorf("%d lost before the ring was read, %d after that; %d samples", lost, e.missing(), samples)
	}
}

// TestLostSamplesAreTold: a profile says how many there was no room for, once each.
func TestLostSamplesAreTold(t *testing.T) {
	nstest.Require(t, feature.Root, feature.PerfEvents)
	keepBusy(t)
	for name, softirq := range map[string]bool{"with programs": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			if softirq {
				nstest.Require(t, feature.BPFTrace)
			}
			var got Samples
			eventually(t, "nothing was ever lost", func() bool {
				s, err := start(Chain{}, Options{Frequency: MaxFrequency, Softirq: softirq}, 1)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond) // samples are taken meanwhile
				got, err = s.Stop()
				if err != nil {
					t.Fatal(err)
				}
				return got.Lost > 0
			})
			// Each core was looked at that often at most.
			if most := got.Seconds * MaxFrequency * float64(len(got.Cores)) * 1.5; float64(got.Lost) > most {
				t.Errorf("%d samples lost in %v s, of %.0f at most", got.Lost, got.Seconds, most)
			}
			if said := strings.Join(NewReport(Chain{}, got).Warnings, "\n"); !strings.Contains(said, fmt.Sprintf("%d samples were lost", got.Lost)) {
				t.Errorf("%d samples were lost, and the report says: %s", got.Lost, said)
			}
		})
	}
}
