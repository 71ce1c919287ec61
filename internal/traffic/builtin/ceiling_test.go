package builtin

import (
	"context"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestCeiling finds what can be sent in either family.
func TestCeiling(t *testing.T) {
	nstest.Require(t, Tool{}.Requires()...)
	for _, version := range []int{0, 4, 6} {
		pps, err := Tool{}.Ceiling(context.Background(), trial.Condition{Flows: 1, Frames: trial.Frames{IPVersion: version}})
		if err != nil || pps < 1000 {
			t.Errorf("IP version %d: %v frames/s, %v", version, pps, err)
		}
	}
	// Bursts and patterns have a rate, which is what is asked for.
	if pps, err := (Tool{}).Ceiling(context.Background(), trial.Condition{Flows: 1, Frames: trial.Frames{Burst: 16, Pattern: poisson}}); err != nil || pps < 1000 {
		t.Errorf("of bursts: %v frames/s, %v", pps, err)
	}
	if _, err := (Tool{}).Ceiling(context.Background(), trial.Condition{Frames: trial.Frames{IMIX: "?"}}); err == nil {
		t.Error("a mix of nothing has a ceiling")
	}
}
