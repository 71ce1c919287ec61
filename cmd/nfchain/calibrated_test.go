package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/registry"
)

// mixed has a wiring that takes no long packets beside one that does.
const mixed = `
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: mixed}
spec:
  chain: {ovs: {ports: internal, datapath: netdev}}
  load: {tool: iperf3, protocols: [tcp], direct: false}
  sweep:
  - {field: wiring, values: [veth, ovs]}
`

// TestCalibratedConditionsAreAlike: what one of them cannot have is left out for all, and that
// is said.
func TestCalibratedConditionsAreAlike(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.ToolOVS, feature.Tun, feature.ToolIperf3)
	f, err := registry.Words().Decode("mixed", []byte(mixed))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	a := &app{env: env{stderr: io.Discard, now: time.Now, getenv: func(string) string { return "" }}}
	s := a.subjectOf(a.host(ctx), f, mixed, experimentFlags{best: map[string]any{"flows": 4.0, "payload_size": 65536.0, "mtu": 9000.0}})
	cells, _, err := a.cells(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := experiment.Describe(cells.Calibrated), "flows=4 payload_size=65536"; got != want || len(cells.Conditions) != 4 || len(cells.Infeasible) != 0 {
		t.Errorf("%q, not %q; %d conditions, and infeasible %v", got, want, len(cells.Conditions), cells.Infeasible)
	}
	if w := strings.Join(cells.Warnings, "\n"); !strings.Contains(w, "because not every condition can have it: mtu=9000") {
		t.Errorf("warnings %q", w)
	}
	for i, c := range s.m.Chains {
		if c.Spec.MTU != 1500 {
			t.Errorf("chain %d has an MTU of %d", i, c.Spec.MTU)
		}
	}
}
