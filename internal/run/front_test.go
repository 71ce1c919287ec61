package run_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// TestPathsBesideBranches are measured, explained and shown: by marks, by some functions, and straight from end to end.
func TestPathsBesideBranches(t *testing.T) {
	nstest.Require(t, feature.BPFTrace, feature.BPFPeer, feature.BPFIngress, feature.Bridge, feature.NFTables, feature.ToolNFT)
	b := newBed(t, parting+`classifier:
  rules:
  - {name: some, match: {protocol: udp, destination_port: 53}, functions: [out, plain]}
  - {name: marked, match: {protocol: udp}, functions: [tell, plain, one, two, out]}
`)
	m, r := b.measurement(load(1, trial.UDP), tool{sampled})
	if err := m.Run(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b.up(run.UpOptions{Wait: true})
	for _, c := range []struct{ protocol, from, to, way, path string }{
		{"udp", "client", "server:9", "client tell one two out server", "as branches lead, by rule marked"},
		{"udp", "client", "server:53", "client out plain server", "path: out → plain, by rule some"},
		{"tcp", "client", "server:9", "client server", "path: direct"},
	} {
		e := b.explained(c.protocol, c.from, c.to)
		var way []string
		for i, h := range e.Hops {
			if h.Kind == "wiring" {
				continue
			}
			if way = append(way, h.Name); i > 0 && h.In != e.Sent {
				t.Errorf("%s to %s: %s got %d of %d", c.protocol, c.to, h.Name, h.In, e.Sent)
			}
		}
		if strings.Join(way, " ") != c.way || !strings.Contains(e.Path, c.path) {
			t.Errorf("%s to %s: way %v, %q, %s", c.protocol, c.to, way, e.Path, e.Verdict)
		}
	}
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	state, err := run.Inspect(t.Context(), p)
	if err != nil || state.State != run.StateUp || state.Classifier == nil || state.Branches == nil || state.Branches.New == 0 {
		t.Fatalf("%+v, error %v", state, err)
	}
	came := map[string]uint64{}
	for _, h := range state.Hops {
		if came[h.From+" to "+h.To] += h.Packets; h.To == "" {
			t.Errorf("%+v", h)
		}
	}
	for _, hop := range []string{"client to tell", "tell to one", "out to server", "out to plain", "client to out or server"} {
		if came[hop] == 0 {
			t.Errorf("no packets %s: %v", hop, came)
		}
	}
}
