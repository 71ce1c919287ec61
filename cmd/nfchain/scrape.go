package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"nfchain.dev/nfchain/internal/report"
	runs "nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// scrape serves metrics as OpenMetrics to collectors, as they are when one asks.
type scrape struct {
	// write them, for one collector at a time.
	write func(context.Context, io.Writer) error
	mu    sync.Mutex
}

// takesWithin is how long a collector may take for what it asked for.
const takesWithin = 10 * time.Second

// errNotBegun tells a collector to come again.
var errNotBegun = errors.New("the run has not begun")

// serve a run while it is measured, at an address such as 127.0.0.1:9464; with "" nothing is served.
// The address is taken before anything is measured, so that a wrong one costs
// nothing.
func (a *app) serve(address string, m *runs.Measurement) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	var run atomic.Pointer[trial.Run]
	stop, err = a.listen(address, func(_ context.Context, w io.Writer) error {
		if r := run.Load(); r != nil {
			return report.OpenMetrics(w, report.Report{Run: *r})
		}
		return errNotBegun
	})
	if err == nil {
		m.Stored = func(r trial.Run) { run.Store(&r) }
	}
	return stop, err
}

// listen at an address for collectors, until stop.
func (a *app) listen(address string, write func(context.Context, io.Writer) error) (stop func(), err error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--openmetrics %s: %w; write an address of this machine and a free port, such as 127.0.0.1:9464: %w", address, err, runs.ErrInput)
	}
	server := &http.Server{Handler: &scrape{write: write}, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	a.say("metrics at http://%s/metrics", listener.Addr())
	return func() { _ = server.Close() }, nil
}

// ServeHTTP implements http.Handler.
func (s *scrape) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.URL.Path != "/metrics" {
		http.NotFound(w, req)
		return
	}
	text, err := s.gather(req.Context())
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(takesWithin)) // not before: what there is may take long to gather
	if err != nil {
		code := http.StatusInternalServerError
		if errors.Is(err, errNotBegun) {
			code = http.StatusServiceUnavailable
		}
		http.Error(w, err.Error(), code)
		return
	}
	w.Header().Set("Content-Type", string(report.OpenMetricsFormat))
	_, _ = w.Write(text)
}

// gather what there is. However long a collector takes for it, others can gather meanwhile.
func (s *scrape) gather(ctx context.Context) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err // it waits no more
	}
	var b bytes.Buffer
	err := s.write(ctx, &b)
	return b.Bytes(), err
}
