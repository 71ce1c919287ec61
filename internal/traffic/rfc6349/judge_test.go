package rfc6349

import (
	"math"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/trial"
)

// good is what both sides see of a line of 100 Mbit/s that carries 10 s of TCP.
func good() (trial.Condition, sentReport, receivedReport) {
	return trial.Condition{Flows: 1, DurationS: 31},
		sentReport{Baseline: 25_000, Average: 32_000, MTU: 1500, Transmitted: 102_000, Retransmitted: 2_000, Buffer: 4 << 20},
		receivedReport{Datagrams: 81_275, DatagramBytes: 1472, DatagramSeconds: 10, Bytes: 94_928_000, Seconds: 10, Buffer: 6 << 20}
}

func TestJudge(t *testing.T) {
	c, sent, got := good()
	s, err := judge(c, false, sent, got)
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{
		"bottleneck_bps": 100e6, "achievable_bps": 94.93e6, "transfer_time_ratio": 1.25, "tcp_efficiency_ratio": 0.98039,
		"buffer_delay_ratio": 0.28, "delay_product_bytes": 312_500, "goodput_bps": 75.94e6,
	} {
		if v := s.Metrics[metric]; math.Abs(v/want-1) > 1e-3 {
			t.Errorf("%s is %v, want %v", metric, v, want)
		}
	}
	if len(s.Warnings) != 0 {
		t.Errorf("warnings %q", s.Warnings)
	}
}

func TestJudgeWarns(t *testing.T) {
	for want, change := range map[string]func(*trial.Condition, *sentReport, *receivedReport){
		"30 s deviates":               func(c *trial.Condition, _ *sentReport, _ *receivedReport) { c.DurationS = 30 },
		"bandwidth-delay product":     func(_ *trial.Condition, s *sentReport, _ *receivedReport) { s.Buffer = 300_000 },
		"TCP was faster than UDP":     func(_ *trial.Condition, _ *sentReport, g *receivedReport) { g.Bytes *= 2 },
		"needs --rate":                func(_ *trial.Condition, _ *sentReport, g *receivedReport) { g.Datagrams = 1 },
		"nothing of the transfer":     func(_ *trial.Condition, _ *sentReport, g *receivedReport) { g.Bytes = 0 },
		"the client's counts cannot":  func(_ *trial.Condition, s *sentReport, _ *receivedReport) { s.Baseline = 0 },
		"client's counts cannot be: ": func(_ *trial.Condition, s *sentReport, _ *receivedReport) { s.Retransmitted = 1 << 40 },
	} {
		c, sent, got := good()
		change(&c, &sent, &got)
		s, err := judge(c, false, sent, got)
		said := strings.Join(s.Warnings, "\n")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, want) {
			t.Errorf("%q, want %q", said, want)
		}
	}
}
