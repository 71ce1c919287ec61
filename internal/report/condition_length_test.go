package report

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// TestDirectPathsOfUnlikeChainsAreToldApart, though each leads over two namespaces alone.
func TestDirectPathsOfUnlikeChainsAreToldApart(t *testing.T) {
	run := trial.Run{ID: "direct", State: trial.Done, Repeats: 1}
	for i, length := range []any{2, 100.0, 150.0} {
		c := trial.Condition{Path: trial.PathDirect, Protocol: trial.UDPRR, Tool: "rr", Flows: 1, Length: 2,
			Factors: map[string]any{"path": trial.PathDirect, "length": length}}
		if i == 0 {
			c.Path = trial.PathChain // two ends are the direct path
		}
		run.Conditions = append(run.Conditions, c)
		run.Trials = append(run.Trials, trial.Trial{Condition: i, Repeat: 1, Metrics: map[string]float64{"latency_mean_ns": 1e5 * float64(i+1)}})
	}
	var b strings.Builder
	if err := Text(&b, New(run)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 of 100", "2 of 150"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("nothing tells of the path past %s:\n%s", want, b.String())
		}
	}
	delete(run.Conditions[2].Factors, "path")
	if text := lengthText(run.Conditions[2]); text != "2" {
		t.Errorf("a direct path beside its chain has length %s", text)
	}
}
