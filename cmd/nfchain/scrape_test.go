package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// TestScrape reads a run that goes on, as a collector does.
func TestScrape(t *testing.T) {
	var said bytes.Buffer
	a := &app{env: env{stderr: &said, now: time.Now}}
	m := &runs.Measurement{}
	stop, err := a.serve("127.0.0.1:0", m)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	url := strings.TrimSpace(strings.TrimPrefix(said.String(), "metrics at "))
	if code, _ := get(t, url); code != http.StatusServiceUnavailable {
		t.Errorf("before the run: %d", code)
	}
	run := trial.Run{ID: "x", Chain: "edge", State: trial.Running, Repeats: 3, Conditions: []trial.Condition{{Path: "chain", Protocol: "tcp"}}}
	for n := 1; n <= 2; n++ {
		run.Trials = append(run.Trials, trial.Trial{Repeat: n, StartedAt: time.Unix(int64(n), 0), Metrics: map[string]float64{"goodput_bps": float64(n)}})
		m.Stored(run)
		if code, text := get(t, url); code != http.StatusOK || !strings.Contains(text, `metric="goodput_bps"`) ||
			!strings.Contains(text, map[int]string{1: "} 1.0\n", 2: "} 2.0\n"}[n]) {
			t.Errorf("after trial %d: %d\n%s", n, code, text)
		}
	}
	if code, _ := get(t, strings.TrimSuffix(url, "metrics")+"other"); code != http.StatusNotFound {
		t.Errorf("another path: %d", code)
	}
}

// TestScrapeOfOneThatTakesNothing: a collector that takes nothing keeps others waiting for nothing.
func TestScrapeOfOneThatTakesNothing(t *testing.T) {
	s := &scrape{write: func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, "x 1\n"); return err }}
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	stuck := stuckWriter{ResponseRecorder: httptest.NewRecorder(), at: make(chan bool), goes: make(chan bool)}
	over := make(chan bool)
	go func() { s.ServeHTTP(stuck, request); close(over) }()
	<-stuck.at
	served := make(chan bool)
	go func() { s.ServeHTTP(httptest.NewRecorder(), request); close(served) }()
	select {
	case <-served:
	case <-time.After(time.Minute):
		t.Error("another waits for it")
	}
	close(stuck.goes)
	<-over
}

// stuckWriter is of a collector that takes nothing until it goes.
type stuckWriter struct {
	*httptest.ResponseRecorder
	at, goes chan bool
}

func (w stuckWriter) Write(p []byte) (int, error) {
	close(w.at)
	<-w.goes
	return len(p), nil
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestScrapeAddressIsWrong(t *testing.T) {
	a := &app{env: env{stderr: io.Discard, now: time.Now}}
	for _, address := range []string{"nowhere", "127.0.0.1:99999", "203.0.113.1:80"} {
		if _, err := a.serve(address, &runs.Measurement{}); !errors.Is(err, runs.ErrInput) || !strings.Contains(err.Error(), "127.0.0.1:9464") {
			t.Errorf("%s: %v", address, err)
		}
	}
}
