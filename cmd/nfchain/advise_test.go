package main

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/trial"
)

// orders is an experiment whose mixes are two orders of the same functions and one group.
const orders = `
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: orders}
spec:
  mixes:
  - {name: apart, functions: [{name: fw, kind: firewall}, {name: f, kind: forward}]}
  - {name: turned, functions: [{name: f, kind: forward}, {name: fw, kind: firewall}]}
  - {name: together, functions: [{name: fw, kind: firewall, group: g}, {name: f, kind: forward, group: g}]}
  load: {protocols: [tcp], repeats: 8}
  sweep:
  - {field: mix, values: [apart, turned, together]}
`

// storeOrders stores a run of that experiment in which the group carries most.
func storeOrders(t *testing.T, path, id string, environment trial.Environment) {
	t.Helper()
	r := trial.Run{ID: id, Chain: "orders", Experiment: "orders", State: trial.Running, CreatedAt: time.Unix(1, 0), Spec: orders, Repeats: 8, Environment: environment}
	for _, mix := range []string{"apart", "turned", "together"} {
		r.Conditions = append(r.Conditions, trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Tool: "iperf3", Flows: 1, Length: 4, Factors: trial.Map[any]{"mix": mix}})
	}
	store, err := results.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	ctx := context.Background()
	if err := store.CreateRun(ctx, r); err != nil {
		t.Fatal(err)
	}
	for i, goodput := range []float64{12e9, 9e9, 15e9} {
		for k := range r.Repeats {
			tr := trial.Trial{Condition: i, Repeat: k + 1, StartedAt: time.Unix(2, 0), Metrics: trial.Map[float64]{"goodput_bps": goodput * (1 + .002*float64(k%4))}}
			if err := store.AppendTrial(ctx, id, tr); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := store.SetState(ctx, id, trial.Done); err != nil {
		t.Fatal(err)
	}
}

// TestChainsOfConditionsByCores, and of those at a calibrated load: without its chain a
// condition would be taken for one of other functions.
func TestChainsOfConditionsByCores(t *testing.T) {
	spec := strings.Replace(orders, "  sweep:\n", "  sweep:\n  - {field: flows, values: [1, cores]}\n", 1)
	r := trial.Run{ID: "20261121-090000-aaaa", Chain: "orders", Experiment: "orders", Spec: spec, Environment: trial.Environment{CPUs: 4},
		Calibrated: trial.Map[any]{"flows": 6, "payload_size": 8192}}
	var want []string
	for _, factors := range []trial.Map[any]{{"flows": 1}, {"flows": 4}, {"flows": 6, experiment.CalibratedFactor: true}} {
		for mix, group := range map[string]string{"apart": "", "together": "g"} {
			of := maps.Clone(factors)
			of["mix"] = mix
			r.Conditions = append(r.Conditions, trial.Condition{Protocol: trial.TCP, Flows: of["flows"].(int), PayloadSize: 8192, Factors: of})
			want = append(want, group)
		}
	}
	chains := chainsOf(r)
	for i, c := range r.Conditions {
		if got := chains[i].Functions; len(got) != 2 || got[0].Group != want[i] {
			t.Errorf("%s: %+v", experiment.Describe(c.Factors), got)
		}
	}
}

func TestAdviseOnStoredRuns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.db")
	storeOrders(t, path, "20261121-090000-aaaa", trial.Environment{Kernel: "6.18"})
	ask := func(args ...string) (code int, out, failed string) {
		var stdout, stderr bytes.Buffer
		code = run(env{args: append([]string{"nfchain", "advise"}, args...), stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr,
			getenv: func(name string) string { return map[string]string{"NFCHAIN_RESULTS": path}[name] }, now: time.Now})
		return code, stdout.String(), stderr.String()
	}
	code, out, failed := ask("last", "--goal", "goodput > 10Gbit")
	if code != 0 || !strings.Contains(out, "firewall, forward\nUse wiring veth, order fw+f:") || !strings.Contains(out, "order f → fw misses it") || !strings.Contains(out, "times the goodput") {
		t.Errorf("exit code %d\n%s%s", code, out, failed)
	}
	code, out, _ = ask("last", "last", "--goal", "goodput > 10Gbit, p99 < 1ms", "-o", "json")
	var advice struct {
		Runs  []string
		Cases []struct{ Verdict string }
	}
	if err := json.Unmarshal([]byte(out), &advice); err != nil || code != 0 || len(advice.Runs) != 1 || len(advice.Cases) != 1 || advice.Cases[0].Verdict != "cannot tell" {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
	storeOrders(t, path, "20261121-100000-bbbb", trial.Environment{Kernel: "6.1"})
	for want, args := range map[string][]string{
		"column 1":                {"last", "--goal", "godput > 1Gbit"},
		"--goal: wrong goal":      {"last"},
		"kernel: 6.18 and 6.1":    {"20261121-09", "last", "--goal", "goodput > 1Gbit"},
		"nothing was measured":    {"last", "--goal", "goodput > 1Gbit", "--where", "mix=none"},
		"is not a field and a va": {"last", "--goal", "goodput > 1Gbit", "--where", "mix"},
	} {
		if code, out, failed := ask(args...); code != 2 || !strings.Contains(failed, want) {
			t.Errorf("%v: exit code %d\n%s%s", args, code, out, failed)
		}
	}
	if code, out, failed := ask("20261121-09", "last", "--force", "--goal", "goodput > 10Gbit", "--where", "mix=together"); code != 0 || !strings.Contains(out, "FORCED") {
		t.Errorf("exit code %d\n%s%s", code, out, failed)
	}
}
