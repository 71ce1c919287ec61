package run_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// TestMakingsAreStored with the first trial on each instance, by phases, whichever path that
// trial took.
func TestMakingsAreStored(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	m, r := b.measurement(load(4, trial.TCP), tool{sampled})
	r.Redeploy = 2
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	got := b.stored(r.ID)
	before := 0
	for i, s := range got.Trials {
		first := s.Instance != before
		before = s.Instance
		if first != (len(s.Made) == 1) {
			t.Errorf("trial %d on instance %d has makings %+v", i, s.Instance, s.Made)
		}
		for _, made := range s.Made {
			proven := got.Conditions[s.Condition].Path == trial.PathChain
			if made.Chain != b.name() || made.Beside || made.PlanS <= 0 || made.MakeS <= 0 || made.ReadyS <= 0 || (made.ProofS > 0) != proven {
				t.Errorf("trial %d: %+v", i, made)
			}
			if made.MemoryBytes < 1<<20 || made.MemoryBytes > 1<<34 {
				t.Errorf("trial %d: nfchain had %d bytes", i, made.MemoryBytes)
			}
			if all := made.PlanS + made.MakeS + made.ReadyS + made.ProofS; all >= s.OutsideS {
				t.Errorf("trial %d: its chain took %v s of the %v s before it", i, all, s.OutsideS)
			}
		}
	}
	if n := len(trial.WithSetup(got).Samples(0, trial.SetupMetric)); n != 2 {
		t.Errorf("%d set-ups of two instances", n)
	}
}

// TestNothingToStartAlone: a chain without containers has none that an engine could start by themselves, which the run says, once.
func TestNothingToStartAlone(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	m, r := b.measurement(load(2, trial.TCP), tool{sampled})
	r.StartAlone, r.Redeploy = true, 2
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	said := strings.Join(b.stored(r.ID).Warnings, "\n")
	if strings.Count(said, "start_alone: chain "+b.name()+" has no containers") != 1 {
		t.Errorf("warned of %q", said)
	}
}

// TestNoMakingOfWhatWasUp: a chain that was there before the run did not come up in it.
func TestNoMakingOfWhatWasUp(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	b.up(run.UpOptions{})
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	m.Keep = true
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	for _, s := range b.stored(r.ID).Trials {
		if len(s.Made) > 0 {
			t.Errorf("%+v", s.Made)
		}
	}
}

// TestMakingsOfChainsBeside are stored as theirs, and count for none of the chain's own.
func TestMakingsOfChainsBeside(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	l := load(2, trial.TCP)
	l.ActiveChains, *l.Direct = 2, false
	m, r := b.measurement(l, tool{sampled})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	got := b.stored(r.ID)
	if len(got.Trials) != 2 || len(got.Trials[0].Made) != 2 || len(got.Trials[1].Made) > 0 {
		t.Fatalf("%+v", got.Trials)
	}
	own, beside := got.Trials[0].Made[0], got.Trials[0].Made[1]
	if own.Beside || own.ProofS <= 0 || !beside.Beside || beside.Chain != b.name()+"-beside-2" || beside.ProofS <= 0 || beside.MakeS <= 0 {
		t.Errorf("%+v", got.Trials[0].Made)
	}
	if s := trial.WithSetup(got).Samples(0, trial.SetupMetric); len(s) != 1 || s[0] != own.Ns() {
		t.Errorf("%v of %+v", s, own)
	}
}

// TestStartsOfProgramsAreStored with the making, between its beginning and its end; what has no program has none.
func TestStartsOfProgramsAreStored(t *testing.T) {
	b := newBed(t, "functions: [{name: f, kind: forward}, {name: web, kind: command, command: {args: [sleep, infinity], ready: {command: [\"true\"]}}}]\n")
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	var made []trial.Making
	for _, s := range b.stored(r.ID).Trials {
		made = append(made, s.Made...)
	}
	if len(made) != 1 || len(made[0].Starts) != 1 {
		t.Fatalf("%+v", made)
	}
	s, all := made[0].Starts[0], made[0].PlanS+made[0].MakeS+made[0].ReadyS
	if s.Node != "web" || s.EngineS != 0 || s.BeganS <= made[0].PlanS || s.ReadyS < s.BeganS || s.ReadyS > all {
		t.Errorf("%+v of a making of %v s", s, all)
	}
}

// TestFreshPeak: what was had before is no part of the most memory that is had meanwhile, and what is had and given back meanwhile is.
func TestFreshPeak(t *testing.T) {
	const much = 256 << 20
	have := func() {
		t.Helper()
		held, err := unix.Mmap(-1, 0, much, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
		if err == nil {
			err = unix.Munmap(held)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first := run.FreshPeak()
	have()
	with := first()
	second := run.FreshPeak()
	without := second()
	if have(); with < much || without == 0 || without > with-much/2 || second() < without+much/2 {
		t.Errorf("with %d bytes more: %d, then %d, and again %d", much, with, without, second())
	}
}
