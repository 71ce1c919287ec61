package rr

import (
	"errors"
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
)

// sentReport is what a client counted, over all flows.
type sentReport struct {
	counts
	// Latency is the histogram of the transactions' times, in ns.
	Latency string `json:"latency_ns"`
}

func report(flows []*flow, histograms []*times) (sentReport, error) {
	var r sentReport
	for _, f := range flows {
		r.add(f.counts)
	}
	parts := make([]*hdrhistogram.Histogram, len(histograms))
	for i, t := range histograms {
		parts[i] = t.h
	}
	var err error
	r.Latency, err = trial.EncodeHistogram(trial.MergeHistograms(parts))
	return r, err
}

// sample turns both sides' counts into metrics.
func (r sentReport) sample(s settings, served servedReport) (traffic.Sample, error) {
	h, err := trial.DecodeHistogram(r.Latency)
	if err != nil {
		return traffic.Sample{}, fmt.Errorf("the client's times: %w", err)
	}
	if s.Duration <= 0 || r.Begun == 0 || r.Done < r.InTime || r.Begun < r.Done+r.Lost || uint64(h.TotalCount()) != r.Done {
		return traffic.Sample{}, fmt.Errorf("the client's counts cannot be: %+v", r.counts)
	}
	if r.Done == 0 && s.Echo {
		return traffic.Sample{}, fmt.Errorf("none of %d datagrams to %s came back%s", r.Begun, s.Address, r.because())
	}
	if r.Done == 0 && s.Protocol != trial.UDPRR {
		return traffic.Sample{}, fmt.Errorf("no transaction was completed: %d failed, %d were unfinished%s", r.Failed, r.Unfinished, r.because())
	}
	sample, err := traffic.HistogramSample(h)
	if err != nil {
		return sample, err
	}
	m := sample.Metrics
	m["transactions"], m["transactions_per_second"] = float64(r.Done), float64(r.InTime)/s.Duration.Seconds()
	if r.Retransmits != nil {
		m["retransmits"] = float64(*r.Retransmits)
	}
	if s.Protocol == trial.UDPRR {
		r.losses(m, s, served)
	} else {
		m["transactions_failed"], m["transactions_unfinished"] = float64(r.Failed), float64(r.Unfinished)
	}
	sample.Warnings = r.warnings(s)
	return sample, nil
}

// losses tells requests that did not arrive, which the server knows, from responses. An echo of somebody's tells nothing.
func (r sentReport) losses(m map[string]float64, s settings, served servedReport) {
	m["loss_ratio"] = float64(r.Lost) / float64(r.Begun)
	m["transactions_lost"] = float64(r.Lost)
	m["responses_late"], m["duplicates"] = float64(r.Late), float64(r.Duplicate)
	if s.Echo {
		return
	}
	arrived := min(served.Requests, r.Begun)
	m["requests_lost"] = float64(r.Begun - arrived)
	m["responses_lost"] = max(0, float64(arrived)-float64(r.Done)-float64(r.Late))
}

func (r sentReport) warnings(s settings) (w []string) {
	if r.Failed > 0 {
		w = append(w, fmt.Sprintf("%d of %d transactions failed%s: the percentiles are without them", r.Failed, r.Begun, r.because()))
	}
	if r.Lost > 0 {
		w = append(w, fmt.Sprintf("%d of %d transactions got no response within %v%s: the percentiles are without them", r.Lost, r.Begun, lostAfter, r.because()))
	}
	if r.Unfinished > 0 {
		w = append(w, fmt.Sprintf("%d transactions were still under way %v after the end, the oldest for %v: the percentiles are without them",
			r.Unfinished, lostAfter, r.Oldest.Round(time.Millisecond)))
	}
	if n := min(s.Request, s.Response, stampSize); s.Protocol == trial.UDPRR && n < 2 && r.Late+r.Duplicate > 0 {
		w = append(w, "messages of one byte number 256 transactions: a response that is late by more is taken for another's")
	}
	return w
}

// because gives the reasons for failures, if any are known.
func (r sentReport) because() string {
	if len(r.Reasons) == 0 {
		return ""
	}
	var all error
	for _, text := range r.Reasons {
		all = errors.Join(all, errors.New(text))
	}
	return fmt.Sprintf(" (%q)", all.Error())
}
