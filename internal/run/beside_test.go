package run_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/results"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

const crowd = `
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: crowd}
spec:
  chain: {CHAIN}
  load: {protocols: [tcp], duration: 1s, repeats: 1, direct: false}
  sweep:
  - {field: active_chains, values: [1, 3]}
  - {field: idle_containers, values: [0, 4]}
`

// points of the experiment, with the chain given.
func (b *bed) points(chain string) []experiment.Point {
	b.Helper()
	file, err := b.host.Words.Decode("crowd.yaml", []byte(strings.Replace(crowd, "CHAIN", chain, 1)))
	if err != nil {
		b.Fatal(err)
	}
	points, err := experiment.Points(file.Experiments[0].Spec, b.host.Words)
	if err != nil {
		b.Fatal(err)
	}
	return points
}

// crowded is the run of the experiment, stored.
func (b *bed) crowded(with traffic.Tool) (*run.Measurement, *trial.Run) {
	b.Helper()
	m := b.of(with, &trial.Run{})
	conditions, infeasible, err := m.Cells(context.Background(), b.name(), b.points("functions: [{name: f, kind: forward}]"))
	if err != nil || len(conditions) != 4 || len(infeasible) > 0 {
		b.Fatalf("%d conditions, infeasible %+v, error %v", len(conditions), infeasible, err)
	}
	r := trial.Run{SchemaVersion: trial.SchemaVersion, ID: "20260101-000000-" + nstest.Name(b), Chain: b.name(), State: trial.Running,
		Experiment: b.name(), Spec: "spec", Seed: 7, Repeats: 1, Conditions: conditions}
	if err := b.store.CreateRun(context.Background(), r); err != nil {
		b.Fatal(err)
	}
	return m, &r
}

// there is how many namespaces each chain of the bed has, by what follows its name.
func (b *bed) there() map[string]int {
	all := map[string]int{}
	for _, suffix := range []string{"", "-beside-2", "-beside-3", "-beside-idle"} {
		nodes, err := deploy.Nodes(b.name() + suffix)
		if err != nil {
			b.Error(err)
		}
		if len(nodes) > 0 {
			all[suffix] = len(nodes)
		}
	}
	return all
}

// TestActiveChainsAndIdleContainers: a trial finds as many of both as its condition says, all
// active chains carry load at once, and what each came to is stored with the sum.
func TestActiveChainsAndIdleContainers(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	var now trial.Condition
	var under atomic.Int32
	with := tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if under.Add(1); !meet(ctx, &under, max(1, now.ActiveChains)) {
			return traffic.Sample{}, errors.New("the others did not begin")
		}
		return traffic.Sample{Metrics: map[string]float64{"goodput_bps": 2, "jitter_ns": 3}}, nil
	}}
	m, r := b.crowded(with)
	m.Trial = func(_, _ int, c trial.Condition, _ time.Duration) { now = c; under.Store(0) }
	seen := map[trial.Beside]map[string]int{}
	m.Stored = func(r trial.Run) {
		if len(r.Trials) > 0 {
			seen[now.Beside] = b.there()
		}
	}
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if left := b.there(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	for beside, there := range seen {
		want := 1 + max(0, beside.ActiveChains-1) + min(1, beside.IdleContainers)
		if len(there) != want || there["-beside-idle"] != beside.IdleContainers {
			t.Errorf("%+v: %v", beside, there)
		}
	}
	for _, one := range b.stored(r.ID).Trials {
		k := float64(max(1, r.Conditions[one.Condition].ActiveChains))
		_, averaged := one.Metrics["jitter_ns"]
		if one.Metrics["goodput_bps"] != 2*k || k > 1 && (one.Metrics["chain3_goodput_bps"] != 2 || one.Metrics["chain2_jitter_ns"] != 3 || averaged) {
			t.Errorf("%v chains: %v", k, one.Metrics)
		}
	}
}

// meet waits until so many are under way.
func meet(ctx context.Context, under *atomic.Int32, all int) bool {
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for int(under.Load()) < all {
		select {
		case <-limited.Done():
			return false
		case <-time.After(time.Millisecond):
		}
	}
	return true
}

// TestOneActiveChainFails, and with it the trial, and nothing stays.
func TestOneActiveChainFails(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	with := tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if strings.Contains(job.ClientNetns, "-beside-3") {
			return traffic.Sample{}, errors.New("it broke")
		}
		if strings.HasSuffix(job.ClientNode, "@2") {
			<-ctx.Done()
			return traffic.Sample{}, ctx.Err()
		}
		return sampled(ctx, job)
	}}
	m, r := b.crowded(with)
	if err := m.Run(context.Background(), r); err == nil || !strings.Contains(err.Error(), "chain 3 of 3: it broke") {
		t.Error(err)
	}
	if left := b.there(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestWhatAKilledRunLeftBeside goes as the run goes on, though nothing needs it any more.
func TestWhatAKilledRunLeftBeside(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	m, r := b.crowded(tool{sampled})
	left := b.chain
	left.Metadata.Name += "-beside-2"
	t.Cleanup(func() { _, _ = b.host.Down(context.Background(), left.Metadata.Name) })
	if _, _, err := b.host.Up(context.Background(), left, run.UpOptions{Temporary: true}); err != nil {
		t.Fatal(err)
	}
	for i := range r.Conditions { // all are measured
		one := trial.Trial{Condition: i, Repeat: 1}
		r.Trials = append(r.Trials, one)
		if err := b.store.AppendTrial(context.Background(), r.ID, one); err != nil && !errors.Is(err, results.ErrExists) {
			t.Fatal(err)
		}
	}
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if left := b.there(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestNotBeside lists what there cannot be several of.
func TestNotBeside(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	for chain, want := range map[string]string{
		"wiring: host, functions: []":                                               "wiring host makes no namespaces",
		"wiring: pod, functions: []":                                                "idle_containers: 4 cannot be had",
		"functions: [{name: f, kind: forward}], placement: {load: exclusive}":       "each chain needs CPUs to itself",
		"endpoints: [{name: a, namespace: " + nstest.Namespace(t) + "}, {name: b}]": "endpoint a exists already",
	} {
		m := b.of(tool{sampled}, &trial.Run{})
		_, infeasible, _ := m.Cells(context.Background(), b.name(), b.points(chain))
		found := 0
		for _, c := range infeasible {
			if strings.Contains(c.Reason, want) {
				found++
			}
		}
		if found < 2 {
			t.Errorf("%s: %+v", chain, infeasible)
		}
	}
}
