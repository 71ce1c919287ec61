package sockperf_test

import (
	"context"
	"errors"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
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
			s, err := sockperf.Tool{}.Run(context.Background(), job)
			if err != nil {
				t.Fatal(err)
			}
			m := s.Metrics
			if m["messages"] < 100 || m["latency_p50_ns"] <= 0 || m["latency_p50_ns"] > m["latency_p99_ns"] || m["latency_max_ns"] > 1e9 {
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

func TestFails(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	const real = `case "$*" in server*) exec /usr/bin/env PATH="${PATH#*:}" sockperf "$@";; esac; `
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
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			_, err := (sockperf.Tool{}).Run(ctx, job)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

// TestLostMessage checks that a trial which a lost message ended early says so.
func TestLostMessage(t *testing.T) {
	nstest.Require(t, "tool.sockperf", "nftables", "tool.nft")
	job := traffictest.Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 2})
	nft := exec.Command("nft", "add table t; add chain t c { type filter hook input priority 0; }; "+
		"add rule t c udp dport 5201 limit rate over 1/day burst 12000 packets drop")
	if err := netns.Start(job.ServerNetns, nft); err != nil {
		t.Fatal(err)
	}
	if err := nft.Wait(); err != nil {
		t.Fatal(err)
	}
	s, err := sockperf.Tool{}.Run(context.Background(), job)
	if err == nil && len(s.Warnings) == 0 || err != nil && !strings.Contains(err.Error(), "lost") {
		t.Errorf("metrics %v, warnings %q, error %v", s.Metrics, s.Warnings, err)
	}
	traffictest.Empty(t, job)
}

func TestInterrupted(t *testing.T) {
	nstest.Require(t, "tool.sockperf")
	job := traffictest.Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 60})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(500*time.Millisecond, cancel)
	if _, err := (sockperf.Tool{}).Run(ctx, job); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	traffictest.Empty(t, job)
}
