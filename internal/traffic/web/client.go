package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// patience is how long an answer may take from when its request was sent.
	patience = 5 * time.Second
	// lostAfter is how long after the trial's end what is under way is waited for.
	lostAfter = time.Second
)

// client is one connection.
type client struct {
	settings
	*book
	request *http.Request
	over    *http.Transport
	buffer  []byte
}

// offer sends requests over all connections side by side.
func offer(s settings) (sentReport, error) {
	where, err := url.ParseRequestURI(s.Path)
	if err != nil {
		return sentReport{}, fmt.Errorf("path %q: %w", s.Path, err)
	}
	where.Scheme, where.Host = "http", s.Address.String()
	began := time.Now()
	b := newBook(s, began)
	due := make(chan time.Time, s.Connections)
	var all sync.WaitGroup
	for range s.Connections {
		c := &client{settings: s, book: b, buffer: make([]byte, 64<<10),
			request: &http.Request{Method: http.MethodGet, URL: where, Host: s.Host, Header: http.Header{"User-Agent": {"nfchain"}},
				Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1},
			over: &http.Transport{MaxConnsPerHost: 1, MaxIdleConnsPerHost: 1, DisableCompression: true,
				DialContext: (&net.Dialer{Timeout: patience}).DialContext, ReadBufferSize: 64 << 10}}
		all.Add(1)
		go func() {
			defer all.Done()
			defer c.over.CloseIdleConnections()
			c.run(due)
		}()
	}
	if s.Rate > 0 {
		b.pace(due)
	}
	close(due)
	all.Wait()
	return b.report()
}

// pace tells when requests are due, at even times. When all connections are busy and as many
// requests wait, it waits too; those that are due meanwhile still are from when they were.
func (b *book) pace(due chan<- time.Time) {
	runtime.LockOSThread() // which the goroutine never gives back: its timers are finer
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	last := b.began.Add(b.Duration + lostAfter)
	for i := range b.requests() {
		at := b.began.Add(time.Duration(float64(i) / b.Rate * float64(time.Second)))
		if !time.Now().Before(last) {
			b.unsent(at)
			continue
		}
		for left := time.Until(at); left > 0; left = time.Until(at) {
			// Go's own timers are late by up to a millisecond where nothing else goes on.
			span := unix.NsecToTimespec(left.Nanoseconds())
			_ = unix.Nanosleep(&span, nil)
		}
		due <- at
	}
}

// requests that are due in a trial with a rate.
func (s settings) requests() int {
	n := int(s.Rate * s.Duration.Seconds())
	if float64(n) < s.Rate*s.Duration.Seconds() {
		n++ // the first is due at once
	}
	return n
}

// run sends requests: one after the other until the trial's end, or as many as are due before that, also
// when their turn comes a little later.
func (c *client) run(due <-chan time.Time) {
	end := c.began.Add(c.Duration)
	if c.Rate == 0 {
		for now := time.Now(); now.Before(end); now = time.Now() {
			c.get(now, now, end)
		}
		return
	}
	idle := c.began
	for at := range due {
		now := time.Now()
		if !now.Before(end.Add(lostAfter)) {
			c.unsent(at)
			continue
		}
		if idle.Before(at) {
			c.woken(now.Sub(at))
		}
		c.get(at, now, end)
		idle = time.Now()
	}
}

// get one answer to a request that was due and is sent now.
func (c *client) get(due, sent, end time.Time) {
	until, last := sent.Add(patience), end.Add(lostAfter)
	if last.Before(until) {
		until = last
	}
	ctx, cancel := context.WithDeadline(context.Background(), until)
	defer cancel()
	status, err := c.ask(ctx)
	now := time.Now()
	a := answer{due: due, sent: sent, ended: now, err: err}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && until.Equal(last):
		a.end = unfinished
	case errors.Is(err, context.DeadlineExceeded):
		a.end = timedOut
		a.err = fmt.Errorf("no whole answer within %v", patience)
	case err != nil:
		a.end = failed
	case !good(status):
		a.end = notOK
		a.err = fmt.Errorf("status %d", status)
	}
	c.write(a)
}

// good tells a status that says that the answer is what was asked for.
func good(status int) bool { return status >= 200 && status < 300 }

// errBroken is why a request has no answer on whose kept connection none came.
var errBroken = errors.New("the connection broke before the answer")

// once has a request fail that broke with its connection, which the transport would else send again unseen. What
// it could not even begin to send, since the connection was over already, it may.
func once(ctx context.Context, fail context.CancelCauseFunc) context.Context {
	var sent atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
		GetConn: func(string) {
			if sent.Load() {
				fail(errBroken)
			}
		},
	})
}

// ask for the object and read all of it.
func (c *client) ask(ctx context.Context) (status int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx = once(ctx, cancel)
	r, err := c.over.RoundTrip(c.request.WithContext(ctx))
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Body.Close() }()
	for {
		n, err := r.Body.Read(c.buffer)
		if n > 0 && good(r.StatusCode) {
			c.arrived(time.Now(), n)
		}
		switch {
		case errors.Is(err, io.EOF):
			return r.StatusCode, nil
		case err != nil:
			return r.StatusCode, err
		}
	}
}
