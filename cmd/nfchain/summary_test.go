package main

import (
	"bytes"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/process"
)

func TestSummary(t *testing.T) {
	if got := summary("edge", nil, true); got != "edge: up to date, nothing changed" {
		t.Error(got)
	}
	var changes []resource.Change
	add := func(n int, op resource.Op, kind string) {
		for range n {
			changes = append(changes, resource.Change{Op: op, Kind: kind})
		}
	}
	add(2, resource.Create, "qdisc")
	add(1, resource.Create, "process")
	add(12, resource.Create, "route")
	add(1, resource.Delete, "namespace")
	add(4, resource.Create, "address")
	add(1, resource.Create, "adopted")
	add(1, resource.Update, "ruleset")
	add(1, resource.Delete, "process")
	add(1, resource.Create, "machine")
	add(3, resource.Create, "tuning")
	add(2, resource.Create, "lookup")
	want := "1 setting of the machine changed, 1 interface adopted, 4 addresses created, 2 routing tables created, " +
		"2 queueing disciplines created, 12 routes created, 3 interfaces tuned, 1 program started, 1 rule set updated, 1 namespace removed, 1 program ended"
	if got := summary("edge", changes, false); got != "edge: up; "+want {
		t.Error(got)
	}
	if got := summary("edge", changes, true); !strings.HasPrefix(got, "edge: would be changed; ") {
		t.Error(got)
	}
}

// TestSummaryTellsPrograms that are taken over from those that are replaced.
func TestSummaryTellsPrograms(t *testing.T) {
	runs := process.Spec{Node: "a"}
	var changes []resource.Change
	for _, was := range []string{"no supervisor watches it " + runs.Fingerprint(), "no supervisor watches it", "another"} {
		changes = append(changes, resource.Change{Op: resource.Update, Kind: process.KindName, Spec: runs, Was: was})
	}
	if got := summary("edge", changes, false); got != "edge: up; 1 program taken over, 2 programs replaced" {
		t.Error(got)
	}
}

// TestUpTellsOfFlows that it moved or that stay, wherever it prints.
func TestUpTellsOfFlows(t *testing.T) {
	var out bytes.Buffer
	a := &app{env: env{stdout: &out}}
	a.printItem(deployedItem{Name: "edge", MovedFlows: 1, StayingFlows: 2}, false)
	want := "edge: up to date, nothing changed\n" +
		"edge: 1 flow that had not been idle moved to the new path at once; of those, packets that were under way may come in another order\n" +
		"edge: 2 flows stay on the path from before until idle, and what only they go by is removed then; `nfchain show edge` tells how many are left\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
