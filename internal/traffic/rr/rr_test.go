package rr_test

import (
	"context"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/rr"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/trial"
)

func messages(request, response uint64) trial.Messages {
	return trial.Messages{RequestSize: request, ResponseSize: response}
}

func TestRun(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"smallest": {},
		"IPv6":     {Messages: messages(100, 100)},
		"sizes":    {Messages: messages(200, 40_000)},
		"flows":    {Flows: 5, Affinity: "spread"},
		"busy":     {Affinity: "0-1", Messages: trial.Messages{BusyLoop: true}},
	} {
		for _, protocol := range []string{trial.TCPRR, trial.UDPRR, trial.TCPCRR} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				c.Protocol = protocol
				// A busy machine lets a second pass with a few of them.
				c.DurationS = 1
				job := traffictest.Job(t, c)
				if name == "IPv6" {
					traffictest.IPv6(t, &job)
				}
				sound(t, job)
			})
		}
	}
}

func run(t *testing.T, job traffic.Job) traffic.Sample {
	t.Helper()
	s, err := rr.Tool{}.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	traffictest.Empty(t, job)
	return s
}

// inTime is a trial during which the machine did not stall for so long that responses
// counted as lost and came all the same.
func inTime(t *testing.T, job traffic.Job) traffic.Sample {
	t.Helper()
	for range 10 {
		if s := run(t, job); s.Metrics["responses_late"] == 0 {
			return s
		}
	}
	t.Fatal("this machine never answered all within a second")
	return traffic.Sample{}
}

// sound checks a trial over a path that loses nothing.
func sound(t *testing.T, job traffic.Job) {
	t.Helper()
	s := inTime(t, job)
	m := s.Metrics
	h, err := trial.DecodeHistogram(s.Histograms["latency_ns"])
	if err != nil {
		t.Fatal(err)
	}
	if m["transactions"] < 2 || m["transactions_per_second"] <= 0 || float64(h.TotalCount()) != m["transactions"] {
		t.Errorf("metrics %v of %d times", m, h.TotalCount())
	}
	if m["latency_min_ns"] <= 0 || m["latency_min_ns"] > m["latency_p50_ns"] || m["latency_p50_ns"] > m["latency_p999_ns"] || m["latency_p999_ns"] > m["latency_max_ns"] {
		t.Errorf("metrics %v", m)
	}
	for _, none := range []string{"loss_ratio", "transactions_failed", "transactions_unfinished", "requests_lost", "responses_lost", "duplicates"} {
		if m[none] != 0 {
			t.Errorf("%s is %v", none, m[none])
		}
	}
	if _, told := m["loss_ratio"]; told != (job.Condition.Protocol == trial.UDPRR) {
		t.Errorf("metrics %v", m)
	}
	if len(s.Raw) != 2 || len(s.Warnings) != 0 {
		t.Errorf("%d outputs, warnings %q", len(s.Raw), s.Warnings)
	}
}

// TestLargest has messages as large as they may be.
func TestLargest(t *testing.T) {
	for protocol, size := range map[string]uint64{trial.TCPRR: 8 << 20, trial.TCPCRR: 1 << 20, trial.UDPRR: 65507} {
		job := traffictest.Job(t, trial.Condition{Protocol: protocol, DurationS: 0.3, Messages: messages(size, size)})
		if s := run(t, job); s.Metrics["transactions"] < 1 {
			t.Errorf("%s: %v", protocol, s.Metrics)
		}
	}
}

// TestUDPLoss loses requests, responses or both, and has every one counted.
func TestUDPLoss(t *testing.T) {
	for name, c := range map[string]struct {
		requests, responses string
		lost                string
	}{
		"requests":  {requests: "udp dport 5201 limit rate over 1/day burst 50 packets drop", lost: "requests_lost"},
		"responses": {responses: "udp sport 5201 limit rate over 1/day burst 50 packets drop", lost: "responses_lost"},
		"refused":   {requests: "udp dport 5201 limit rate over 1/day burst 50 packets reject", lost: "requests_lost"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, trial.Condition{Protocol: trial.UDPRR, DurationS: 3})
			if c.requests != "" {
				traffictest.Filter(t, job.ServerNetns, "input", c.requests)
			}
			if c.responses != "" {
				traffictest.Filter(t, job.ServerNetns, "output", c.responses)
			}
			s := run(t, job)
			m := s.Metrics
			if m["transactions"] < 50 || m["transactions"] > 52 || m["transactions_lost"] < 1 || m[c.lost] != m["transactions_lost"] {
				t.Errorf("metrics %v", m)
			}
			if want := m["transactions_lost"] / (m["transactions"] + m["transactions_lost"]); m["loss_ratio"] != want {
				t.Errorf("loss %v, want %v", m["loss_ratio"], want)
			}
			if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "got no response within 1s") {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}

// TestUDPLate has the server pause for longer than a response is waited for: it
// comes, is counted, and is lost all the same.
func TestUDPLate(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Protocol: trial.UDPRR, DurationS: 6, Messages: messages(4, 2)})
	requests, err := traffic.Count(job.ServerNetns, traffic.Arrivals{Port: 5201})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(requests.Close)
	come := func(n uint64) uint64 {
		for {
			if got, err := requests.Read(); err != nil || got >= n || t.Context().Err() != nil {
				return got
			}
			time.Sleep(time.Millisecond)
		}
	}
	var server int
	paused := make(chan struct{})
	job.Started = func(node string, pid int) {
		if node == job.ServerNode {
			server = pid
			return
		}
		go func() {
			defer close(paused)
			come(20)
			nstest.Stop(t, server)
			come(come(0) + 2) // the second is sent when the first is given up
			_ = unix.Kill(server, unix.SIGCONT)
		}()
	}
	m := run(t, job).Metrics
	<-paused
	if m["transactions_lost"] < 1 || m["responses_late"] < 1 || m["responses_late"] > m["transactions_lost"] || m["latency_max_ns"] > 1e9 {
		t.Errorf("metrics %v", m)
	}
}

// TestUDPLosesAll is a result, not an error: nothing comes back.
func TestUDPLosesAll(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Protocol: trial.UDPRR, Flows: 3})
	traffictest.Filter(t, job.ServerNetns, "input", "udp dport 5201-5203 drop")
	s := run(t, job)
	if m := s.Metrics; m["loss_ratio"] != 1 || m["transactions"] != 0 || m["transactions_lost"] < 3 || m["requests_lost"] != m["transactions_lost"] {
		t.Errorf("metrics %v", m)
	}
	if _, told := s.Metrics["latency_p50_ns"]; told {
		t.Errorf("metrics %v", s.Metrics)
	}
}

// TestTCPStalls has a connection stop in the middle: what is under way is told.
func TestTCPStalls(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Protocol: trial.TCPRR, DurationS: 3})
	traffictest.Filter(t, job.ServerNetns, "input", "tcp dport 5201 limit rate over 1/day burst 50 packets drop")
	s := run(t, job)
	if m := s.Metrics; m["transactions_unfinished"] != 1 || m["transactions"] < 10 || m["retransmits"] < 1 {
		t.Errorf("metrics %v", m)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "still under way") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// TestCRRFails has the server's host refuse connections after a while.
func TestCRRFails(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Protocol: trial.TCPCRR, DurationS: 3})
	traffictest.Filter(t, job.ServerNetns, "input", "tcp dport 5201 tcp flags & (syn | ack) == syn limit rate over 1/day burst 50 packets reject with tcp reset")
	s := run(t, job)
	if m := s.Metrics; m["transactions"] < 50 || m["transactions"] > 52 || m["transactions_failed"] < 1 {
		t.Errorf("metrics %v", m)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "connection refused") {
		t.Errorf("warnings %q", s.Warnings)
	}
}

// TestFails checks that what goes wrong ends the trial, says why, and leaves
// nothing running.
func TestFails(t *testing.T) {
	for name, c := range map[string]struct {
		protocol, rule, want string
		change               func(*traffic.Job)
	}{
		"no such address": {protocol: trial.TCPRR, want: "listen on 192.0.2.9:5201", change: func(j *traffic.Job) { j.Address = netip.MustParseAddr("192.0.2.9") }},
		"refused":         {protocol: trial.TCPRR, rule: "tcp dport 5201 reject with tcp reset", want: "connection refused"},
		"all refused":     {protocol: trial.TCPCRR, rule: "tcp dport 5201 reject with tcp reset", want: "no transaction was completed"},
		"reset": {protocol: trial.TCPRR, rule: "tcp dport 5201 limit rate over 1/day burst 50 packets reject with tcp reset",
			want: "the connection broke after"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, trial.Condition{Protocol: c.protocol})
			if c.rule != "" {
				traffictest.Filter(t, job.ServerNetns, "input", c.rule)
			}
			if c.change != nil {
				c.change(&job)
			}
			if _, err := (rr.Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

func TestPortTaken(t *testing.T) {
	job := traffictest.Job(t, trial.Condition{Protocol: trial.UDPRR, Flows: 2})
	taken := job
	taken.Condition.DurationS = 60
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	started := make(chan struct{}, 2)
	taken.Started = func(string, int) { started <- struct{}{} }
	go func() {
		defer close(ended)
		_, _ = rr.Tool{}.Run(ctx, taken)
	}()
	<-started
	<-started // the client starts once the server has its ports
	if _, err := (rr.Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), "cannot listen on port 520") {
		t.Errorf("error %v", err)
	}
	cancel()
	<-ended
	traffictest.Empty(t, job)
}

func TestInterrupted(t *testing.T) {
	for _, protocol := range []string{trial.TCPRR, trial.UDPRR, trial.TCPCRR} {
		traffictest.Interrupted(t, rr.Tool{}, traffictest.Job(t, trial.Condition{Protocol: protocol, Flows: 2, DurationS: 60}), 2)
	}
}

func TestCommandRefusesRubbish(t *testing.T) {
	for _, args := range [][]string{nil, {"client"}, {"client", "{"}, {"client", `{"protocol":1}`}} {
		if err := rr.Main(args, os.Stdout, os.Stderr); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
