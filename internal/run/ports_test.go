package run_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/run"
)

// TestPortsAreNamed by the nodes and interfaces that they are of, where a forwarder has any.
func TestPortsAreNamed(t *testing.T) {
	for wiring, want := range map[string]string{"ebpf": "(client eth0)", "veth": ""} {
		p, err := plan.Make(plantest.Chain(t, "edge", "wiring: "+wiring+"\nfunctions: [{name: a, kind: forward}]\n"), plantest.Catalogue(), plan.Facts{}, plan.Options{})
		if err != nil {
			t.Fatal(err)
		}
		named, found := run.NamePorts(p), 0
		for _, r := range p.Resources {
			s, is := r.Spec.(steer.Spec)
			if is && strings.Contains(named(r.ID), want) {
				found++
			}
			if is && strings.Count(named(s.Fingerprint()), " (") != 1 {
				t.Errorf("%s: %q", r.ID, named(s.Fingerprint()))
			}
		}
		if named("eth0") != "eth0" || want != "" && found != 1 {
			t.Errorf("wiring %s: of the ports %d are the client's", wiring, found)
		}
	}
}
