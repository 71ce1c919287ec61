package fping_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/fping"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

func TestRun(t *testing.T) {
	nstest.Require(t, "tool.fping")
	for name, c := range map[string]trial.Condition{
		"plain": {DurationS: 0.5}, "bound": {DurationS: 0.2, Affinity: "0"}, "large": {DurationS: 0.2, PayloadSize: 8000}, "small": {DurationS: 0.2, PayloadSize: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.Protocol = trial.Latency
			s, err := fping.Tool{}.Run(context.Background(), traffictest.Job(t, c))
			if err != nil {
				t.Fatal(err)
			}
			m := s.Metrics
			if m["messages"] != c.DurationS*500 || m["loss_ratio"] != 0 || m["latency_p50_ns"] <= 0 || m["latency_p50_ns"] > m["latency_p99_ns"] {
				t.Errorf("metrics %v", m)
			}
			if _, err := trial.DecodeHistogram(s.Histograms["latency_ns"]); err != nil || len(s.Raw) != 1 {
				t.Errorf("histogram: %v; %d outputs", err, len(s.Raw))
			}
			if len(s.Warnings) > 0 {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}

func TestFails(t *testing.T) {
	nstest.Require(t, "tool.fping")
	for name, c := range map[string]struct {
		script, want string
		change       func(*traffic.Job)
	}{
		"no answer":   {want: "exit status 1", change: func(j *traffic.Job) { j.Address = netip.MustParseAddr("192.0.2.9") }},
		"unreachable": {want: "100%", change: func(j *traffic.Job) { j.Address = netip.MustParseAddr("203.0.113.9") }},
		"rubbish":     {script: "echo rubbish", want: `fping on client printed no reply: "rubbish"`},
		"hangs":       {script: "echo 'x : [0], 64 bytes, 1 ms'; exec sleep 1000", want: "hangs"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 0.1})
			if c.change != nil {
				c.change(&job)
			}
			if c.script != "" {
				traffictest.Replace(t, "fping", c.script)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if _, err := (fping.Tool{}).Run(ctx, job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

func TestInterrupted(t *testing.T) {
	nstest.Require(t, "tool.fping")
	job := traffictest.Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 60})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := (fping.Tool{}).Run(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	traffictest.Empty(t, job)
}
