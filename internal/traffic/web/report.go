package web

import (
	"errors"
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// sentReport is what a client counted, over all connections.
type sentReport struct {
	counts
	// From is when latency counts from: due or sent.
	From string `json:"latency_from"`
	// Latency, Service and Late are histograms in ns, as [book] has them; the last two only with a rate.
	Latency string                  `json:"latency_ns"`
	Service string                  `json:"service_time_ns,omitempty"`
	Late    string                  `json:"schedule_error_ns,omitempty"`
	Series  map[string]trial.Series `json:"series"`
}

// report of a trial that is over.
func (b *book) report() (r sentReport, err error) {
	r.counts, r.Series, r.From = b.counts, b.series(), "sent"
	r.Due = r.Begun + r.Unsent
	var errs [3]error
	r.Latency, errs[0] = trial.EncodeHistogram(b.latency)
	if b.Rate > 0 {
		r.From = "due"
		r.Service, errs[1] = trial.EncodeHistogram(b.service)
		r.Late, errs[2] = trial.EncodeHistogram(b.late)
	}
	return r, errors.Join(errs[:]...)
}

// series by step: what arrived in it, and what became of requests that were due in it.
func (b *book) series() map[string]trial.Series {
	every := map[string]func(step) (float64, bool){
		"goodput_bps":         func(s step) (float64, bool) { return 8 * float64(s.bytes) / b.step.Seconds(), true },
		"requests_per_second": func(s step) (float64, bool) { return float64(s.answered) / b.step.Seconds(), true },
		"latency_p50_ns":      percentile(50),
		"latency_p99_ns":      percentile(99),
		"error_ratio":         func(s step) (float64, bool) { return float64(s.bad) / float64(s.due), s.due > 0 },
	}
	all := map[string]trial.Series{}
	for metric, of := range every {
		series := trial.Series{StepS: b.step.Seconds()}
		for _, s := range b.steps {
			var value *float64
			if v, known := of(s); known {
				value = &v
			}
			series.Values = append(series.Values, value)
		}
		all[metric] = series
	}
	return all
}

func percentile(percent float64) func(step) (float64, bool) {
	return func(s step) (float64, bool) {
		if s.latency == nil {
			return 0, false
		}
		return trial.Percentile(s.latency, percent), true
	}
}

// sample turns what a client counted into metrics.
func (r sentReport) sample(s settings) (traffic.Sample, error) {
	latency, err := trial.DecodeHistogram(r.Latency)
	if err != nil {
		return traffic.Sample{}, fmt.Errorf("the client's times: %w", err)
	}
	if s.Duration <= 0 || r.Due == 0 || r.Due != r.Begun+r.Unsent || r.Answered < r.InTime || uint64(latency.TotalCount()) != r.Answered ||
		r.Begun != r.Answered+r.NotOK+r.TimedOut+r.Failed+r.Unfinished {
		return traffic.Sample{}, fmt.Errorf("the client's counts cannot be: %+v", r.counts)
	}
	if r.Answered+r.NotOK == 0 {
		return traffic.Sample{}, fmt.Errorf("no request to %s of %s was answered%s", s.Host, words.Plural(int(min(r.Due, math.MaxInt32)), "request"), r.because())
	}
	sample, err := traffic.HistogramSample(latency)
	if err != nil {
		return sample, err
	}
	seconds := s.Duration.Seconds()
	m := sample.Metrics
	m["goodput_bps"], m["requests"], m["requests_per_second"] = 8*float64(r.Bytes)/seconds, float64(r.Due), float64(r.InTime)/seconds
	m["error_ratio"] = 1 - float64(r.Answered)/float64(r.Due)
	m["responses_not_ok"], m["requests_timed_out"] = float64(r.NotOK), float64(r.TimedOut)
	m["requests_failed"], m["requests_unfinished"] = float64(r.Failed), float64(r.Unfinished)
	sample.Series = r.Series
	if s.Rate > 0 {
		m["requests_unsent"] = float64(r.Unsent)
		err = errors.Join(times(sample, "service_time", r.Service), times(sample, "schedule_error", r.Late))
	}
	sample.Warnings = r.warnings()
	return sample, err
}

// told are the percentiles of times beside the latency.
var told = []struct {
	name    string
	percent float64
}{{"p50", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}}

// times puts a histogram beside the latency into a sample.
func times(s traffic.Sample, stem, text string) error {
	h, err := trial.DecodeHistogram(text)
	if err != nil {
		return fmt.Errorf("the client's %s: %w", stem, err)
	}
	if h.TotalCount() == 0 {
		return nil
	}
	for _, p := range told {
		s.Metrics[stem+"_"+p.name+"_ns"] = atMost(h, p.percent)
	}
	s.Histograms[stem+"_ns"] = text
	return nil
}

func atMost(h *hdrhistogram.Histogram, percent float64) float64 {
	if percent == 100 {
		return float64(h.Max())
	}
	return trial.Percentile(h, percent)
}

func (r sentReport) warnings() (w []string) {
	if bad := r.NotOK + r.TimedOut + r.Failed; bad > 0 {
		w = append(w, fmt.Sprintf("%d of %d requests got no good answer%s: the percentiles are without them", bad, r.Due, r.because()))
	}
	if r.Unfinished > 0 {
		w = append(w, fmt.Sprintf("%d requests were still under way %v after the end: the percentiles are without them", r.Unfinished, lostAfter))
	}
	if r.Unsent > 0 {
		w = append(w, fmt.Sprintf("%d of %d requests were due and never sent, since all connections were busy until %v after the end: the percentiles are without them, and so too low", r.Unsent, r.Due, lostAfter))
	}
	return w
}

// because gives the reasons for bad answers, if any are known.
func (r sentReport) because() string {
	if len(r.Reasons) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%q)", r.Reasons)
}
