package main

import (
	"bytes"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/observe/told"
	"nfchain.dev/nfchain/internal/resource/process"
	runs "nfchain.dev/nfchain/internal/run"
)

// TestMetricsOfWhatIsTold takes what two programs say of the same name in different ways.
func TestMetricsOfWhatIsTold(t *testing.T) {
	state := runs.State{Chain: "edge", State: runs.StateUp}
	for name, text := range map[string]string{
		"a": "# HELP same By a.\n# TYPE same gauge\nsame{x=\"1\"} -1\n# TYPE done_total counter\ndone_total 2",
		"b": "# TYPE same counter\nsame{y=\"\\\"\\\\\"} 3\n# TYPE done counter\ndone 4\n# TYPE temperature gauge\ntemperature 1\nbare:one 1e300",
	} {
		families, err := told.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		state.Nodes = append(state.Nodes, runs.NodeState{Name: name, State: runs.StateUp, Program: &process.Status{State: process.Running}, Told: &told.Told{Families: families}})
	}
	if state.Nodes[0].Name != "a" {
		state.Nodes[0], state.Nodes[1] = state.Nodes[1], state.Nodes[0]
	}
	var b bytes.Buffer
	if err := metricsOf(&b, state); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"# TYPE same gauge", `same{chain="edge",node="a",x="1"} -1.0`, `same_total{chain="edge",node="b",y="\"\\"} 3.0`,
		`done_total{chain="edge",node="a"} 2.0`, `done_total{chain="edge",node="b"} 4.0`, `bare:one{chain="edge",node="b"} 1e+300`,
		`nfchain_program_ready{chain="edge",node="b"} 1.0`, `nfchain_up{chain="edge"} 1.0`, `temperature{chain="edge",node="b"} 1.0`, "# EOF",
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, b.String())
		}
	}
	if n := strings.Count(b.String(), "# TYPE done counter"); n != 1 {
		t.Errorf("%d families done:\n%s", n, b.String())
	}
}
