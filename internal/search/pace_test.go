package search

import (
	"testing"

	"nfchain.dev/nfchain/internal/stats"
	"nfchain.dev/nfchain/internal/trial"
)

// setting is how two drop rates are searched for at once.
type setting struct {
	goals []trial.Goal
	waits *trial.Waits
}

// twice is the time of two searches of RFC 2544 by halving, one for each rate, at
// the same width, with the standard's trials and waits.
func twice(t *testing.T, make func(uint64) system, seed uint64) float64 {
	var s float64
	for _, g := range lossGoals() {
		spec := trial.Search{Method: trial.RFC2544Throughput, MaxPps: 1e6, Goals: []trial.Goal{g}}
		r := newBench(make(seed), seed+1000).search(t, spec)
		s += r.TrafficS + r.WaitS
	}
	return s
}

// lossGoals are RFC 2544's goal, and the same with half a per cent of loss.
func lossGoals() []trial.Goal {
	none, some := RFC2544Goal(), RFC2544Goal()
	some.Name, some.LossRatio = "some", 0.005
	return []trial.Goal{none, some}
}

// One search for both drop rates takes at most a third of the time of two searches
// of RFC 2544 at the same width: by default against every system, and with goals
// and waits that are RFC 2544's own against those whose capacity stays and which do
// not lose at random, where short trials tell what long ones will say.
func TestTwoDropRatesTakeAThirdOfTheTime(t *testing.T) {
	settings := map[string]setting{"default": {}, "as RFC 2544": {lossGoals(), &standardWaits}}
	for name, make := range systems {
		for how, s := range settings {
			var ours, theirs []float64
			for seed := range uint64(15) {
				spec := trial.Search{Method: trial.MLRsearch, MaxPps: 1e6, Goals: s.goals, Waits: s.waits}
				r := newBench(make(seed), seed).search(t, spec)
				ours, theirs = append(ours, r.TrafficS+r.WaitS), append(theirs, twice(t, make, seed))
			}
			e := stats.RatioInterval(theirs, ours)
			t.Logf("%s, goals %s: %.3f of the time, 95%% from %.3f to %.3f", name, how, e.Value, e.CI95[0], e.CI95[1])
			// One trial of RFC 2544 shows that nothing is lost.
			hard := name == "ramp" || name == "random" || name == "drifting" || name == "lossless"
			if e.CI95[1] > 1.0/3 && (how == "default" || !hard) {
				t.Errorf("%s, goals %s: %.3f of the time", name, how, e.Value)
			}
		}
	}
}
