package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// through is a bed whose chain goes through a standalone function, which is not up.
func through(t *testing.T) (*bed, api.StandaloneFunction) {
	t.Helper()
	alone := plantest.Function(t, nstest.Owner(t)+"-fw", "kind: firewall\nfirewall: {rules: {generate: 2}}\n")
	b := newBed(t, "functions: [{name: a, kind: forward}, {name: fw, ref: "+alone.Metadata.Name+"}]")
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), alone.Metadata.Name); err != nil {
			t.Error(err)
		}
	})
	return b, alone
}

// TestLent: a function that is not up is there for the measurement alone, also
// when that is interrupted or fails.
func TestLent(t *testing.T) {
	for name, end := range map[string]func(cancel func()) error{
		"done":        func(func()) error { return nil },
		"failed":      func(func()) error { return errors.New("broken") },
		"interrupted": func(cancel func()) error { cancel(); return context.Canceled },
	} {
		t.Run(name, func(t *testing.T) {
			b, alone := through(t)
			if err := b.host.CheckFunctions(context.Background(), b.chain, []api.StandaloneFunction{alone}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			seen := 0
			m, r := b.measurement(load(1, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
				seen++
				if !netns.Exists(namespace.Alone(alone.Metadata.Name)) || !run.Temporary(alone.Metadata.Name) {
					t.Error("the function is not up as a bench's")
				}
				if err := end(cancel); err != nil {
					return traffic.Sample{}, err
				}
				return sampled(ctx, job)
			}})
			m.Alone = []api.StandaloneFunction{alone}
			if err := m.Run(ctx, r); (err == nil) != (name == "done") || errors.Is(err, context.Canceled) != (name == "interrupted") {
				t.Errorf("error %v", err)
			}
			b.gone()
			if nodes, err := deploy.Nodes(alone.Metadata.Name); seen == 0 || err != nil || len(nodes) > 0 {
				t.Errorf("measured %d times; left %v, error %v", seen, nodes, err)
			}
			if _, err := deploy.Recall(alone.Metadata.Name); err == nil {
				t.Error("the function is remembered")
			}
			// Its lock is free again.
			lock, err := deploy.Acquire(context.Background(), alone.Metadata.Name, func(int) { t.Error("waits for its lock") })
			if err != nil {
				t.Fatal(err)
			}
			lock.Release()
		})
	}
}

// TestNotLent: a function that was up before stays, and must be as declared.
func TestNotLent(t *testing.T) {
	b, alone := through(t)
	if _, err := b.host.UpFunction(context.Background(), alone, run.UpOptions{}); err != nil {
		t.Fatal(err)
	}
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	m.Alone = []api.StandaloneFunction{alone}
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	if !netns.Exists(namespace.Alone(alone.Metadata.Name)) || run.Temporary(alone.Metadata.Name) {
		t.Error("the function is gone, or a bench's")
	}
	other := plantest.Function(t, alone.Metadata.Name, "kind: firewall\nfirewall: {rules: {generate: 3}}\n")
	err := b.host.CheckFunctions(context.Background(), b.chain, []api.StandaloneFunction{other})
	if !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), "is up, but not as the file declares it") {
		t.Errorf("error %v", err)
	}
}

// TestNothingToLend: what is neither up nor declared is refused.
func TestNothingToLend(t *testing.T) {
	b, alone := through(t)
	if err := b.host.CheckFunctions(context.Background(), b.chain, nil); !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), alone.Metadata.Name) {
		t.Errorf("error %v", err)
	}
	alone.Metadata.Name = b.name()
	b.chain.Spec.Functions[1].Ref = b.name()
	if err := b.host.CheckFunctions(context.Background(), b.chain, []api.StandaloneFunction{alone}); !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), "name of the chain") {
		t.Errorf("error %v", err)
	}
}
