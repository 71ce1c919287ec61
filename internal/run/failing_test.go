package run

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/resource/process"
)

// TestFailing names those that have failed alone, with what becomes of packets.
func TestFailing(t *testing.T) {
	w := Watched{[]process.Health{
		{Node: "well", State: process.Healthy, OnFailure: process.Block, Reason: "its program well ends"},
		{Node: "gate", State: process.Failed, OnFailure: process.Block, Reason: "its program gate is stopped"},
		{Node: "slow", State: process.Failed, OnFailure: process.Bypass, Reason: "its program slow ends"},
		{Node: "fw-1", State: process.Failed, OnFailure: process.Replica, Reason: "eth0 is gone"},
	}}
	want := []string{
		"gate has failed (its program gate is stopped), and has onFailure: block",
		"slow has failed (its program slow ends), and has onFailure: bypass",
		"fw-1 has failed (eth0 is gone), and has onFailure: replica",
	}
	if !w.Has("well") || !w.Has("fw-1") || w.Has("fw") {
		t.Errorf("who is watched is not known of %+v", w)
	}
	if got := w.Failing(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
