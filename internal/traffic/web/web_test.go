package web_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/traffictest"
	"nfchain.dev/nfchain/internal/traffic/web"
	"nfchain.dev/nfchain/internal/trial"
)

func condition(flows, rate int, size uint64) trial.Condition {
	return trial.Condition{Protocol: trial.HTTP, Flows: flows, Messages: trial.Messages{ResponseSize: size}, Web: trial.Web{RequestRate: rate}}
}

func run(t *testing.T, job traffic.Job) traffic.Sample {
	t.Helper()
	s, err := web.Tool{}.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	traffictest.Empty(t, job)
	return s
}

// TestRun asks the tool's own server, in both loops.
func TestRun(t *testing.T) {
	for name, c := range map[string]trial.Condition{
		"smallest": condition(1, 0, 0),
		"closed":   condition(5, 0, 100_000),
		"open":     condition(5, 50, 1000),
		"empty":    condition(1, 1, 1),
		"IPv6":     condition(2, 0, 10),
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, c)
			if name == "IPv6" {
				traffictest.IPv6(t, &job)
			}
			s := run(t, job)
			m := s.Metrics
			h, err := trial.DecodeHistogram(s.Histograms["latency_ns"])
			if err != nil {
				t.Fatal(err)
			}
			// A machine that is busy may be late by more than the trial's end allows.
			size := max(1, float64(c.ResponseSize))
			if m["requests"] < 1 || float64(h.TotalCount()) > m["requests"] || m["requests_failed"]+m["responses_not_ok"]+m["requests_timed_out"] != 0 {
				t.Errorf("metrics %v of %d times, warnings %q", m, h.TotalCount(), s.Warnings)
			}
			if c.RequestRate > 0 && m["requests"] != float64(c.RequestRate) {
				t.Errorf("%v requests, want %d", m["requests"], c.RequestRate)
			}
			if least := 8 * size * m["requests_per_second"]; m["goodput_bps"] < least || m["goodput_bps"] > least+8*size*float64(c.Flows) {
				t.Errorf("metrics %v", m)
			}
			if m["latency_min_ns"] <= 0 || m["latency_min_ns"] > m["latency_p50_ns"] || m["latency_p99_ns"] > m["latency_max_ns"] {
				t.Errorf("metrics %v", m)
			}
			if _, open := s.Histograms["service_time_ns"]; open != (c.RequestRate > 0) {
				t.Errorf("histograms %v", s.Histograms)
			}
			sums(t, s, 1)
		})
	}
}

// sums of the steps are the trial's.
func sums(t *testing.T, s traffic.Sample, seconds float64) {
	t.Helper()
	for _, metric := range []string{"goodput_bps", "requests_per_second"} {
		series, sum := s.Series[metric], 0.0
		for _, v := range series.Values {
			sum += *v * series.StepS
		}
		if want := s.Metrics[metric] * seconds; sum < want*.999 || sum > want*1.001 || len(series.Values) != int(seconds*10+.5) {
			t.Errorf("%s: %d steps of %v s come to %v, want %v", metric, len(series.Values), series.StepS, sum, want)
		}
	}
}

// serving has a web server of the test's at the server's end.
func serving(t *testing.T, job *traffic.Job, handler http.HandlerFunc) {
	t.Helper()
	var l net.Listener
	err := netns.Do(job.ServerNetns, func() (err error) {
		l, err = net.Listen("tcp", "192.0.2.2:8080")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	job.Condition.URL, job.Site = "http://shop:8080/cart?a=b", netip.MustParseAddrPort("192.0.2.2:8080")
}

// TestSite asks somebody else's server, which is told what it was asked for.
func TestSite(t *testing.T) {
	job := traffictest.Job(t, condition(3, 0, 0))
	var other atomic.Uint64
	serving(t, &job, func(w http.ResponseWriter, r *http.Request) {
		if r.Host != "shop:8080" || r.RequestURI != "/cart?a=b" || r.Method != http.MethodGet {
			other.Add(1)
		}
		_, _ = fmt.Fprint(w, "0123456789")
	})
	m := run(t, job).Metrics
	// A machine that is busy may be late by more than the trial's end allows.
	if bad := m["error_ratio"]*m["requests"] - m["requests_unfinished"]; math.Abs(bad) > 1e-6 || m["goodput_bps"] < 80*m["requests_per_second"] || other.Load() != 0 {
		t.Errorf("metrics %v, %d other requests", m, other.Load())
	}
}

// TestBadAnswers are told apart: each third request, by its number.
func TestBadAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		spoil        func(http.ResponseWriter)
		metric, said string
	}{
		"status": {func(w http.ResponseWriter) { http.Error(w, "no", http.StatusServiceUnavailable) }, "responses_not_ok", "status 503"},
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusFound)
		}, "responses_not_ok", "status 302"},
		"short": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write(make([]byte, 10))
		}, "requests_failed", "unexpected EOF"},
		"broken": {func(w http.ResponseWriter) {
			connection, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_ = connection.Close()
			}
		}, "requests_failed", "the connection broke before the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, condition(1, 30, 0))
			var n atomic.Uint64
			serving(t, &job, func(w http.ResponseWriter, _ *http.Request) {
				if n.Add(1)%3 == 0 {
					c.spoil(w)
					return
				}
				_, _ = fmt.Fprint(w, "good")
			})
			s := run(t, job)
			m := s.Metrics
			sent := m["requests"] - m["requests_unsent"] - m["requests_unfinished"]
			if m["requests"] != 30 || m[c.metric] < sent/3-1 || m[c.metric] > sent/3+1 {
				t.Errorf("metrics %v", m)
			}
			bad := m["responses_not_ok"] + m["requests_failed"] + m["requests_timed_out"] + m["requests_unsent"] + m["requests_unfinished"]
			if got := m["error_ratio"] * 30; got < bad-1e-6 || got > bad+1e-6 {
				t.Errorf("%v of 30 are bad, counted %v", got, bad)
			}
			if len(s.Warnings) == 0 || !strings.Contains(s.Warnings[0], "got no good answer") || !strings.Contains(s.Warnings[0], c.said) {
				t.Errorf("warnings %q", s.Warnings)
			}
		})
	}
}

// TestOmission has the server stall once: with a rate, all that was due meanwhile counts with
// the time that it waited, and without one a stall is one request of a connection.
func TestOmission(t *testing.T) {
	const stall = time.Second
	for _, rate := range []int{0, 100} {
		job := traffictest.Job(t, condition(1, rate, 0))
		job.Condition.DurationS = 3
		began := time.Now()
		var stalled atomic.Bool
		serving(t, &job, func(w http.ResponseWriter, _ *http.Request) {
			if time.Since(began) > time.Second && !stalled.Swap(true) {
				time.Sleep(stall)
			}
			_, _ = fmt.Fprint(w, "good")
		})
		s := run(t, job)
		h, err := trial.DecodeHistogram(s.Histograms["latency_ns"])
		if err != nil {
			t.Fatal(err)
		}
		long := 0.0
		for _, bar := range h.Distribution() {
			if bar.From > (stall / 4).Nanoseconds() {
				long += float64(bar.Count)
			}
		}
		if !stalled.Load() || s.Metrics["latency_max_ns"] < float64(stall) {
			t.Errorf("rate %d: the server did not stall: %v", rate, s.Metrics)
		}
		// Three quarters of those due in the second were held back so long.
		if rate == 100 && long+s.Metrics["requests_unsent"] < 70 {
			t.Errorf("%v of %v took long, at %d a second", long, s.Metrics["requests"], rate)
		}
		if rate > 0 && s.Metrics["service_time_p50_ns"] > s.Metrics["latency_max_ns"] {
			t.Errorf("metrics %v", s.Metrics)
		}
	}
}

// TestTooMuch asks for more than the server gives: what was never sent is told.
func TestTooMuch(t *testing.T) {
	job := traffictest.Job(t, condition(2, 1000, 0))
	serving(t, &job, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(100 * time.Millisecond)
		_, _ = fmt.Fprint(w, "good")
	})
	s := run(t, job)
	m := s.Metrics
	if m["requests"] != 1000 || m["requests_unsent"] < 950 || m["error_ratio"] < .95 || !strings.Contains(strings.Join(s.Warnings, " "), "never sent") || m["requests_unfinished"] > 2 {
		t.Errorf("metrics %v, warnings %q", m, s.Warnings)
	}
}

// TestStalls has the path take nothing more after a while: what is under way is told.
func TestStalls(t *testing.T) {
	job := traffictest.Job(t, condition(2, 0, 0))
	job.Condition.DurationS = 2
	traffictest.Filter(t, job.ServerNetns, "input", "tcp dport 5201 limit rate over 1/day burst 50 packets drop")
	s := run(t, job)
	if m := s.Metrics; m["requests_unfinished"] != 2 || m["error_ratio"] <= 0 || !strings.Contains(strings.Join(s.Warnings, " "), "still under way") {
		t.Errorf("metrics %v, warnings %q", m, s.Warnings)
	}
}

// TestFails checks that what goes wrong ends the trial, says why, and leaves nothing running.
func TestFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*traffic.Job)
		want   string
	}{
		"nobody serves": {func(j *traffic.Job) {
			j.Condition.URL, j.Site = "http://192.0.2.2:8080/", netip.MustParseAddrPort("192.0.2.2:8080")
		}, "connection refused"},
		"no such address": {func(j *traffic.Job) { j.Address = netip.MustParseAddr("192.0.2.9") }, "listen on 192.0.2.9:5201"},
	} {
		t.Run(name, func(t *testing.T) {
			job := traffictest.Job(t, condition(1, 10, 0))
			c.change(&job)
			if _, err := (web.Tool{}).Run(context.Background(), job); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			traffictest.Empty(t, job)
		})
	}
}

func TestInterrupted(t *testing.T) {
	job := traffictest.Job(t, condition(2, 10, 0))
	job.Condition.DurationS = 60
	traffictest.Interrupted(t, web.Tool{}, job, 2)
}

func TestCommandRefusesRubbish(t *testing.T) {
	for _, args := range [][]string{nil, {"client"}, {"client", "{"}, {"client", `{"rate":"x"}`}, {"client", `{"path":"x"}`}, {"server", `{"address":"192.0.2.77:80"}`}} {
		if err := web.Main(args, os.Stdout, os.Stderr); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
