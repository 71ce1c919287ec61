package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/traffic"
)

// Command is the hidden command of this binary that is one side of a trial.
const Command = "surf"

// collected is how much the heap may grow, in per cent, before memory is collected: it is small,
// and collecting it often would be seen in the percentiles.
const collected = 800

// Main is the hidden command: "client" or "server", then the settings. It prints what it
// counted, as JSON; a server does so when it is interrupted.
func Main(args []string, stdout, stderr io.Writer) error {
	defer debug.SetGCPercent(debug.SetGCPercent(collected))
	return traffic.Side(Command, args, stdout,
		func(s settings) (any, error) { return serve(s, stderr) },
		func(s settings) (any, error) { return offer(s) })
}

// servedReport is what a server counted.
type servedReport struct {
	Requests uint64 `json:"requests"`
	Bytes    uint64 `json:"bytes"`
}

// content that answers are made of.
var content [64 << 10]byte

// largest answer that is given, in bytes.
const largest = 1 << 40

// server answers a request for /N with N bytes.
type server struct{ requests, bytes atomic.Uint64 }

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	size, err := strconv.ParseUint(strings.TrimPrefix(r.URL.Path, "/"), 10, 63)
	if err != nil || size > largest {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.FormatUint(size, 10))
	for size > 0 {
		n, err := w.Write(content[:min(size, uint64(len(content)))])
		s.bytes.Add(uint64(n))
		if err != nil {
			return // the client counts it
		}
		size -= uint64(n)
	}
}

// serve answers until it is interrupted.
func serve(s settings, stderr io.Writer) (servedReport, error) {
	interrupted, stop := signal.NotifyContext(context.Background(), unix.SIGINT)
	defer stop()
	l, err := net.Listen("tcp", s.Address.String())
	if err != nil {
		return servedReport{}, fmt.Errorf("listen on %s: %w", s.Address, err)
	}
	handler := &server{}
	web := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(l) }()
	if _, err := io.WriteString(stderr, traffic.Greeting); err != nil {
		return servedReport{}, err
	}
	select {
	case err := <-ended:
		return servedReport{}, err
	case <-interrupted.Done():
	}
	if err := web.Close(); err != nil {
		return servedReport{}, err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return servedReport{}, err
	}
	return servedReport{handler.requests.Load(), handler.bytes.Load()}, nil
}

// named is the host and the path of a URL, as a request has them.
func named(text string) (host, path string) {
	u, err := url.Parse(text)
	if err != nil {
		return "", "/" // validated when the load was read
	}
	return u.Host, u.RequestURI()
}
