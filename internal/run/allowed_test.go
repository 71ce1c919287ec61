package run_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
)

// TestPlacementWhoeverAsks: a chain is on the CPUs that it was given, and is told so and left so by whoever runs on fewer (taskset(1)), and by who
// brings it back. What its file says anew is on those that this process runs on.
func TestPlacementWhoeverAsks(t *testing.T) {
	if !nstest.Alone(t) { // chains of others may have these CPUs
		return
	}
	someCPUs(t)
	const spec = sleeper + "placement: {functions: exclusive}\n"
	b := newBed(t, spec)
	b.up(run.UpOptions{Wait: true})
	given := b.ownCPU()
	all := machine().AllowedCPUs()
	onlyOn := func(cpus ...int) {
		var set unix.CPUSet
		for _, cpu := range cpus {
			set.Set(cpu)
		}
		if err := unix.SchedSetaffinity(os.Getpid(), &set); err != nil {
			t.Fatal(err)
		}
	}
	defer onlyOn(all...)
	others := slices.DeleteFunc(slices.Clone(all), func(cpu int) bool { return cpu == given })
	onlyOn(others[0])
	if got := machine().AllowedCPUs(); !slices.Equal(got, others[:1]) {
		t.Fatalf("this process may run on %v", got)
	}
	p, err := b.host.Made(b.name())
	if err != nil {
		t.Fatal(err)
	}
	if state, err := run.Inspect(t.Context(), p); err != nil || state.State != run.StateUp {
		t.Errorf("it is %s: %+v, error %v", state.State, state.Drift, err)
	}
	if _, changes, err := b.edit(context.Background(), run.UpOptions{}); err != nil || len(changes) > 0 {
		t.Errorf("brought up again: %v, error %v", changes, err)
	}
	if _, err := b.host.Restore(t.Context(), b.name()); err != nil {
		t.Error(err)
	}
	if now := b.ownCPU(); now != given {
		t.Errorf("it has CPU %d, and had %d", now, given)
	}
	b.chain = plantest.Chain(t, b.name(), spec+"mtu: 1400\n")
	if _, _, err := b.edit(context.Background(), run.UpOptions{}); err == nil {
		t.Errorf("what its file says anew is on CPU %d, and this process runs on %d", b.ownCPU(), others[0])
	}
}
