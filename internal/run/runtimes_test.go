package run_test

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// TestRuntimesAreMeasuredAsTheyWere: a function that leaves its runtime to nfchain is measured as what it is in a chain that is up, or was
// when the run began, though it would be something else by now.
func TestRuntimesAreMeasuredAsTheyWere(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	const spec = "wiring: ebpf\nruntime: auto\nfunctions: [{name: count, kind: counter}]\n"
	namespace := map[string]string{"count": "netns"}
	for name, begin := range map[string]func(b *bed, m *run.Measurement, r *trial.Run){
		"up": func(b *bed, m *run.Measurement, _ *trial.Run) {
			b.up(run.UpOptions{Options: plan.Options{Runtimes: namespace}, Wait: true})
			m.Keep = true
		},
		"began": func(b *bed, _ *run.Measurement, r *trial.Run) {
			r.Setups = []trial.Setup{{Conditions: trial.List[int]{0, 1}, Runtimes: namespace}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, spec)
			m, r := b.measurement(load(1, trial.TCP), tool{sampled})
			if name == "up" {
				r.Conditions = slices.DeleteFunc(r.Conditions, func(c trial.Condition) bool { return c.Path == trial.PathDirect })
			}
			begin(b, m, r)
			if err := m.Run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			s := r.Setups[len(r.Setups)-1]
			if s.Nodes["counter"] != 1 || s.Nodes["inline counter"] != 0 || s.Runtimes["count"] != "netns" {
				t.Errorf("%+v", s)
			}
			if want := []string{"runtime auto: count is netns; what is measured stays so"}; !slices.Equal(r.Warnings, want) {
				t.Errorf("%q, want %q", r.Warnings, want)
			}
			if p, err := b.host.Made(b.name()); m.Keep && (err != nil || len(p.Inline) > 0 || !netns.Exists(p.Nodes[1].Namespace)) {
				t.Errorf("it is another when it was measured: %+v, %v", p, err)
			}
		})
	}
}
