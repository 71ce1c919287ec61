package search

import (
	"math"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// TestGoodputIsOfTheLoadThatWasFound, and of no other.
func TestGoodputIsOfTheLoadThatWasFound(t *testing.T) {
	at := func(pps, seconds, loss, bps float64) Outcome {
		return Outcome{Step: trial.Step{Kind: trial.StepLoad, LoadPps: pps, DurationS: seconds}, OfferedPps: pps, LossRatio: loss,
			Metrics: map[string]float64{"goodput_bps": bps}}
	}
	goal := trial.Goal{Name: "loss3", FinalDurationS: 3, DurationSumS: 3, InitialDurationS: 1, LossRatio: 0.03, WidthRatio: 0.1}
	method, err := New(trial.Search{Method: trial.RFC2544Throughput, MinPps: 10, MaxPps: 1000, Goals: []trial.Goal{goal}})
	if err != nil {
		t.Fatal(err)
	}
	history := []Outcome{at(1000, 1, 0.5, 4e6), at(900, 1, 0.01, 7e6), at(900, 3, 0.02, 6.6e6), at(950, 1, 0.04, 7.2e6)}
	result := method.Result(history)
	// (7·1 + 6.6·3) / 4
	if bps, found := result.Goodput(history); !found || math.Abs(bps-6.7e6) > 1 {
		t.Errorf("%v, %v at %+v", bps, found, result.Goals)
	}
	// (0.01·1 + 0.02·3) / 4
	if lost, found := result.Loss(); !found || math.Abs(lost-0.0175) > 1e-9 {
		t.Errorf("%v lost, %v", lost, found)
	}
	if lost, found := method.Result(history[:1]).Loss(); found {
		t.Errorf("no load was found, and it lost %v", lost)
	}
	if bps, found := result.Goodput(history[:1]); found {
		t.Errorf("nobody tried the load, and it carried %v", bps)
	}
	if bps, found := method.Result(history[:1]).Goodput(history[:1]); found {
		t.Errorf("no load was found, and it carried %v", bps)
	}
	delete(history[1].Metrics, "goodput_bps")
	delete(history[2].Metrics, "goodput_bps")
	if bps, found := result.Goodput(history); found {
		t.Errorf("nobody counted, and it carried %v", bps)
	}
}
