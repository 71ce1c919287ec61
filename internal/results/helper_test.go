package results

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

var start = time.Date(2026, 11, 21, 3, 53, 52, 0, time.UTC)

// sampleRun is a run of two conditions without trials.
func sampleRun(id string, at time.Time) trial.Run {
	return trial.Run{
		SchemaVersion: trial.SchemaVersion, ID: id, Chain: "edge", State: trial.Done, CreatedAt: at,
		Command: []string{"nfchain", "bench", "edge-chain.yaml"}, Spec: "kind: NetworkServiceChain\n# <ü>\n", Seed: 7, Repeats: 3,
		Environment: trial.Environment{NfchainVersion: "v1", Kernel: "6.18.0", CPUs: 2},
		Conditions: []trial.Condition{
			{Path: trial.PathChain, Protocol: trial.TCP, Flows: 1, Factors: map[string]any{"length": 3}},
			{Path: trial.PathDirect, Protocol: trial.TCP, Flows: 1},
		},
		Warnings: []string{"a warning"},
	}
}

func sampleTrial(condition, repeat int) trial.Trial {
	return trial.Trial{
		Condition: condition, Repeat: repeat, StartedAt: start.Add(time.Duration(repeat) * time.Second), DurationS: 5,
		Metrics: map[string]float64{"goodput_bps": 1e10 + float64(repeat)/3},
		Raw: []trial.ToolOutput{{Command: []string{"iperf3", "-c"}, Node: "client",
			Output: json.RawMessage(fmt.Sprintf(`{"end":{"bps":%d,"text":"<&>"}}`, repeat))}},
	}
}

func open(t *testing.T) *Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "a dir?", "ré%20s.db"))
}

func openAt(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s *Store, id string) trial.Run {
	t.Helper()
	run, err := s.Get(context.Background(), id)
	must(t, err)
	return run
}
