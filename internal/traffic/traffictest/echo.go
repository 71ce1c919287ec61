package traffictest

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// Echo is a tool that sends 500 requests a second, or as many as it is told, by the program of its name, which
// prints each reply.
type Echo struct {
	traffic.Pacer
	// Reply is a line that it prints.
	Reply string
	// Unreachable is what it says of an address to which there is no way.
	Unreachable string
	// Smallest tells that it sends larger payloads than a byte, and says so.
	Smallest bool
}

// Test runs trials with it, and with programs that it should not be like.
func (e Echo) Test(t *testing.T) {
	nstest.Require(t, e.Requires()...)
	t.Run("runs", e.runs)
	t.Run("paced", e.paced)
	t.Run("fails", e.fails)
	t.Run("interrupted", func(t *testing.T) {
		Interrupted(t, e, Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 60}), 1)
	})
}

func (e Echo) runs(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"plain": {DurationS: 0.5}, "bound": {DurationS: 0.2, Affinity: "0"}, "large": {DurationS: 0.2, PayloadSize: 8000}, "small": {DurationS: 0.2, PayloadSize: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c.Protocol = trial.Latency
			s := e.answered(t, Job(t, c))
			m := s.Metrics
			if m["messages"] != c.DurationS*500 || m["loss_ratio"] != 0 || m["latency_p50_ns"] <= 0 || m["latency_p50_ns"] > m["latency_p99_ns"] {
				t.Errorf("metrics %v", m)
			}
			if _, err := trial.DecodeHistogram(s.Histograms["latency_ns"]); err != nil || len(s.Raw) != 1 {
				t.Errorf("histogram: %v; %d outputs", err, len(s.Raw))
			}
			if (len(s.Warnings) > 0) != (e.Smallest && name == "small") {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}

// paced is how many requests are sent, and how long it takes to.
func (e Echo) paced(t *testing.T) {
	for rate, apart := range map[int]time.Duration{10: 100 * time.Millisecond, 125: 8 * time.Millisecond} {
		c := trial.Condition{Protocol: trial.Latency, DurationS: 0.4, Web: trial.Web{RequestRate: rate}}
		began := time.Now()
		s := e.answered(t, Job(t, c))
		if sent := s.Metrics["messages"]; sent != 0.4*float64(rate) {
			t.Errorf("%d a second: %v were sent", rate, sent)
		} else if least := time.Duration(sent-1) * apart; time.Since(began) < least {
			t.Errorf("%d a second: sent within %v, and the first and the last are %v apart", rate, time.Since(began), least)
		}
	}
	for rate, want := range map[int]string{1: "", 125: "", 500: "", 3: "write such as 2", 501: "write such as 500", 1000: "write such as 500", 499: "write such as 250"} {
		err := e.Paces(rate)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d a second: %v, want %q", rate, err, want)
		}
	}
}

// answered is a trial in which every request was answered in time. On a machine that
// stalls, programs give up waiting for some: ping leaves soon after its last request.
func (e Echo) answered(t *testing.T, job traffic.Job) (s traffic.Sample) {
	t.Helper()
	for range 20 {
		var err error
		if s, err = e.Run(context.Background(), job); err != nil {
			t.Fatal(err)
		}
		if s.Metrics["loss_ratio"] == 0 {
			return s
		}
	}
	return s
}

func (e Echo) fails(t *testing.T) {
	for name, c := range map[string]struct{ address, script, want string }{
		"no answer":   {address: "192.0.2.9", want: "exit status 1"},
		"unreachable": {address: "203.0.113.9", want: e.Unreachable},
		"rubbish":     {script: "echo rubbish", want: e.Name() + ` on client printed no reply: "rubbish"`},
		"hangs":       {script: "echo '" + e.Reply + "'; exec sleep 1000", want: "hangs"},
	} {
		t.Run(name, func(t *testing.T) {
			job := Job(t, trial.Condition{Protocol: trial.Latency, DurationS: 0.1})
			if c.address != "" {
				job.Address = netip.MustParseAddr(c.address)
			}
			ctx := context.Background()
			if c.script != "" {
				Replace(t, e.Name(), c.script)
				limited, cancel := context.WithTimeout(ctx, 3*time.Second)
				defer cancel()
				ctx = limited
			}
			if _, err := e.Run(ctx, job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			Empty(t, job)
		})
	}
}
