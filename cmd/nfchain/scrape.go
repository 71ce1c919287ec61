package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// scrape serves a run as OpenMetrics while it is measured.
type scrape struct {
	run    atomic.Pointer[trial.Run]
	server *http.Server
}

// serve listens on an address such as 127.0.0.1:9464; with "" nothing is served.
// The address is taken before anything is measured, so that a wrong one costs
// nothing.
func (a *app) serve(address string, m *runs.Measurement) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--openmetrics %s: %w; write an address of this machine and a free port, such as 127.0.0.1:9464: %w", address, err, runs.ErrInput)
	}
	s := &scrape{}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second}
	m.Stored = func(r trial.Run) { s.run.Store(&r) }
	go func() { _ = s.server.Serve(listener) }()
	a.say("metrics at http://%s/metrics", listener.Addr())
	return func() { _ = s.server.Close() }, nil
}

// ServeHTTP implements http.Handler.
func (s *scrape) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r := s.run.Load()
	switch {
	case req.URL.Path != "/metrics":
		http.NotFound(w, req)
		return
	case r == nil:
		http.Error(w, "the run has not begun", http.StatusServiceUnavailable)
		return
	}
	var b bytes.Buffer
	if err := report.OpenMetrics(&b, report.Report{Run: *r}); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", string(report.OpenMetricsFormat))
	_, _ = w.Write(b.Bytes())
}
