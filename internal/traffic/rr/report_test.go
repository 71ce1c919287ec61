package rr

import (
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/trial"
)

// TestCountsThatCannotBe has a client report what is not possible.
func TestCountsThatCannotBe(t *testing.T) {
	h := trial.NewHistogram()
	_ = h.RecordValue(1000)
	text, err := trial.EncodeHistogram(h)
	if err != nil {
		t.Fatal(err)
	}
	s := settings{Protocol: trial.UDPRR, Duration: time.Second}
	good := sentReport{counts: counts{Begun: 2, Done: 1, InTime: 1, Lost: 1}, Latency: text}
	sample, err := good.sample(s, servedReport{Requests: 2})
	if err != nil || sample.Metrics["responses_lost"] != 1 || sample.Metrics["transactions_per_second"] != 1 {
		t.Errorf("%v, %v", sample.Metrics, err)
	}
	for name, change := range map[string]func(*sentReport){
		"rubbish histogram":  func(r *sentReport) { r.Latency = "x" },
		"more done":          func(r *sentReport) { r.Done = 2 },
		"more lost":          func(r *sentReport) { r.Lost = 9 },
		"none begun":         func(r *sentReport) { r.Begun = 0 },
		"more in time":       func(r *sentReport) { r.InTime = 9 },
		"another histogram":  func(r *sentReport) { r.Begun, r.Done = 9, 8 },
		"an empty histogram": func(r *sentReport) { r.Latency, _ = trial.EncodeHistogram(trial.NewHistogram()) },
	} {
		bad := good
		change(&bad)
		if _, err := bad.sample(s, servedReport{}); err == nil || !strings.Contains(err.Error(), "client's") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
