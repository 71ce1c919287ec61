package run_test

import (
	"context"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trace"
	"nfchain.dev/nfchain/internal/trial"
)

const parting = `wiring: ebpf
functions:
- name: tell
  kind: command
  command:
    args: [sh, -c, "nft add table inet tell '{ chain c { type filter hook forward priority mangle; meta l4proto udp meta mark set 7; }; }' && exec sleep infinity"]
    ready: {command: [nft, list, table, inet, tell]}
  branches: [{mark: 7, to: one}]
- {name: plain, kind: forward, next: out}
- {name: one, kind: bridge}
- {name: two, kind: forward}
- {name: out, kind: forward}
`

// TestBranchesAreMeasured, proven and shown, whichever way the load goes.
func TestBranchesAreMeasured(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFTCX, feature.Bridge, feature.NFTables, feature.ToolNFT)
	b := newBed(t, parting)
	m, r := b.measurement(load(1, trial.TCP, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	p, _, err := b.host.Up(t.Context(), b.chain, run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	for _, protocol := range []string{trial.TCP, trial.UDP} {
		if err := run.Proven(t.Context(), p, protocol, nil); err != nil {
			t.Error(err)
		}
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || state.Branches == nil || state.Branches.New == 0 || state.Branches.Flows == 0 {
		t.Fatalf("%+v, error %v", state, err)
	}
	const least = 8 // packets of a proof, each way
	wanted := map[string]string{"tell plain": "", "tell one": "mark 0x7", "plain out": "", "two out": "", "out plain": "", "out two": ""}
	for _, h := range state.Hops {
		hop := h.From + " " + h.To
		marks, is := wanted[hop]
		if !is {
			continue
		}
		delete(wanted, hop)
		if h.Packets < least || h.Marks != marks || h.From == "out" != (h.Flows > 0) {
			t.Errorf("%+v", h)
		}
	}
	if len(wanted) > 0 {
		t.Errorf("no hops %v in %+v", wanted, state.Hops)
	}
	if err := run.Traceable(p); err == nil || !strings.Contains(err.Error(), "which way a packet goes") {
		t.Errorf("traceable: %v", err)
	}
	if _, err := run.Explained(p, trace.Flow{}); err == nil || !strings.Contains(err.Error(), "which way a packet goes") {
		t.Errorf("explained: %v", err)
	}
}
