package web

import (
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/trial"
)

// How a request ended.
const (
	answered   = iota // with all of the object
	notOK             // with a status other than 2xx
	timedOut          // not within the time that is waited
	failed            // with a connection that could not be made, or that broke
	unfinished        // not before the trial was over
)

// answer is what became of a request that was due, sent and over at some times.
type answer struct {
	due, sent, ended time.Time
	end              int
	err              error
}

// counts of all requests.
type counts struct {
	// Due are those that should have been sent; without a rate, those that were.
	Due      uint64 `json:"due"`
	Begun    uint64 `json:"begun"`
	Answered uint64 `json:"answered"`
	// InTime are those of the answered that were so before the trial's end.
	InTime     uint64 `json:"answered_in_time"`
	NotOK      uint64 `json:"not_ok"`
	TimedOut   uint64 `json:"timed_out"`
	Failed     uint64 `json:"failed"`
	Unfinished uint64 `json:"unfinished"`
	// Unsent were due and not begun.
	Unsent uint64 `json:"unsent"`
	// Bytes of the objects that arrived before the trial's end.
	Bytes uint64 `json:"bytes"`
	// Reasons why requests were not answered well, each once.
	Reasons []string `json:"reasons"`
}

// mostReasons that are kept.
const mostReasons = 5

func (c *counts) why(err error) {
	if text := err.Error(); len(c.Reasons) < mostReasons && !slices.Contains(c.Reasons, text) {
		c.Reasons = append(c.Reasons, text)
	}
}

// book is what all connections write into.
type book struct {
	settings
	began time.Time
	step  time.Duration

	mu sync.Mutex
	counts
	// latency is from when requests were due, service from when they were sent, and late is how
	// much later than due one was sent though a connection was free.
	latency, service, late *hdrhistogram.Histogram
	steps                  []step
}

// step is a part of the trial's time.
type step struct {
	// latency of the requests that were due in it; nil where there was none.
	latency *hdrhistogram.Histogram
	// due and bad are requests of its time, and those of them that got no good answer.
	due, bad uint64
	// answered and bytes are what arrived in it.
	answered, bytes uint64
}

// Steps are as short as that, or longer, so that there are no more than so many.
const (
	shortestStep = 100 * time.Millisecond
	mostSteps    = 600
)

// newBook of a trial that begins.
func newBook(s settings, began time.Time) *book {
	each := stepOf(s.Duration)
	return &book{settings: s, began: began, step: each, steps: make([]step, s.Duration/each),
		latency: trial.NewHistogram(), service: trial.NewHistogram(), late: trial.NewHistogram()}
}

// stepOf a trial, which is made of whole ones.
func stepOf(trial time.Duration) time.Duration {
	step := shortestStep
	for step < trial && (trial%step != 0 || trial/step > mostSteps) {
		step += shortestStep
	}
	return min(step, trial)
}

// at is the step of a time; nil after the trial's end.
func (b *book) at(t time.Time) *step {
	i := int(t.Sub(b.began) / b.step)
	if i < 0 || i >= len(b.steps) || t.Sub(b.began) >= b.Duration {
		return nil
	}
	return &b.steps[i]
}

// arrived is a part of an object.
func (b *book) arrived(now time.Time, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.at(now); s != nil {
		s.bytes += uint64(n)
		b.Bytes += uint64(n)
	}
}

// woken tells how late a request was sent for which a connection was free.
func (b *book) woken(late time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	put(b.late, late)
}

// unsent is a request that was due while no connection was free until the end.
func (b *book) unsent(due time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Unsent++
	if s := b.at(due); s != nil {
		s.due++
		s.bad++
	}
}

// write what became of a request.
func (b *book) write(a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Begun++
	due := b.at(a.due)
	if due != nil {
		due.due++
	}
	if a.end != answered {
		b.bad(a)
		if due != nil {
			due.bad++
		}
		return
	}
	b.Answered++
	if s := b.at(a.ended); s != nil {
		b.InTime++
		s.answered++
	}
	put(b.latency, a.ended.Sub(a.due))
	put(b.service, a.ended.Sub(a.sent))
	if due != nil {
		if due.latency == nil {
			due.latency = hdrhistogram.New(finest, time.Hour.Nanoseconds(), 2)
		}
		put(due.latency, a.ended.Sub(a.due))
	}
}

// finest time that the histogram of a step tells from another, in ns: there are many of them.
const finest = 1000

func (b *book) bad(a answer) {
	switch a.end {
	case notOK:
		b.NotOK++
	case timedOut:
		b.TimedOut++
	case unfinished:
		b.Unfinished++
		return
	default:
		b.Failed++
	}
	b.why(a.err)
}

// put a time into a histogram; what is longer than it reaches counts as its longest.
func put(h *hdrhistogram.Histogram, took time.Duration) {
	_ = h.RecordValue(min(max(took.Nanoseconds(), h.LowestTrackableValue()), h.HighestTrackableValue()))
}
