package main

import (
	"testing"

	runs "nfchain.dev/nfchain/internal/run"
)

// TestPathText says where packets go, and back where that is another way.
func TestPathText(t *testing.T) {
	for want, r := range map[string]runs.PathRuleState{
		"direct":                               {},
		"drop":                                 {Drop: true},
		"a → s":                                {Path: []string{"a", "s"}, BackFunctions: []string{"a", "s"}},
		"a → s, and back by a":                 {Path: []string{"a", "s"}, Back: []string{"client", "a", "server"}, BackFunctions: []string{"a"}},
		"a → s, and straight back":             {Path: []string{"a", "s"}, Back: []string{"client", "server"}},
		"a, s, as branches lead":               {Path: []string{"a", "s"}, Branched: true},
		"a (service path 7, and 8388615 back)": {Path: []string{"a"}, BackFunctions: []string{"a"}, ServicePath: 7},
	} {
		if got := pathText(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
