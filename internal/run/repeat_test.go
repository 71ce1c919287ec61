package run_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// marked tells whether a namespace has the mark of an earlier call, and leaves it.
func marked(ref string) (was bool, err error) {
	h, err := netns.Open(ref)
	if err != nil {
		return false, err
	}
	defer h.Close()
	lo, err := h.LinkByName("lo")
	if err != nil {
		return false, err
	}
	mark, err := netlink.ParseAddr("198.51.100.77/32")
	if err != nil {
		return false, err
	}
	there, err := h.AddrList(lo, netlink.FAMILY_V4)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(there, func(a netlink.Addr) bool { return a.IP.Equal(mark.IP) }) {
		return true, nil
	}
	return false, h.AddrAdd(lo, mark)
}

// TestRedeploy makes the chain anew between repeats, and says which trial was on
// which instance.
func TestRedeploy(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	var again []bool
	m, r := b.measurement(load(6, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		was, err := marked(job.ClientNetns)
		again = append(again, was)
		if err != nil {
			return traffic.Sample{}, err
		}
		return sampled(ctx, job)
	}})
	r.Redeploy = 3
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	// Two conditions, twice on each instance: the first of four finds no mark.
	if want := []bool{false, true, true, true, false, true, true, true, false, true, true, true}; !slices.Equal(again, want) {
		t.Errorf("found the namespace again: %v", again)
	}
	for _, s := range b.stored(r.ID).Trials {
		if want := 1 + (s.Repeat-1)/2; s.Instance != want {
			t.Errorf("repeat %d is said to be on instance %d, not %d", s.Repeat, s.Instance, want)
		}
		if s.OutsideS <= 0 || s.DurationS <= 0 {
			t.Errorf("repeat %d took %v s, and %v s before it", s.Repeat, s.DurationS, s.OutsideS)
		}
	}
}

// TestInstances: a condition is measured on its own instances of the chain alone.
func TestInstances(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	m, r := b.measurement(load(5, trial.TCP), tool{sampled})
	r.Redeploy = 5
	r.Conditions[0].Instances, r.Conditions[1].Instances = []int{1, 2, 5}, []int{3, 4}
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	got := b.stored(r.ID)
	var on [2][]int
	for _, s := range got.Trials {
		on[s.Condition] = append(on[s.Condition], s.Instance)
	}
	if !slices.Equal(on[0], []int{1, 2, 5}) || !slices.Equal(on[1], []int{3, 4}) || r.Asked() != 5 || got.State != trial.Done {
		t.Errorf("on instances %v, of %d trials, %s", on, r.Asked(), got.State)
	}
}

// TestRedeployAfterAnInterruption: what is made to go on is an instance of its own.
func TestRedeployAfterAnInterruption(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	m, r := b.measurement(load(4, trial.TCP), tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		if calls++; calls == 3 {
			cancel()
		}
		return sampled(ctx, job)
	}})
	r.Redeploy = 2
	if err := m.Run(ctx, r); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	b.gone()
	resumed, err := b.store.Resume(context.Background(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	resumed.Redeploy = 2
	if err := b.of(tool{sampled}, &resumed).Run(context.Background(), &resumed); err != nil {
		t.Fatal(err)
	}
	b.gone()
	var instances []int
	for _, s := range b.stored(r.ID).Trials {
		instances = append(instances, s.Instance)
	}
	if want := []int{1, 1, 2, 2, 3, 3, 3, 3}; !slices.Equal(instances, want) {
		t.Errorf("instances %v, want %v", instances, want)
	}
}

// TestUntil ends when the interval is narrow, and not before; and where it never
// is, at the bound.
func TestUntil(t *testing.T) {
	for name, c := range map[string]struct {
		spread float64
		want   int // repeats of each condition
	}{"narrow": {0, 8}, "wide": {1, 11}} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, plantest.Forwards(1))
			calls := 0
			m, r := b.measurement(load(3, trial.TCP), tool{func(context.Context, traffic.Job) (traffic.Sample, error) {
				calls++
				return traffic.Sample{Metrics: map[string]float64{"goodput_bps": 1 + c.spread*float64(calls%2)}}, nil
			}})
			r.Until, r.MaxRepeats = .02, 11
			if err := m.Run(context.Background(), r); err != nil {
				t.Fatal(err)
			}
			b.gone()
			got := b.stored(r.ID)
			if got.State != trial.Done || len(got.Trials) != 2*c.want || calls != 2*c.want {
				t.Errorf("%s after %d trials, want %d", got.State, len(got.Trials), 2*c.want)
			}
		})
	}
}

// TestRedeployOfSeveralChains has as many repeats on each instance of every chain, though
// their trials come in turn.
func TestRedeployOfSeveralChains(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	m, r := b.measurement(load(4, trial.TCP), tool{sampled})
	r.Conditions[1].Path = trial.PathChain
	m.Chains[1] = plantest.Chain(t, b.name(), plantest.Forwards(2))
	r.Redeploy = 2
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	on := map[int][]trial.Trial{}
	for _, s := range b.stored(r.ID).Trials {
		on[s.Instance] = append(on[s.Instance], s)
	}
	if len(on) != 4 {
		t.Errorf("%d instances, want two of each chain", len(on))
	}
	for i, trials := range on {
		if len(trials) != 2 || trials[0].Condition != trials[1].Condition {
			t.Errorf("instance %d has %+v", i, trials)
		}
	}
}
