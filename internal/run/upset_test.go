package run

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/builtin"
	"nfchain.dev/nfchain/internal/traffic/ping"
	"nfchain.dev/nfchain/internal/trial"
)

func TestUpsets(t *testing.T) {
	back, forth := -3600.0, 0.25
	for _, c := range []struct {
		observed trial.Observation
		tool     traffic.Tool
		want     []string
	}{
		{trial.Observation{}, ping.Tool{}, nil},
		{trial.Observation{CoresLost: []int{1}}, builtin.Tool{}, []string{"core 1 was taken away"}},
		{trial.Observation{CoresLost: []int{1, 3}, CoresCame: []int{4}}, builtin.Tool{}, []string{"cores 1 3 were taken away", "core 4 was added"}},
		{trial.Observation{ClockSetS: &back}, builtin.Tool{}, []string{"by -1h0m0s: builtin measures by another clock"}},
		{trial.Observation{ClockSetS: &forth}, ping.Tool{}, []string{"by 250ms: ping measures by that clock"}},
	} {
		got := upsets(c.observed, c.tool)
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c.observed, got)
			continue
		}
		for i, part := range c.want {
			if !strings.Contains(got[i], part) {
				t.Errorf("%q, want %q", got[i], part)
			}
		}
	}
}
