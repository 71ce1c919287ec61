package run_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/trial"
)

const transparent = "transparent: true,"

// TestProgramsInTheWire pass frames on both ways without addresses, as many as TCP sends, and what goes through them is proven.
func TestProgramsInTheWire(t *testing.T) {
	nstest.Require(t, iperf3.Tool{}.Requires()...)
	for name, c := range map[string]struct {
		wiring, before string
		needs          []string
	}{
		"veth": {"veth", "forward", nil}, "ebpf": {"ebpf", "forward", []string{feature.BPFPeer, feature.BPFIngress}},
		"behind what hands on": {"veth", "passthrough", []string{feature.BPFPeer, feature.BPFIngress}},
	} {
		t.Run(name, func(t *testing.T) {
			nstest.Require(t, c.needs...)
			b := newBed(t, "wiring: "+c.wiring+"\nfunctions:\n- {name: a, kind: "+c.before+"}\n- {name: wire, "+relayer(t, wire, transparent)+"}\n- {name: b, kind: forward}\n")
			l, direct := load(1, trial.TCP), false
			l.Direct = &direct
			m, r := b.measurement(l, iperf3.Tool{})
			if err := m.Run(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			if s := r.Setups[0]; s.Length != 5 || len(s.Unread) > 0 {
				t.Errorf("%+v", s)
			}
			if tr := b.stored(r.ID).Trials[0]; tr.Metrics["goodput_bps"] < 1e6 {
				t.Errorf("TCP does not come through: %v", tr.Metrics)
			}
			b.up(run.UpOptions{Wait: true})
			const many = 300
			for _, way := range []string{"forward", "reverse"} {
				for family := range 2 {
					if got := b.numbered(way, family, many); len(got) != many || !slices.IsSorted(got) {
						t.Errorf("%s, family %d: of %d came %d", way, family, many, len(got))
					}
				}
			}
			out, err := exec.Command("ip", "-n", "nfchain."+b.name()+".wire", "-o", "address", "show", "up").CombinedOutput()
			if err != nil || strings.Contains(string(out), "eth") {
				t.Errorf("it has addresses: %v\n%s", err, out)
			}
			b.unchanged()
			if !nstest.Has(feature.BPFTrace) {
				t.Log("nothing can be traced here")
				return
			}
			told := b.traced(many)
			var text strings.Builder
			if err := told.Text(&text); err != nil {
				t.Fatal(err)
			}
			if own := *told.Own; own.Sent != many || own.Received != many || own.Dropped != 0 || own.Unexplained != 0 {
				t.Errorf("%+v\n%s", own, text.String())
			}
			if e := b.explained("udp", "client", "server:9"); strings.Contains(strings.Join(e.Reasons, "\n"), "wire") {
				t.Errorf("%q", e.Reasons)
			}
		})
	}
}

// TestProgramsInTheWireAreLedPast when they are gone and do not come back.
func TestProgramsInTheWireAreLedPast(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFIngress)
	gone := filepath.Join(t.TempDir(), "gone")
	program := relayer(t, wire, transparent, "sh", "-c", `test ! -e "$0" && exec "$@"`, gone)
	b := newBed(t, "wiring: ebpf\nfunctions:\n- {name: a, kind: forward}\n- {name: wire, onFailure: bypass, "+program+"}\n- {name: b, kind: forward}\n")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	b.until("it is watched, and well", b.well)
	if err := os.WriteFile(gone, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := deploy.Harm(p, api.Harm{What: api.HarmProgram, Node: "wire"}); err != nil {
		t.Fatal(err)
	}
	b.until("it has failed", b.failing)
	if got := b.numbered("forward", 0, 20); len(got) != 20 {
		t.Errorf("of 20 packets %d were led past it", len(got))
	}
}
