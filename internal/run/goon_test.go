package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/report"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// failing is a tool that fails with one protocol, and counts how often it was asked to.
func failing(protocol string, times *int) tool {
	return tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if job.Condition.Protocol != protocol {
			return sampled(ctx, job)
		}
		*times++
		return traffic.Sample{}, errors.New("the tool hangs")
	}}
}

// TestGoesOnWithTheRest: a combination that no tool can measure keeps none of the others
// from being measured, and is not tried for ever.
func TestGoesOnWithTheRest(t *testing.T) {
	b, asked := newBed(t, "functions: [{name: f, kind: forward}]"), 0
	l := load(4, trial.UDP, trial.TCP)
	direct := false
	l.Direct = &direct
	m, r := b.measurement(l, failing(trial.UDP, &asked))
	m.GoOn = true
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if asked != 2 || r.State != trial.Done {
		t.Errorf("tried %d times, %s", asked, r.State)
	}
	stored := b.stored(r.ID).Trials
	if len(stored) != 8 {
		t.Fatalf("%d trials", len(stored))
	}
	said := map[string]int{}
	for _, one := range stored {
		udp := r.Conditions[one.Condition].Protocol == trial.UDP
		if udp != (len(one.Metrics) == 0) || udp != (len(one.Warnings) == 1) {
			t.Errorf("%+v", one)
		}
		for _, w := range one.Warnings {
			first, _, _ := strings.Cut(w, ":")
			said[first]++
		}
	}
	if said["failed"] != 2 || said["not tried again, since it had failed each time"] != 2 {
		t.Errorf("%v", said)
	}
	b.gone()
}

// TestGoesOnWithWhatCanBeSet: interfaces of which only the kernel knows what they take keep
// no other chain of an experiment from being measured.
func TestGoesOnWithWhatCanBeSet(t *testing.T) {
	b := newBed(t, "functions: [{name: f, kind: forward}]")
	nstest.Require(t, feature.Macvlan)
	l, direct := load(2, trial.TCP, trial.UDP), false
	l.Direct = &direct
	m, r := b.measurement(l, tool{sampled})
	m.GoOn = true
	// A macvlan interface does not tell of its queues.
	m.Chains[1].Spec = plantest.Chain(t, b.name(), "wiring: macvlan\nfunctions: [{name: f, kind: forward}]\ntuning: {rx_queues: 1}").Spec
	if err := m.Run(context.Background(), r); err != nil || r.State != trial.Done {
		t.Fatalf("%s: %v", r.State, err)
	}
	for _, one := range b.stored(r.ID).Trials {
		refused := len(one.Warnings) == 1 && strings.Contains(one.Warnings[0], "failed: the chain could not be made: tuning of")
		if (one.Condition == 1) != refused || refused != (len(one.Metrics) == 0) {
			t.Errorf("%+v", one)
		}
	}
	b.gone()
}

// TestGoesOnWithTheRestOfSearches: a trial that fails ends its search, and neither the next
// repeat nor another condition.
func TestGoesOnWithTheRestOfSearches(t *testing.T) {
	b, calls := newBed(t, plantest.Forwards(1)), 0
	m, r := b.measurement(searching(), generator{tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if calls++; calls == 1 || calls == 4 {
			return traffic.Sample{}, errors.New("the tool hangs")
		}
		return carries(ctx, job)
	}}})
	r.Repeats, m.GoOn = 3, true
	if err := m.Run(context.Background(), r); err != nil || r.State != trial.Done {
		t.Fatalf("%s: %v", r.State, err)
	}
	var results []trial.Trial
	for _, one := range b.stored(r.ID).Trials {
		if one.Step == 0 {
			results = append(results, one)
		}
	}
	if len(results) != 3 || len(results[0].Metrics)+len(results[1].Metrics) > 0 || results[2].Metrics["throughput_pps"] == 0 {
		t.Fatalf("%+v", results)
	}
	for _, failed := range results[:2] {
		if len(failed.Warnings) != 1 || !strings.HasPrefix(failed.Warnings[0], "failed: ") {
			t.Errorf("%v", failed.Warnings)
		}
	}
	if got := report.New(b.stored(r.ID)).Searches; len(got) != 2 || got[1].Repeat != 3 {
		t.Errorf("%d searches are told", len(got))
	}
	b.gone()
}

// TestNothingMeasuredIsAFailure, and so is the first failure where it is not to go on.
func TestNothingMeasuredIsAFailure(t *testing.T) {
	for _, goOn := range []bool{true, false} {
		b, asked := newBed(t, "functions: []"), 0
		m, r := b.measurement(load(3, trial.TCP), failing(trial.TCP, &asked))
		m.GoOn = goOn
		err := m.Run(context.Background(), r)
		if err == nil || !strings.Contains(err.Error(), "the tool hangs") || r.State != trial.Failed {
			t.Errorf("going on %t: %v, %s", goOn, err, r.State)
		}
		if want := map[bool]int{true: 2, false: 1}[goOn]; asked != want || goOn && !strings.HasPrefix(err.Error(), "no trial measured anything") {
			t.Errorf("going on %t: tried %d times: %v", goOn, asked, err)
		}
		b.gone()
	}
}

// shut is a bed, and a chain of its name through a firewall that lets nothing pass.
func shut(t *testing.T) (b *bed, firewall api.Chain) {
	b = newBed(t, "functions: [{name: f, kind: forward}]")
	firewall = plantest.Chain(t, b.name(), "functions: [{name: f, kind: firewall, firewall: {policy: drop}}]")
	return b, firewall
}

// TestGoesOnWithoutAChainThatCannotBeProven: its condition has failed trials that say so, the
// others are measured, and nothing is left.
func TestGoesOnWithoutAChainThatCannotBeProven(t *testing.T) {
	b, firewall := shut(t)
	l, direct := load(3, trial.TCP, trial.UDP), false
	l.Direct = &direct
	m, r := b.measurement(l, tool{sampled})
	m.GoOn = true
	m.Chains[1] = firewall
	r.Seed = seedWith(r, 0) // begins with one that can be measured
	if err := m.Run(context.Background(), r); err != nil || r.State != trial.Done {
		t.Fatalf("%s: %v", r.State, err)
	}
	failed := 0
	for _, one := range b.stored(r.ID).Trials {
		if (one.Condition == 1) != (len(one.Metrics) == 0) {
			t.Errorf("%+v", one)
		}
		for _, w := range one.Warnings {
			if strings.HasPrefix(w, "failed: the path could not be proven: ") {
				failed++
			}
		}
	}
	if failed != 2 {
		t.Errorf("%d trials say why", failed)
	}
	b.gone()
}

// seedWith is a seed whose order begins with a condition.
func seedWith(r *trial.Run, condition int) int64 {
	for seed := int64(1); ; seed++ {
		if experiment.Order(len(r.Conditions), r.Repeats, seed)[0].Condition == condition {
			return seed
		}
	}
}

// TestEndsWhereNoChainCanBeMade: after three there is no use in trying the others.
func TestEndsWhereNoChainCanBeMade(t *testing.T) {
	b, firewall := shut(t)
	l, direct := load(3, trial.TCP, trial.UDP, trial.Latency), false
	l.Direct = &direct
	m, r := b.measurement(l, tool{sampled})
	m.GoOn = true
	for i := range m.Chains {
		m.Chains[i] = firewall
	}
	err := m.Run(context.Background(), r)
	if err == nil || !strings.HasPrefix(err.Error(), "none of the first 3 chains could be measured; the last: the path could not be proven: ") || r.State != trial.Failed {
		t.Errorf("%s: %v", r.State, err)
	}
	if got := len(b.stored(r.ID).Trials); got != 3 {
		t.Errorf("%d trials", got)
	}
	b.gone()
}
