package rfc6349_test

import (
	"context"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/rfc6349"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestShaped measures a bottleneck whose bandwidth is known: 20 Mbit/s, with a
// buffer of 50 kB, which is 20 ms.
func TestShaped(t *testing.T) {
	nstest.Require(t, "qdisc.tbf", "tool.tc")
	for name, c := range map[string]trial.Condition{
		"measured": {}, "known": {OfferedBps: 20.6e6}, "connections": {Flows: 3}, "IPv6": {},
	} {
		t.Run(name, func(t *testing.T) {
			c.Protocol, c.DurationS = trial.RFC6349, 3
			job := traffictest.Job(t, c)
			if name == "IPv6" {
				traffictest.IPv6(t, &job)
			}
			traffictest.Command(t, job.ClientNetns, "tc", "qdisc", "add", "dev", "veth0", "root", "tbf", "rate", "20mbit", "burst", "20kb", "limit", "50kb")
			s := run(t, job)
			m := s.Metrics
			for metric, between := range map[string][2]float64{
				// A busy machine lets the shaper idle, so that the bounds are wide.
				// The shaper counts 14 bytes of header, the line 38 of a frame of 1538.
				"bottleneck_bps": {5e6, 22e6}, "goodput_bps": {2e6, 22e6}, "achievable_bps": {4e6, 21e6},
				"transfer_time_ratio": {0.3, 5}, "tcp_efficiency_ratio": {0.01, 1}, "path_mtu_bytes": {1500, 1500},
				// An empty buffer is a baseline of microseconds, a full one of milliseconds.
				"buffer_delay_ratio": {1, 1e6}, "baseline_rtt_ns": {1e3, 10e6}, "average_rtt_ns": {1e6, 1e9},
			} {
				if v, told := m[metric]; !told || v < between[0] || v > between[1] {
					t.Errorf("%s is %v, want it between %v", metric, v, between)
				}
			}
			if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0], "RFC 6349 wants transfers longer than 30 s") {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}

func run(t *testing.T, job traffic.Job) traffic.Sample {
	t.Helper()
	s, err := rfc6349.Tool{}.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	traffictest.Empty(t, job)
	return s
}

// TestUnlimited has no bottleneck but the processor.
func TestUnlimited(t *testing.T) {
	s := run(t, traffictest.Job(t, trial.Condition{Protocol: trial.RFC6349, PayloadSize: 4096}))
	if s.Metrics["goodput_bps"] < 1e8 || len(s.Raw) != 2 {
		t.Errorf("%v", s.Metrics)
	}
}

// TestRetransmits has some of the segments lost: they are sent again, and counted.
func TestRetransmits(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Protocol: trial.RFC6349, OfferedBps: 1e9})
	traffictest.Filter(t, job.ServerNetns, "input", "tcp dport 5201 numgen random mod 50 == 0 drop")
	if m := run(t, job).Metrics; m["retransmitted_bytes"] <= 0 || m["tcp_efficiency_ratio"] >= 1 || m["tcp_efficiency_ratio"] <= 0 {
		t.Errorf("%v", m)
	}
}

func TestFails(t *testing.T) {
	for rule, want := range map[string]string{
		"udp dport 5201 drop":                  "a path without UDP needs --rate",
		"tcp dport 5201 reject with tcp reset": "connection refused",
	} {
		job := traffictest.Job(t, trial.Condition{Protocol: trial.RFC6349})
		traffictest.Filter(t, job.ServerNetns, "input", rule)
		if _, err := (rfc6349.Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", rule, err, want)
		}
		traffictest.Empty(t, job)
	}
}

func TestInterrupted(t *testing.T) {
	traffictest.Interrupted(t, rfc6349.Tool{}, traffictest.Job(t, trial.Condition{Protocol: trial.RFC6349, DurationS: 60}), 2)
}
