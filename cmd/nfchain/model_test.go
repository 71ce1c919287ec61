package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
)

const modelledFile = `
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: modelled}
spec:
  load: {protocols: [tcp], duration: 1s, repeats: 3}
  sweep:
  - {field: length, values: [2, 3, 5, 10]}
  - {field: flows, values: [1, 8]}
  models:
  - {name: ours, kind: cost_per_hop, metric: goodput_bps, where: {flows: 8}, holdout: [10]}
`

// storeLengths stores a run of chains whose hops cost the same each, of three repeats.
func storeLengths(t *testing.T, path, spec string, lengths ...int) {
	t.Helper()
	store, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	run := trial.Run{ID: "20261121-000000-mode", Chain: "modelled", Experiment: "modelled", State: trial.Running, CreatedAt: time.Unix(0, 0), Spec: spec, Repeats: 3}
	for _, flows := range []int{1, 8} {
		for _, n := range lengths {
			run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Tool: "iperf3", Length: n, Flows: flows, Factors: map[string]any{"length": n, "flows": flows}})
		}
	}
	ctx := context.Background()
	if err := store.CreateRun(ctx, run); err != nil {
		t.Fatal(err)
	}
	for i, c := range run.Conditions {
		for k := range 3 {
			y := 1e10 / (1 + .3*float64(c.Length-2)) * (1 + .004*float64((7*k+5*i)%3-1))
			if err := store.AppendTrial(ctx, run.ID, trial.Trial{Condition: i, Repeat: k + 1, Metrics: map[string]float64{"goodput_bps": y}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := store.SetState(ctx, run.ID, trial.Done); err != nil {
		t.Fatal(err)
	}
}

// model runs the command on a stored run.
func model(path string, args ...string) (out string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(env{args: append([]string{"nfchain", "--results", path, "model"}, args...), stdout: &stdout, stderr: &stderr,
		getenv: func(string) string { return "" }, now: time.Now})
	return stdout.String() + stderr.String(), code
}

// TestModel: the experiment's own models come first, then those that what was varied
// permits, with intervals and units, and what is best is told only where it can be.
func TestModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	storeLengths(t, path, modelledFile, 2, 3, 5, 10)
	out, code := model(path, "last", "-o", "json")
	if code != exitDone {
		t.Fatal(out)
	}
	var doc struct {
		Models []struct {
			Name, Kind string
			Params     []struct {
				Name, Unit string
				CI95       *[2]float64
			}
			HeldOut *struct {
				InTurn bool `json:"in_turn"`
			} `json:"held_out"`
		}
		Rankings []struct{ Best, Reason string } `json:"model_rankings"`
		Notes    []string
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	first := doc.Models[0]
	if first.Name != "ours" || first.HeldOut == nil || first.HeldOut.InTurn || first.Params[1].Unit != "ns/kbit" || first.Params[1].CI95 == nil {
		t.Errorf("%+v", first)
	}
	if len(doc.Models) != 7 || doc.Models[4].Name != "loss_per_hop (flows=8)" || len(doc.Rankings) != 2 {
		t.Errorf("%+v", doc)
	}
	if notes := fmt.Sprint(doc.Notes); !strings.Contains(notes, "over flows: too few values") {
		t.Error(notes)
	}
	text, code := model(path, "last")
	for _, want := range []string{"7 models", "MODELS SIDE BY SIDE", "cost_per_hop (flows=1)", "ns/kbit", "held out", "ours: least squares"} {
		if code != exitDone || !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestModelOfTooLittle: a run of one length, or one whose file is lost, is no error.
func TestModelOfTooLittle(t *testing.T) {
	one := filepath.Join(t.TempDir(), "one.db")
	storeLengths(t, one, "nothing that can be read", 3)
	out, code := model(one, "last")
	for _, want := range []string{"0 models", "the experiment's file can no longer be read", "over flows: too few values"} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out, code := model(one, "nix"); code != exitInput {
		t.Errorf("%d: %s", code, out)
	}
}
