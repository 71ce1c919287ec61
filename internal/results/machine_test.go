package results

import (
	"context"
	"errors"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// TestSetMachine: what is learned of the machine later comes back, and nothing else
// of the run has changed.
func TestSetMachine(t *testing.T) {
	s, ctx := open(t), context.Background()
	run := sampleRun("20261121-035352-aaaa", start)
	must(t, s.CreateRun(ctx, run))
	must(t, s.AppendTrial(ctx, run.ID, sampleTrial(1, 1)))
	must(t, s.SetWarnings(ctx, run.ID, []string{"hot"}))
	before := get(t, s, run.ID)

	busy := .25
	e := before.Environment
	e.LoadBefore = &trial.Load{OverS: 1, Busy: &busy}
	setups := []trial.Setup{{Conditions: []int{0, 1}, Wiring: "veth"}}
	must(t, s.SetMachine(ctx, run.ID, e, setups))
	got := get(t, openAt(t, s.Path()), run.ID)
	if l := got.Environment.LoadBefore; l == nil || l.Busy == nil || *l.Busy != busy {
		t.Errorf("load %+v", l)
	}
	if len(got.Setups) != 1 || got.Setups[0].Wiring != "veth" || !slices.Equal(got.Setups[0].Conditions, []int{0, 1}) {
		t.Errorf("set-ups %+v", got.Setups)
	}
	got.Environment, got.Setups = before.Environment, before.Setups
	if !sameRun(got, before) {
		t.Errorf("got %+v\nwant %+v", got, before)
	}
	if err := s.SetMachine(ctx, "nope", e, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("machine of no run: %v", err)
	}
}

// TestRunOfBefore reads a document as it was written before set-ups, mitigations
// and loads were known: what it lacks is absent, not zero.
func TestRunOfBefore(t *testing.T) {
	var run trial.Run
	const document = `{"schema_version":1,"run":"20261121-035352-aaaa","chain":"c","environment":{"nfchain_version":"v0.1.0","kernel":"6.1",
		"architecture":"x86_64","cpus":2,"privileges":"root","tools":{},"settings":{"smt":"on"}},"conditions":[]}`
	if err := decodeHead(document, "[]", &run); err != nil {
		t.Fatal(err)
	}
	e := run.Environment
	if e.Processor != nil || e.Cgroup != nil || e.LoadBefore != nil || e.Mitigations != nil || len(run.Setups) != 0 || e.Settings["smt"] != "on" {
		t.Errorf("%+v", run)
	}
}
