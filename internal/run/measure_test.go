package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/proof"
	"nfchain.dev/nfchain/internal/trial"
)

var planOptions plan.Options

func slots(trials []trial.Trial) []experiment.Slot {
	out := []experiment.Slot{}
	for _, t := range trials {
		out = append(out, experiment.Slot{Condition: t.Condition, Repeat: t.Repeat})
	}
	return out
}

func TestRun(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	var jobs []traffic.Job
	m, r := b.measurement(load(2, trial.TCP, trial.UDP), tool{func(_ context.Context, job traffic.Job) (traffic.Sample, error) {
		jobs = append(jobs, job)
		return traffic.Sample{Metrics: map[string]float64{"goodput_bps": float64(len(jobs))}, Warnings: []string{"a warning"}}, nil
	}})
	var shown []int
	m.Trial = func(done, total int, _ trial.Condition, left time.Duration) {
		shown = append(shown, done)
		if total != 8 || left <= 0 {
			t.Errorf("%d of %d trials, %v left", done, total, left)
		}
	}
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	got := b.stored(r.ID)
	if want := experiment.Order(4, 2, 7); !slices.Equal(slots(got.Trials), want) || got.State != trial.Done || r.State != trial.Done {
		t.Errorf("state %s, order %v, want %v", got.State, slots(got.Trials), want)
	}
	if !slices.Equal(shown, []int{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("shown %v", shown)
	}
	addresses := map[string]string{}
	for i, s := range got.Trials {
		c := got.Conditions[s.Condition]
		if s.Metrics["goodput_bps"] != float64(i+1) || len(s.Warnings) != 1 || jobs[i].Condition.Protocol != c.Protocol {
			t.Errorf("trial %d: %+v", i, s)
		}
		addresses[c.Path] = jobs[i].Address.String()
	}
	if addresses[trial.PathChain] == addresses[trial.PathDirect] {
		t.Errorf("both paths lead to %v", addresses)
	}
}

// TestObserved checks what is told of the machine with each trial.
func TestObserved(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"- {name: prog, kind: command, command: {args: [sh, -c, 'getent hosts server; while :; do :; done']}}\n")
	l := load(1, trial.TCP)
	m, r := b.measurement(l, tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		p, err := job.StartClient(ctx, "timeout", "2", "sh", "-c", "while :; do :; done")
		if err != nil {
			return traffic.Sample{}, err
		}
		_ = p.Wait(ctx)
		return sampled(ctx, job)
	}})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	for _, s := range b.stored(r.ID).Trials {
		o := s.Observed
		seen := map[string]bool{}
		for _, p := range o.Processes {
			if p.UserS+p.SystemS >= 0.02 { // two ticks: others want the cores too
				seen[p.Node+" "+p.Command] = true
			}
		}
		if !seen["client timeout"] || !seen["prog sh"] || len(o.Processes) != 3 || !slices.ContainsFunc(o.Processes, func(p trial.ProcessUse) bool { return p.Node == trial.SupervisorNode }) {
			t.Errorf("processes %+v", o.Processes)
		}
		seen = map[string]bool{}
		for _, i := range o.Interfaces {
			seen[i.Node+" "+i.Interface] = true
		}
		for _, want := range []string{"client ethd0", "server ethd1", "client eth0", "f0 eth0", "f0 eth1", "prog eth0", "prog eth1", "server eth0"} {
			if !seen[want] {
				t.Errorf("interface %s is missing: %v", want, seen)
			}
		}
		if len(o.CPUs) == 0 || o.MemoryUsed == nil {
			t.Errorf("observed %+v", o)
		}
	}
}

// TestInterrupted: an interrupted run keeps what it has, and goes on with the rest.
func TestInterrupted(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	m, r := b.measurement(load(3, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if calls++; calls == 3 {
			p, err := job.StartServer(ctx, "sleep", "1000")
			if err != nil {
				return traffic.Sample{}, err
			}
			time.AfterFunc(100*time.Millisecond, cancel)
			return traffic.Sample{}, p.Wait(ctx)
		}
		return sampled(ctx, job)
	}})
	if err := m.Run(ctx, r); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	b.gone()
	if got := b.stored(r.ID); got.State != trial.Interrupted || len(got.Trials) != 2 {
		t.Errorf("state %s, %d trials", got.State, len(got.Trials))
	}
	id, err := b.store.Unfinished(context.Background(), b.name(), "spec")
	if err != nil || id != r.ID {
		t.Fatalf("unfinished %q, error %v", id, err)
	}
	resumed, err := b.store.Resume(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.of(tool{sampled}, &resumed).Run(context.Background(), &resumed); err != nil {
		t.Fatal(err)
	}
	b.gone()
	if got := b.stored(r.ID); got.State != trial.Done || !slices.Equal(slots(got.Trials), experiment.Order(2, 3, 7)) {
		t.Errorf("state %s, order %v", got.State, slots(got.Trials))
	}
}

// TestFails: when a tool fails, what was measured before is kept and the chain goes.
func TestFails(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	broken := errors.New("the tool is broken")
	calls := 0
	m, r := b.measurement(load(2, trial.UDP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if calls++; calls == 3 {
			return traffic.Sample{}, broken
		}
		return sampled(ctx, job)
	}})
	err := m.Run(context.Background(), r)
	if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "udp over the ") || !strings.Contains(err.Error(), "repeat 2") {
		t.Errorf("error %v", err)
	}
	b.gone()
	if got := b.stored(r.ID); got.State != trial.Failed || len(got.Trials) != 2 || r.State != trial.Failed || len(r.Trials) != 2 {
		t.Errorf("state %s, %d trials", got.State, len(got.Trials))
	}
}

// TestStoreFails: what was measured is still given to the caller when it cannot be
// stored.
func TestStoreFails(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	calls := 0
	m, r := b.measurement(load(2, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if calls++; calls == 2 {
			_ = b.store.Close()
		}
		return sampled(ctx, job)
	}})
	if err := m.Run(context.Background(), r); err == nil {
		t.Error("no error")
	}
	b.gone()
	if len(r.Trials) != 2 || r.State != trial.Failed {
		t.Errorf("state %s, %d trials", r.State, len(r.Trials))
	}
}

// TestRefused: traffic that does not take the chain is not measured.
func TestRefused(t *testing.T) {
	b := newBed(t, "functions:\n- {name: fw, kind: firewall, firewall: {policy: drop}}\n")
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	m.Tools = []traffic.Tool{tool{func(_ context.Context, job traffic.Job) (traffic.Sample, error) {
		if job.Condition.Path == trial.PathChain {
			t.Error("measured")
		}
		return sampled(context.Background(), job)
	}}}
	err := m.Run(context.Background(), r)
	var refusal *proof.Error
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "fw") {
		t.Errorf("error %v", err)
	}
	b.gone()
	if got := b.stored(r.ID); got.State != trial.Failed {
		t.Errorf("state %s", got.State)
	}
}

// TestCannotComeUp: a chain that fails to come up is removed.
func TestCannotComeUp(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"- {name: prog, kind: command, command: {args: [sh, -c, 'echo it is broken; exit 3'], ready: {command: ['false']}}}\n")
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	err := m.Run(context.Background(), r)
	if err == nil || !strings.Contains(err.Error(), "function prog is not ready: its program ended with exit code 3; its log ends with \"it is broken\"") {
		t.Errorf("error %v", err)
	}
	b.gone()
}

// TestKeep measures a chain that is up: it stays as it was.
func TestKeep(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"- {name: prog, kind: command, command: {args: [sleep, '1000']}}\n")
	b.up(run.UpOptions{Wait: true})
	before, err := netns.Processes([]string{namespace.Name(b.name(), "prog")})
	if err != nil {
		t.Fatal(err)
	}
	var direct atomic.Bool
	m, r := b.measurement(load(1, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		direct.Store(b.interfaces("client")["ethd0"])
		return sampled(ctx, job)
	}})
	m.Keep = true
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if !direct.Load() || b.interfaces("client")["ethd0"] || !b.interfaces("client")["eth0"] {
		t.Errorf("the direct hop was there: %v; now %v", direct.Load(), b.interfaces("client"))
	}
	after, err := netns.Processes([]string{namespace.Name(b.name(), "prog")})
	if err != nil || len(after) != 1 || !slices.Equal(after[namespace.Name(b.name(), "prog")], before[namespace.Name(b.name(), "prog")]) {
		t.Errorf("processes %v, were %v", after, before)
	}
	if _, changes, err := b.edit(context.Background(), run.UpOptions{}); err != nil || len(changes) > 0 {
		t.Errorf("changes %v, error %v", changes, err)
	}
}
