package run_test

import (
	"context"
	"os/exec"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/trial"
)

// TestInlineTranslationIsTold and measured: where connections went and come from, how many are known, and what was
// dropped because it is of none.
func TestInlineTranslationIsTold(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress, feature.ToolPing)
	b := newBed(t, `wiring: ebpf
endpoints: [{name: client}, {name: server, addresses: [203.0.113.1]}]
functions:
- {name: out, kind: nat, runtime: inline, nat: {source: {masquerade: true}}}
- {name: f, kind: forward}
- {name: lb, kind: loadbalancer, runtime: inline, loadbalancer: {}}
`)
	l, direct := load(1, trial.UDP), false
	l.Direct = &direct
	m, r := b.measurement(l, builtin.Tool{})
	r.Conditions[0].OfferedPps, r.Conditions[0].PayloadSize = 1000, 100
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if got := b.stored(r.ID).Trials[0].Metrics; got["forwarding_rate_pps"] <= 0 {
		t.Errorf("%v", got)
	}
	p, _, err := b.edit(t.Context(), run.UpOptions{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := b.host.Down(context.Background(), b.name()); err != nil {
			t.Error(err)
		}
	})
	for _, to := range p.Reached().Addresses {
		if out, err := exec.Command("ip", "netns", "exec", p.Client().Namespace, "ping", "-n", "-c", "1", "-w", "20", to.String()).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || len(state.Inline) != 2 {
		t.Fatalf("%+v, error %v", state, err)
	}
	for i, want := range [][]string{{"", ""}, {p.Inline[1].Addresses[0].String(), p.Inline[1].Addresses[1].String()}} {
		f, went := state.Inline[i], map[string]uint64{}
		for _, tr := range f.Translations {
			if (tr.From == "") != (i == 1) || (tr.To == "") != (i == 0) {
				t.Errorf("%s: %+v", f.Name, tr)
			}
			went[tr.Service] += tr.Connections
		}
		for _, service := range want {
			if went[service] == 0 {
				t.Errorf("%s translated no connection to %q: %+v", f.Name, service, f.Translations)
			}
		}
		if c := f.Connections; c == nil || c.Known == 0 || c.Known > 1000 || c.Most != 65536 || c.Evicted != 0 {
			t.Errorf("%s knows %+v", f.Name, c)
		}
		if f.Forward == nil || f.Reverse == nil || f.Forward.Packets == 0 || f.Reverse.Packets == 0 {
			t.Errorf("%s did %+v there and %+v back", f.Name, f.Forward, f.Reverse)
		}
	}
}
