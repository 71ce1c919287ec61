package iperf3

import (
	"math"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// TestSeries reads what a server counted in its one whole second.
func TestSeries(t *testing.T) {
	f, err := read(captured(t, "3.12-tcp-client"), captured(t, "3.12-tcp-server"), trial.TCP)
	if err != nil {
		t.Fatal(err)
	}
	got := series([]flow{f, {bySecond: []float64{1e9, 2e9}}})["goodput_bps"]
	if got.StepS != 1 || len(got.Values) != 1 || math.Abs(*got.Values[0]-1e9-2451308544*8) > 0.01*2e10 {
		t.Errorf("%+v", got)
	}
	for name, flows := range map[string][]flow{"none": nil, "one is silent": {f, {}}} {
		if got := series(flows); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}
