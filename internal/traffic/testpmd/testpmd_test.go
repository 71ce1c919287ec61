package testpmd_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/testpmd"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

func job(t *testing.T, c trial.Condition) traffic.Job {
	t.Helper()
	c.Protocol = trial.UDP
	return traffictest.Job(t, c)
}

func TestRun(t *testing.T) {
	nstest.Require(t, "tool.testpmd")
	for _, size := range []int{0, 1000} {
		j := job(t, trial.Condition{Frames: trial.Frames{FrameSize: size}})
		s, err := testpmd.Tool{}.Run(context.Background(), j)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Metrics
		if m["forwarding_rate_pps"] < 1000 || m["sent_packets"] < m["forwarding_rate_pps"]/2 || m["loss_ratio"] < 0 || m["loss_ratio"] > 0.5 || len(s.Raw) != 1 {
			t.Errorf("metrics %v", m)
		}
		if rate := m["sent_pps"] * (1 - m["loss_ratio"]); rate < m["forwarding_rate_pps"]*0.999 || rate > m["forwarding_rate_pps"]*1.001 || m["unsent_ratio"] != 0 {
			t.Errorf("sent %v/s, of which %v were lost: %v", m["sent_pps"], m["loss_ratio"], m)
		}
		if payload := m["goodput_bps"] / m["forwarding_rate_pps"] / 8; payload < float64(max(64, size)-46)*0.999 || payload > float64(max(64, size)-46)*1.001 {
			t.Errorf("a payload of %v bytes in frames of %d", payload, size)
		}
		traffictest.Empty(t, j)
	}
}

// TestFails has programs in testpmd's place that it should not be like.
func TestFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"exits":   {"echo EAL: no memory; exit 1", "EAL: no memory"},
		"silent":  {"exec sleep 1000", "nothing of what it sends arrives"},
		"hangs":   {"trap '' INT; " + flood + "; exec sleep 1000", "hangs"},
		"rubbish": {"trap 'echo rubbish; exit 0' INT; " + flood + "; while :; do sleep 0.05; done", `testpmd printed no statistics: "rubbish"`},
		"nothing": {"trap 'printf \"Accumulated forward statistics\\n RX-packets: 0\\n TX-packets: 0\\n\"; exit 0' INT; " + flood + "; while :; do sleep 0.05; done", "sent nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			j := job(t, trial.Condition{})
			traffictest.Replace(t, "dpdk-testpmd", c.script)
			ctx := context.Background()
			if c.want == "hangs" {
				limited, cancel := context.WithTimeout(ctx, 12*time.Second)
				defer cancel()
				ctx = limited
			}
			if _, err := (testpmd.Tool{}).Run(ctx, j); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, j)
		})
	}
}

// flood sends one datagram to where testpmd's go.
const flood = `bash -c 'echo x > /dev/udp/192.0.2.2/5201'`

func TestRefuses(t *testing.T) {
	for _, c := range []trial.Condition{{OfferedPps: 1}, {Flows: 2}, {Frames: trial.Frames{VLAN: 7}}, {PayloadSize: 10}} {
		if _, err := (testpmd.Tool{}).Run(context.Background(), traffictest.Job(t, c)); err == nil || !strings.Contains(err.Error(), "use builtin") {
			t.Errorf("error %v", err)
		}
	}
}

func TestNoSearch(t *testing.T) {
	if _, err := (testpmd.Tool{}).Ceiling(context.Background(), trial.Condition{}); err == nil || !strings.Contains(err.Error(), "as fast as it can") {
		t.Errorf("error %v", err)
	}
}

func TestInterrupted(t *testing.T) {
	nstest.Require(t, "tool.testpmd")
	traffictest.Interrupted(t, testpmd.Tool{}, job(t, trial.Condition{DurationS: 60}), 1)
}
