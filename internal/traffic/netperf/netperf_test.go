package netperf_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/netperf"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

var protocols = netperf.Tool{}.Protocols()

func TestRun(t *testing.T) {
	nstest.Require(t, "tool.netperf")
	for name, c := range map[string]trial.Condition{
		"plain": {}, "sizes": {PayloadSize: 1000, Messages: trial.Messages{RequestSize: 100, ResponseSize: 4000}},
		"flows": {Flows: 2, Affinity: "0"}, "IPv6": {},
	} {
		for _, protocol := range protocols {
			t.Run(protocol+" "+name, func(t *testing.T) {
				c.Protocol = protocol
				job := traffictest.Job(t, c)
				if name == "IPv6" {
					traffictest.IPv6(t, &job)
				}
				s, err := netperf.Tool{}.Run(context.Background(), job)
				if err != nil {
					t.Fatal(err)
				}
				traffictest.Empty(t, job)
				sound(t, job.Condition, s)
			})
		}
	}
}

// sound checks what came out of a trial over a path that loses nothing, but for
// what a UDP flood drops by itself.
func sound(t *testing.T, c trial.Condition, s traffic.Sample) {
	t.Helper()
	m := s.Metrics
	if c.Protocol == trial.TCP || c.Protocol == trial.UDP {
		if m["goodput_bps"] <= 0 {
			t.Errorf("metrics %v", m)
		}
		return
	}
	if m["transactions_per_second"] <= 0 || m["latency_min_ns"] <= 0 || m["latency_min_ns"] > m["latency_max_ns"] {
		t.Errorf("metrics %v", m)
	}
	if _, told := m["latency_p99_ns"]; told != (c.Flows == 1) {
		t.Errorf("%d flows: metrics %v", c.Flows, m)
	}
}

// pretended is a netperf that prints what a real one did, with a netserver that
// listens as the real one does.
func pretended(t *testing.T, script string) {
	t.Helper()
	nstest.Require(t, "tool.iperf3")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The port is netserver's last word.
	traffictest.Replace(t, "netserver", `while [ $# -gt 1 ]; do shift; done; exec iperf3 --server --port "$1"`)
	if script == "" {
		script = `while [ "$1" != -t ]; do shift; done; cat ` + here + `/testdata/2.7.0-$2.txt`
	}
	traffictest.Replace(t, "netperf", script)
}

// TestCaptured has the output of a real netperf, of all its tests.
func TestCaptured(t *testing.T) {
	want := map[string]map[string]float64{
		trial.TCP:    {"goodput_bps": 8 * 1027170200, "retransmits": 0},
		trial.UDP:    {"goodput_bps": 8 * 144589200, "loss_ratio": 1 - 144589200.0/228713800},
		trial.TCPRR:  {"transactions_per_second": 71527.70, "transactions": 71528, "latency_p50_ns": 14e3, "latency_p99_ns": 15e3, "latency_max_ns": 4573e3},
		trial.UDPRR:  {"transactions_per_second": 83903.379, "latency_mean_ns": 11.88e3, "latency_min_ns": 11e3},
		trial.TCPCRR: {"transactions_per_second": 11286.03, "latency_p90_ns": 77e3},
	}
	pretended(t, "")
	for _, protocol := range protocols {
		job := traffictest.Job(t, trial.Condition{Protocol: protocol})
		s, err := netperf.Tool{}.Run(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		for metric, value := range want[protocol] {
			if got := s.Metrics[metric]; got < value*0.999999 || got > value*1.000001 {
				t.Errorf("%s: %s is %v, want %v", protocol, metric, got, value)
			}
		}
		if len(s.Raw) != 1 || len(s.Warnings) != 0 {
			t.Errorf("%s: %d outputs, warnings %q", protocol, len(s.Raw), s.Warnings)
		}
		if _, told := s.Metrics["retransmits"]; told && protocol == trial.UDP {
			t.Errorf("%s: metrics %v", protocol, s.Metrics)
		}
		traffictest.Empty(t, job)
	}
}

// TestStuck has a UDP_RR whose datagram was lost early: the time without a
// transaction is told.
func TestStuck(t *testing.T) {
	pretended(t, "printf 'ELAPSED_TIME=5.00\\nTRANSACTION_RATE=100\\nMIN_LATENCY=10\\nMEAN_LATENCY=20\\nP50_LATENCY=20\\nP90_LATENCY=20\\nP99_LATENCY=20\\nMAX_LATENCY=30\\n'")
	s, err := netperf.Tool{}.Run(context.Background(), traffictest.Job(t, trial.Condition{Protocol: trial.UDPRR, Flows: 2}))
	if err != nil || len(s.Warnings) != 3 || !strings.Contains(s.Warnings[0], "a datagram that was lost") {
		t.Errorf("warnings %q, error %v", s.Warnings, err)
	}
}

// TestFails checks that what goes wrong ends the trial, says why, and leaves
// nothing running.
func TestFails(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"client exits":    {"echo establish control: are you sure >&2; exit 255", "establish control"},
		"client hangs":    {"exec sleep 1000", "hangs"},
		"client rubbish":  {"echo rubbish", `netperf printed no result, as ELAPSED_TIME is missing: "rubbish"`},
		"client empty":    {"exit 0", "netperf printed no result"},
		"client numbers":  {"echo ELAPSED_TIME=soon", `netperf printed "soon" for ELAPSED_TIME`},
		"client children": {"setsid sleep 1000 & exit 4", "exit status 4"},
	} {
		t.Run(name, func(t *testing.T) {
			pretended(t, c.script)
			fails(t, c.want)
		})
	}
	t.Run("server exits", func(t *testing.T) {
		pretended(t, "exec sleep 1000")
		traffictest.Replace(t, "netserver", "echo broken >&2; exit 3")
		fails(t, "broken")
	})
	t.Run("missing", func(t *testing.T) {
		t.Setenv("PATH", filepath.Join(t.TempDir(), "none"))
		fails(t, "start netserver on server")
	})
}

func fails(t *testing.T, want string) {
	t.Helper()
	job := traffictest.Job(t, trial.Condition{Protocol: trial.TCP, Flows: 2})
	ctx := context.Background()
	if want == "hangs" {
		limited, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		ctx = limited
	}
	if _, err := (netperf.Tool{}).Run(ctx, job); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
	traffictest.Empty(t, job)
}

func TestRefuses(t *testing.T) {
	for _, c := range []trial.Condition{{OfferedBps: 1e6}, {Zerocopy: true}, {Messages: trial.Messages{BusyLoop: true}}} {
		c.Protocol = trial.TCP
		if _, err := (netperf.Tool{}).Run(context.Background(), traffictest.Job(t, c)); err == nil || !strings.Contains(err.Error(), "leave out the rate") {
			t.Errorf("error %v", err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	pretended(t, "exec sleep 1000")
	traffictest.Interrupted(t, netperf.Tool{}, traffictest.Job(t, trial.Condition{Protocol: trial.TCP, Flows: 2, DurationS: 60}), 3)
}
