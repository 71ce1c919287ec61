package builtin

import (
	"encoding/json"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// counters are what a trial counted, as it is stored beside the metrics.
type counters struct {
	Seconds    float64 `json:"seconds"`
	Sent       uint64  `json:"sent_packets"`
	Unsent     uint64  `json:"unsent_packets"`
	SentBytes  uint64  `json:"sent_bytes"`
	Arrived    uint64  `json:"arrived_packets"`
	Received   uint64  `json:"received_packets"`
	Duplicates uint64  `json:"duplicate_packets"`
	Reordered  uint64  `json:"reordered_packets"`
	Stale      uint64  `json:"stale_packets"`
	Damaged    uint64  `json:"damaged_packets"`
	Early      uint64  `json:"early_packets"`
	Strangers  uint64  `json:"stranger_packets"`
	Refused    uint64  `json:"refused_packets"`
	BusyS      float64 `json:"source_cpu_s"`
	Payload    uint64  `json:"payload_bytes"`
	Native     bool    `json:"xdp_native"`
}

// keep the counters beside a sample, as the tool's own output.
func (t *totals) keep(s *traffic.Sample) error {
	text, err := json.Marshal(counters{
		Seconds: t.seconds, Sent: t.sent, Unsent: t.unsent, SentBytes: t.sentBytes, Arrived: t.arrived, Received: t.unique,
		Duplicates: t.duplicates, Reordered: t.reordered, Stale: t.stale, Damaged: t.damaged, Early: t.early, Strangers: t.strangers, Refused: t.refused, BusyS: t.busy.Seconds(), Payload: t.payload, Native: t.native,
	})
	s.Raw = append(s.Raw, trial.ToolOutput{Command: []string{"builtin"}, Output: text})
	return err
}
