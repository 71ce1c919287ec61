package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

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
