package rr

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/trial"
)

const (
	// patience is how long a connection may take to come about.
	patience = 5 * time.Second
	// lostAfter is how long a response to a datagram is waited for: what comes later
	// is lost, and counted as late too.
	lostAfter = time.Second
)

// shards of the histogram: each is a third of a megabyte, so that many flows share
// one.
const shards = 16

// times is a histogram of transactions' times, for several threads.
type times struct {
	mu sync.Mutex
	h  *hdrhistogram.Histogram
}

func (t *times) record(took time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// What is longer than the histogram reaches counts as its longest.
	_ = t.h.RecordValue(min(max(took.Nanoseconds(), 1), t.h.HighestTrackableValue()))
}

// kind of transaction: each flow has its own.
type kind interface {
	// open makes ready what is not part of a transaction.
	open(until time.Time) error
	// exchange makes one transaction, begun at a time, waited for until another.
	exchange(began, until time.Time) error
	// close gives back the socket, and adds what it knows to the counts.
	close(c *counts)
}

// flow is one transaction after the other.
type flow struct {
	kind
	times *times
	counts
}

// offer runs all flows side by side.
func offer(s settings) (sentReport, error) {
	histograms := make([]*times, min(shards, s.Flows))
	for i := range histograms {
		histograms[i] = &times{h: trial.NewHistogram()}
	}
	flows := make([]*flow, s.Flows)
	for i := range flows {
		flows[i] = &flow{kind: s.kind(i), times: histograms[i%len(histograms)]}
		if err := flows[i].open(time.Now().Add(patience)); err != nil {
			return sentReport{}, fmt.Errorf("flow %d: %s: %w", i+1, s.port(i), err)
		}
	}
	end := time.Now().Add(s.Duration)
	ended := make(chan error, len(flows))
	for i, f := range flows {
		go func() { ended <- onCore(s.Cores, i, func() error { return f.run(s, end) }) }()
	}
	var failed error
	for range flows {
		failed = errors.Join(failed, <-ended)
	}
	if failed != nil {
		return sentReport{}, failed
	}
	return report(flows, histograms)
}

func (s settings) kind(flow int) kind {
	switch s.Protocol {
	case trial.UDPRR:
		return &datagrams{settings: s, flow: flow}
	case trial.TCPCRR:
		return &connections{settings: s, flow: flow}
	}
	return &connection{settings: s, flow: flow}
}

// run makes transactions until the end, and waits for the last one a while.
func (f *flow) run(s settings, end time.Time) error {
	defer func() { f.kind.close(&f.counts) }()
	for {
		began := time.Now()
		if !began.Before(end) {
			return nil
		}
		f.Begun++
		err := f.exchange(began, f.until(s, began, end))
		now := time.Now()
		switch {
		case err == nil:
			f.Done++
			if !now.After(end) {
				f.InTime++
			}
			f.times.record(now.Sub(began))
		case s.Protocol == trial.TCPRR && !errors.Is(err, errLate):
			return fmt.Errorf("the connection broke after %d transactions: %w", f.Done, err)
		case s.Protocol == trial.UDPRR:
			f.Lost++
		case !now.Before(end.Add(lostAfter)):
			f.Unfinished++
			f.Oldest = max(f.Oldest, now.Sub(began))
		default:
			f.Failed++
			f.why(err)
		}
	}
}

// until when a transaction is waited for.
func (f *flow) until(s settings, began, end time.Time) time.Time {
	last := end.Add(lostAfter)
	switch s.Protocol {
	case trial.UDPRR:
		return began.Add(lostAfter)
	case trial.TCPCRR:
		if limit := began.Add(patience); limit.Before(last) {
			return limit
		}
	}
	return last
}

// counts of one flow, and of all.
type counts struct {
	Begun uint64 `json:"begun"`
	Done  uint64 `json:"done"`
	// InTime are those of the done that ended before the trial's end.
	InTime     uint64        `json:"done_in_time"`
	Lost       uint64        `json:"lost"`
	Late       uint64        `json:"late"`
	Duplicate  uint64        `json:"duplicate"`
	Failed     uint64        `json:"failed"`
	Unfinished uint64        `json:"unfinished"`
	Oldest     time.Duration `json:"oldest_unfinished_ns"`
	// Retransmits of TCP segments at the client; absent where the kernel was not
	// asked.
	Retransmits *uint64 `json:"retransmits,omitempty"`
	// Reasons for failures, each once.
	Reasons []string `json:"reasons"`
}

// mostReasons that are kept.
const mostReasons = 5

func (c *counts) why(err error) {
	if text := err.Error(); len(c.Reasons) < mostReasons && !slices.Contains(c.Reasons, text) {
		c.Reasons = append(c.Reasons, text)
	}
}

func (c *counts) add(d counts) {
	c.Begun, c.Done, c.Lost, c.Late = c.Begun+d.Begun, c.Done+d.Done, c.Lost+d.Lost, c.Late+d.Late
	c.Duplicate, c.Failed, c.Unfinished = c.Duplicate+d.Duplicate, c.Failed+d.Failed, c.Unfinished+d.Unfinished
	c.Oldest = max(c.Oldest, d.Oldest)
	c.InTime += d.InTime
	if d.Retransmits != nil {
		sum := *d.Retransmits
		if c.Retransmits != nil {
			sum += *c.Retransmits
		}
		c.Retransmits = &sum
	}
	for _, text := range d.Reasons {
		c.why(errors.New(text))
	}
}
