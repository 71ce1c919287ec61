package run_test

import (
	"context"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
)

// TestInlineFirewallIsTold rule by rule, of both directions together, and how many connections it knows.
func TestInlineFirewallIsTold(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.BPFTrace)
	b := newBed(t, `wiring: ebpf
functions:
- name: fw
  kind: firewall
  runtime: inline
  firewall: {policy: drop, rules: {generate: 5, list: [{state: [invalid], action: drop}, {action: accept, comment: all}]}}
- {name: once, kind: firewall, direction: forward, runtime: inline, firewall: {rules: {list: [{state: [invalid], action: drop}]}}}
`)
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	b.traced(100)
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || len(state.Inline) != 2 {
		t.Fatalf("%+v, error %v", state, err)
	}
	fw, once := state.Inline[0], state.Inline[1]
	if len(fw.Rules) != 7 || fw.Rules[0].Packets != 0 || fw.Rules[6].Packets < 100 || fw.Rules[6].Comment != "all" || fw.Rules[6].Verdict != "accept" || fw.Dropped == nil {
		t.Errorf("%+v", fw)
	}
	if c := fw.Connections; c == nil || c.Known == 0 || c.Known > 1000 || c.Most != 65536 || c.Evicted != 0 {
		t.Errorf("connections %+v", c)
	}
	if len(once.Rules) != 1 || once.Dropped != nil || once.Forward == nil || once.Reverse != nil {
		t.Errorf("%+v", once)
	}
	for _, h := range state.Hops {
		if h.From == "server" && len(h.Pass.Steps) != 1 {
			t.Errorf("back from the server packets meet %+v", h.Pass.Steps)
		}
	}
}
