package run_test

import (
	"context"
	"fmt"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// TestFlowsThroughAChain sends 4,096 flows by addresses both ways through a firewall and a
// forwarder, and over the direct path: all of them arrive.
func TestFlowsThroughAChain(t *testing.T) {
	nstest.Require(t, feature.BPFXDP, feature.NFTables)
	b := newBed(t, "functions:\n- {name: fw, kind: firewall, firewall: {rules: {generate: 10}}}\n- {name: on, kind: forward}\n")
	l := load(1, trial.UDP)
	l.Flows, l.FlowsBy, l.Bidirectional, l.FrameSize = 4096, trial.FlowsByAddresses, true, 128
	for _, version := range []int{4, 6} {
		l.IPVersion = version
		var lost []string
		for range 10 { // again where the machine itself dropped packets, or a trial warns of what cost some
			dropped, warned := nstest.Dropped(t), false
			m, r := b.measurement(l, builtin.Tool{})
			for i := range r.Conditions {
				r.Conditions[i].OfferedPps, r.Conditions[i].DurationS = 2000, 3
			}
			if err := m.Run(context.Background(), r); err != nil {
				t.Fatal(err)
			}
			lost = nil
			for _, tr := range b.stored(r.ID).Trials {
				warned = warned || len(tr.Warnings) > 0
				c := r.Conditions[tr.Condition]
				if tr.Metrics["loss_ratio"] != 0 || tr.Metrics["silent_flows"] != 0 || tr.Metrics["flow_loss_max_ratio"] != 0 || c.FlowsBy != trial.FlowsByAddresses {
					lost = append(lost, fmt.Sprintf("IPv%d over the %s path by %q: %v, %q", version, c.Path, c.FlowsBy, tr.Metrics, tr.Warnings))
				}
			}
			if len(lost) == 0 || !warned && nstest.Dropped(t) == dropped {
				break
			}
		}
		for _, what := range lost {
			t.Error(what)
		}
	}
}
