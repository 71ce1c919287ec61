package trial

import "nfchain.dev/nfchain/internal/stats"

// Summary is one condition of a run with what its repeats come to, by metric.
type Summary struct {
	Condition
	Metrics map[string]stats.Summary `json:"metrics"`
}
