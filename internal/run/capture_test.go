package run_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/run"
)

// TestReplicasAreCaptured: by the function's name all of them, and each by its own; on the path they are
// one hop.
func TestReplicasAreCaptured(t *testing.T) {
	chain := plantest.Chain(t, "edge", "wiring: ebpf\nfunctions: [{name: a, kind: forward, replicas: 2}, {name: b, kind: forward}]\n")
	p, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for hop, want := range map[string]string{"a": "a-1 a-1 a-1 a-1 a-2 a-2 a-2 a-2", "a-2": "a-2 a-2 a-2 a-2", "b": "b b b b"} {
		c, err := run.Captured(p, hop)
		if err != nil {
			t.Fatal(err)
		}
		var at []string
		for _, point := range c.Points {
			at = append(at, point.Hop)
			if place := slices.Index(c.Path, strings.TrimRight(point.Hop, "-12")); point.Place != place {
				t.Errorf("%s is at place %d, not %d", point.Hop, point.Place, place)
			}
		}
		if text := strings.Join(at, " "); text != want {
			t.Errorf("%s is captured at %s", hop, text)
		}
		if text := strings.Join(c.Path, " "); text != "client a b server" || len(c.Names["a"]) == 0 || !slices.Equal(c.Names["a"], c.Names["a-2"]) {
			t.Errorf("path %s, names %v", text, c.Names)
		}
	}
}

// TestStopsAreCaptured by the names of the functions at them, each in its place on the path.
func TestStopsAreCaptured(t *testing.T) {
	chain := plantest.Chain(t, "edge", "wiring: ebpf\nfunctions: [{name: wall, kind: counter, runtime: inline}, {name: meter, kind: counter, runtime: inline}, {name: b, kind: forward}]\n"+
		"classifier: {rules: [{name: x, match: {protocol: tcp}, functions: [wall, meter, b]}]}\n")
	p, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, hop := range []string{"wall", "meter", "wall.stop"} {
		c, err := run.Captured(p, hop)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Points) != 2 || strings.Join(c.Path, " ") != "client wall meter b server" {
			t.Errorf("%s is captured at %v, on %v", hop, c.Points, c.Path)
		}
		for _, point := range c.Points {
			if point.Hop != "wall.stop" || point.Place != 1 {
				t.Errorf("%s is captured at %+v", hop, point)
			}
		}
	}
}
