package run_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestActiveChainsOfTenants go through one function that stands alone, which all find
// there while a trial runs, and which goes with the run.
func TestActiveChainsOfTenants(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	filter := plantest.Function(t, b.name()+"-fw", "kind: firewall\nfirewall: {rules: {generate: 2}}\n")
	b.chain.Spec.Tenant = "shop"
	b.chain.Spec.Functions = []api.Function{{Name: "fw", Ref: filter.Metadata.Name}}

	r := trial.Run{SchemaVersion: trial.SchemaVersion, ID: "20260101-000000-" + nstest.Name(t), Chain: b.name(), State: trial.Running,
		Experiment: b.name(), Spec: "spec", Seed: 7, Repeats: 1}
	var guests atomic.Int32
	m := b.of(tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		found, err := deploy.Guests(filter.Metadata.Name)
		if err != nil {
			return traffic.Sample{}, err
		}
		guests.Store(int32(len(found)))
		return answered(ctx, job)
	}}, &r)
	m.Alone = []api.StandaloneFunction{filter}
	l := load(1, trial.UDP)
	l.ActiveChains, *l.Direct = 3, false
	points := b.points("tenant: shop, functions: [{name: fw, ref: " + filter.Metadata.Name + "}]")[:1]
	points[0].Load = l
	conditions, infeasible, err := m.Cells(t.Context(), b.name(), points)
	if err != nil || len(infeasible) > 0 || len(conditions) != 1 {
		t.Fatalf("%+v, infeasible %+v, error %v", conditions, infeasible, err)
	}
	r.Conditions = conditions
	if err := b.store.CreateRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	if guests.Load() != 3 || r.Trials[0].Metrics["goodput_bps"] != 3 {
		t.Errorf("%d chains go through the function; %v", guests.Load(), r.Trials[0].Metrics)
	}
	if left := b.there(); len(left) > 0 || netns.Exists(namespace.Alone(filter.Metadata.Name)) {
		t.Errorf("left: %v", left)
	}
}

// TestNobodysChainsShareNothing: without tenants the chains would meet in the function.
func TestNobodysChainsShareNothing(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	filter := plantest.Function(t, b.name()+"-fw", "kind: forward\n")
	m := b.of(tool{sampled}, &trial.Run{})
	m.Alone = []api.StandaloneFunction{filter}
	points := b.points("functions: [{name: fw, ref: " + filter.Metadata.Name + "}]")
	_, infeasible, _ := m.Cells(t.Context(), b.name(), points)
	if len(infeasible) != 2 || !strings.Contains(infeasible[0].Reason, "give the chain a tenant") {
		t.Errorf("%+v", infeasible)
	}
}
