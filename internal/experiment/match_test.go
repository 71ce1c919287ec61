package experiment

import (
	"encoding/json"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

func TestMatchesComparesByValue(t *testing.T) {
	c := trial.Condition{Path: trial.PathChain, Protocol: trial.TCP, Flows: 8, Factors: map[string]any{
		"length": uint64(3), "zerocopy": true, "payload_size": "64KiB", "affinity": "0,1",
	}}
	for _, yes := range []map[string]any{
		nil, {"length": 3}, {"length": 3.0}, {"length": int64(3), "zerocopy": true}, {"length": json.Number("3")},
		{"payload_size": 65536}, {"payload_size": "65536B"}, {"affinity": "0,1"}, {"protocol": "tcp", "flows": uint64(8)},
	} {
		if !Matches(c, yes) {
			t.Errorf("%v does not match", yes)
		}
	}
	for _, no := range []map[string]any{
		{"length": 4}, {"length": "3"}, {"zerocopy": false}, {"zerocopy": "true"}, {"zerocopy": 1},
		{"nonsense": 1}, {"length": 3, "flows": 1}, {"length": nil}, {"length": []any{3}},
	} {
		if Matches(c, no) {
			t.Errorf("%v matches", no)
		}
	}
}

func TestMatchesAfterJSON(t *testing.T) {
	text, _ := json.Marshal(trial.Condition{Factors: map[string]any{"length": uint64(20), "zerocopy": false, "rate": "10Gbit"}})
	var c trial.Condition
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	if !Matches(c, map[string]any{"length": 20, "zerocopy": false, "rate": uint64(10e9)}) {
		t.Errorf("%+v", c)
	}
}

func TestDirectPathIsNotTakenForAChain(t *testing.T) {
	at := func(path string, length, nodes int) trial.Condition {
		return trial.Condition{Path: path, Length: nodes, Factors: map[string]any{"length": length}}
	}
	run := trial.Run{Conditions: []trial.Condition{
		at(trial.PathDirect, 2, 2), at(trial.PathChain, 5, 5), at(trial.PathDirect, 5, 2), at(trial.PathDirect, 9, 2),
	}}
	for length, want := range map[int][]int{2: {0}, 5: {1}, 9: nil} {
		if got := matching(run, map[string]any{"length": length}); !slices.Equal(got, want) {
			t.Errorf("length %d: %v, want %v", length, got, want)
		}
	}
	if got := matching(run, map[string]any{"length": 5, "path": "direct"}); !slices.Equal(got, []int{2}) {
		t.Errorf("asked for direct: %v", got)
	}
}
