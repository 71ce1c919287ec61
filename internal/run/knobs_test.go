package run_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// TestKnobsAreSwept: each trial finds the kernel set as its condition says; what the kernel
// refuses is known before anything is made, and is listed with the reason.
func TestKnobsAreSwept(t *testing.T) {
	b := newBed(t, plantest.Forwards(1))
	file, err := b.host.Words.Decode("knobs.yaml", []byte(`
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: knobs}
spec:
  chain: {functions: [{name: f, kind: forward}]}
  load: {protocols: [tcp], duration: 1s, repeats: 1, direct: false}
  sweep:
  - {field: chain.tuning.tcp_congestion_control, values: [reno, nosuch]}
  - {field: chain.tuning.gso_max_size, values: [20000, 40000]}
`))
	if err != nil {
		t.Fatal(err)
	}
	points, err := experiment.Points(file.Experiments[0].Spec, b.host.Words)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	with := tool{func(ctx context.Context, job traffic.Job) (traffic.Sample, error) {
		for _, end := range []string{job.ClientNetns, job.ServerNetns} {
			found[setAt(t, end)]++
		}
		return sampled(ctx, job)
	}}
	m := b.of(with, &trial.Run{})
	conditions, infeasible, err := m.Cells(context.Background(), b.name(), points)
	if err != nil || len(conditions) != 2 || len(infeasible) != 2 {
		t.Fatalf("%d conditions, infeasible %+v, error %v", len(conditions), infeasible, err)
	}
	b.gone()
	for _, c := range infeasible {
		if c.Factors["chain.tuning.tcp_congestion_control"] != "nosuch" || !strings.Contains(c.Reason, "the kernel refuses nosuch") {
			t.Errorf("%v: %s", c.Factors, c.Reason)
		}
	}
	r := trial.Run{SchemaVersion: trial.SchemaVersion, ID: "20260101-000000-" + nstest.Name(t), Chain: b.name(), State: trial.Running,
		Experiment: b.name(), Spec: "spec", Seed: 7, Repeats: 1, Conditions: conditions, Infeasible: infeasible}
	if err := b.store.CreateRun(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(context.Background(), &r); err != nil {
		t.Fatal(err)
	}
	if found["reno 20000"] != 2 || found["reno 40000"] != 2 || len(found) != 2 {
		t.Errorf("trials found %v", found)
	}
	b.gone()
}

// setAt an end of a chain: how TCP and its interface are.
func setAt(t *testing.T, ref string) (set string) {
	h, err := netns.Open(ref)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer h.Close()
	for _, device := range []string{"eth0", "eth1"} {
		if l, err := h.LinkByName(device); err == nil {
			set = fmt.Sprint(" ", l.Attrs().GSOMaxSize)
		}
	}
	err = h.Do(func() error {
		text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control")
		set = strings.TrimSpace(string(text)) + set
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return set
}

// TestRefusedBeforeAnythingIsMade: what the kernel does not take is told by up too, and no
// namespace was made for it.
func TestRefusedBeforeAnythingIsMade(t *testing.T) {
	for _, tuning := range []string{"tcp_congestion_control: nosuch", "scatter_gather: false, tso: true", "rx_queues: 4096"} {
		b := newBed(t, "tuning: {"+tuning+"}\nfunctions:\n- {name: f, kind: forward}\n")
		_, changes, err := b.edit(context.Background(), run.UpOptions{})
		if err == nil || len(changes) > 0 {
			t.Errorf("%s: %d changes, error %v", tuning, len(changes), err)
		}
		b.gone()
	}
}
