package iperf3_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/iperf3"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

func TestRun(t *testing.T) {
	nstest.Require(t, "tool.iperf3")
	for name, c := range map[string]trial.Condition{
		"tcp":      {Protocol: trial.TCP},
		"zerocopy": {Protocol: trial.TCP, Zerocopy: true, PayloadSize: 128 << 10},
		"flows":    {Protocol: trial.TCP, Flows: 3, Affinity: "spread"},
		"rate":     {Protocol: trial.TCP, Flows: 2, OfferedBps: 20e6, Affinity: "0"},
		"udp":      {Protocol: trial.UDP, Flows: 2},
		"udp rate": {Protocol: trial.UDP, Flows: 2, OfferedBps: 2e6, PayloadSize: 100},
		"udp big":  {Protocol: trial.UDP, PayloadSize: 9000, OfferedBps: 10e6},
		"fraction": {Protocol: trial.TCP, DurationS: 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, c)
			s := offered(t, job)
			if s.Metrics["goodput_bps"] <= 0 || len(s.Raw) != 2*job.Condition.Flows {
				t.Errorf("metrics %v, %d outputs", s.Metrics, len(s.Raw))
			}
			if _, told := s.Metrics["loss_ratio"]; told != (c.Protocol == trial.UDP) {
				t.Errorf("metrics %v", s.Metrics)
			}
			if warned := len(s.Warnings) > 0; warned != (name == "udp big" || name == "fraction") {
				t.Errorf("warnings %q", s.Warnings)
			}
			for _, raw := range s.Raw {
				if !json.Valid(raw.Output) || raw.Output[0] != '{' {
					t.Errorf("raw %.80s", raw.Output)
				}
			}
		})
	}
}

// offered is a trial in which about the rate came that was asked for: on a busy machine
// iperf3 may not send all of it in its second.
func offered(t *testing.T, job traffic.Job) (s traffic.Sample) {
	t.Helper()
	rate := job.Condition.OfferedBps
	for range 20 {
		s = ran(t, job)
		if got := s.Metrics["goodput_bps"]; rate == 0 || got >= 0.8*rate && got <= 1.1*rate {
			return s
		}
	}
	t.Errorf("goodput %v of %v offered", s.Metrics["goodput_bps"], rate)
	return s
}

// ran is a trial that told of the end of each of its processes.
func ran(t *testing.T, job traffic.Job) traffic.Sample {
	t.Helper()
	var ends atomic.Int64
	job.Ended = func(_, command string, _ *os.ProcessState) {
		if command == "iperf3" {
			ends.Add(1)
		}
	}
	s, err := iperf3.Tool{}.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	traffictest.Empty(t, job)
	if n := int(ends.Load()); n != 2*job.Condition.Flows {
		t.Errorf("told of %d ends", n)
	}
	return s
}

// TestFails checks that what goes wrong ends a trial long before its time, says why,
// and leaves nothing running.
func TestFails(t *testing.T) {
	nstest.Require(t, "tool.iperf3")
	const real = `case "$*" in *--server*) exec /usr/bin/env PATH="${PATH#*:}" iperf3 "$@";; esac; `
	for name, c := range map[string]struct {
		script, want string
		change       func(*traffic.Job)
	}{
		"cannot connect":     {want: "says \"unable to connect to server", change: refuse},
		"wrong payload":      {want: "block size too large", change: func(j *traffic.Job) { j.Condition.PayloadSize = 1 << 30 }},
		"server exits":       {script: "exit 1", want: "on server"},
		"server listens not": {script: "exec sleep 1000", want: "hangs"},
		"client exits":       {script: real + "exit 7", want: "exit status 7"},
		"client hangs":       {script: real + "exec sleep 1000", want: "hangs"},
		"client rubbish":     {script: real + "echo {]", want: "the client's iperf3 printed no result"},
		"client empty":       {script: real + "exit 0", want: "the client's iperf3 printed no result"},
		"client children":    {script: real + "setsid sleep 1000 & exit 4", want: "exit status 4"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, trial.Condition{Protocol: trial.TCP, Flows: 2, DurationS: 3600})
			if c.change != nil {
				c.change(&job)
			}
			if c.script != "" {
				traffictest.Replace(t, "iperf3", c.script)
			}
			ctx := context.Background()
			if c.want == "hangs" {
				limited, cancel := context.WithTimeout(ctx, 5*time.Second)
				defer cancel()
				ctx = limited
			}
			if _, err := (iperf3.Tool{}).Run(ctx, job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

// refuse makes the client ask itself, where no server is.
func refuse(j *traffic.Job) { j.Address = netip.MustParseAddr("192.0.2.1") }

func TestPortTaken(t *testing.T) {
	nstest.Require(t, "tool.iperf3")
	job := traffictest.Job(t, trial.Condition{Protocol: trial.TCP})
	p, err := job.StartServer(context.Background(), "iperf3", "--server", "--port", "5201")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	// To bind the port meanwhile, as PortsFree does, would take it from the server.
	if err := p.Until(context.Background(), func() bool { return netns.Listens(p.PID(), 5201) }, "it does not listen"); err != nil {
		t.Fatal(err)
	}
	if _, err := (iperf3.Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), "port 5201") {
		t.Errorf("error %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	nstest.Require(t, "tool.iperf3")
	traffictest.Interrupted(t, iperf3.Tool{}, traffictest.Job(t, trial.Condition{Protocol: trial.TCP, Flows: 2, DurationS: 60}), 4)
}
