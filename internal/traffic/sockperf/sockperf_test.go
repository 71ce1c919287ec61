package sockperf_test

import (
	"context"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/sockperf"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

func TestRun(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	for name, c := range map[string]trial.Condition{
		"plain": {}, "bound": {Affinity: "0"}, "large": {PayloadSize: 8000}, "small": {PayloadSize: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.Protocol = trial.Latency
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			job := traffictest.Job(t, c)
			s := measured(t, job)
			m := s.Metrics
			if m["messages"] < 1 || m["latency_p50_ns"] <= 0 || m["latency_p50_ns"] > m["latency_p99_ns"] || m["latency_p99_ns"] > m["latency_max_ns"] {
				t.Errorf("metrics %v", m)
			}
			if _, err := trial.DecodeHistogram(s.Histograms["latency_ns"]); err != nil || len(s.Raw) != 2 {
				t.Errorf("histogram: %v; %d outputs", err, len(s.Raw))
			}
			if (len(s.Warnings) > 0) != (name == "small") {
				t.Errorf("warnings %q", s.Warnings)
			}
			if left, _ := filepath.Glob(tmp + "/*"); len(left) > 0 {
				t.Errorf("left %v", left)
			}
			traffictest.Empty(t, job)
		})
	}
}

// measured is a trial that sockperf measured in: on a busy machine it may send next to
// nothing, and then says so or that it stopped.
func measured(t *testing.T, job traffic.Job) traffic.Sample {
	t.Helper()
	for range 20 {
		s, err := sockperf.Tool{}.Run(context.Background(), job)
		if err != nil && !strings.Contains(err.Error(), "measured nothing") {
			t.Fatal(err)
		}
		if err == nil && !strings.Contains(strings.Join(s.Warnings, "\n"), "stopped measuring") {
			return s
		}
	}
	t.Fatal("sockperf never measured for a second")
	return traffic.Sample{}
}

// real is the part of a script in sockperf's place that has it be the server.
const real = `case "$*" in server*) exec /usr/bin/env PATH="${PATH#*:}" sockperf "$@";; esac; `

func TestFails(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	for name, c := range map[string]struct {
		script, want string
		change       func(*traffic.Job)
	}{
		"no such address": {want: "sockperf", change: func(j *traffic.Job) { j.Address = netip.MustParseAddr("192.0.2.9") }},
		"too large":       {want: "sockperf", change: func(j *traffic.Job) { j.Condition.PayloadSize = 1 << 20 }},
		"no log":          {script: real + "echo rubbish", want: `wrote no log`},
		"rubbish":         {script: real + `for a; do case $a in */fd/*) echo rubbish > $a;; esac; done`, want: `no messages`},
		"hangs":           {script: real + "exec sleep 1000", want: "hangs"},
		"server exits":    {script: "echo broken; exit 3", want: "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, trial.Condition{Protocol: trial.Latency})
			if c.change != nil {
				c.change(&job)
			}
			if c.script != "" {
				traffictest.Replace(t, "sockperf", c.script)
			}
			ctx := context.Background()
			if c.want == "hangs" {
				limited, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				ctx = limited
			}
			if _, err := (sockperf.Tool{}).Run(ctx, job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

// TestLostMessage: sockperf waits for ever for a message that was lost, so that it
// measures nothing.
func TestLostMessage(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	job := traffictest.Job(t, trial.Condition{Protocol: trial.Latency})
	traffictest.Filter(t, job.ServerNetns, "input", "udp dport 5201 limit rate over 1/day burst 10 packets drop")
	if s, err := (sockperf.Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("metrics %v, warnings %q, error %v", s.Metrics, s.Warnings, err)
	}
	traffictest.Empty(t, job)
}

// TestStopped has a log that ends long before the trial did, as one does where a message
// was lost in the middle: the trial says so.
func TestStopped(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	log, err := filepath.Abs("testdata/3.7.csv")
	if err != nil {
		t.Fatal(err)
	}
	traffictest.Replace(t, "sockperf", real+`for a; do case $a in */fd/*) cat `+log+` > $a;; esac; done`)
	s, err := sockperf.Tool{}.Run(context.Background(), traffictest.Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 10}))
	if err != nil || s.Metrics["messages"] < 1 || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "stopped measuring after") {
		t.Errorf("metrics %v, warnings %q, error %v", s.Metrics, s.Warnings, err)
	}
}

func TestInterrupted(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	traffictest.Interrupted(t, sockperf.Tool{}, traffictest.Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 60}), 2)
}
