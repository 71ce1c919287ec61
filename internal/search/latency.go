package search

import (
	"math"

	"nfchain.dev/nfchain/internal/trial"
)

// What a latency trial and a recovery trial must measure.
const (
	// TagLatency is the latency of the tagged frame.
	TagLatency = "tag_latency_ns"
	// MeanLatency of all frames stands in where no single frame can be tagged.
	MeanLatency = "one_way_latency_mean_ns"
	// Recovery is the time from the lower load on to the last frame lost.
	Recovery = "recovery_s"
)

// latency is RFC 2544 §26.2: at the throughput, the latency of one tagged frame a
// trial, and the mean over the trials.
type latency struct{ spec trial.Search }

// Next finds the throughput first.
func (l latency) Next(history []Outcome) (trial.Step, bool) {
	return repeated(l.spec, history, trial.StepLatency, func(rate float64) trial.Step {
		step := ask(l.spec, rate, l.spec.DurationS, "latency at the throughput")
		step.Kind, step.TagAfterS = trial.StepLatency, l.spec.DurationS/2
		return step
	})
}

// Result has the latencies and their mean.
func (l latency) Result(history []Outcome) Result {
	r := rateResult(tally(l.spec, history), l.spec, history)
	r.Latency = values(sound(history, trial.StepLatency), TagLatency, MeanLatency)
	_, more := l.Next(history)
	return closed(measured(r, r.Latency, TagLatency), more, latencyClauses)
}

// recovery is RFC 2544 §26.5: after an overload of 110% of the throughput, how long
// frames are still lost at half of that.
type recovery struct{ spec trial.Search }

// Next finds the throughput first.
func (v recovery) Next(history []Outcome) (trial.Step, bool) {
	return repeated(v.spec, history, trial.StepRecovery, func(rate float64) trial.Step {
		step := ask(v.spec, 1.1*rate, v.spec.DurationS, "an overload, then half of it")
		step.Kind = trial.StepRecovery
		step.ThenPps, step.ThenS = round(step.LoadPps/2, v.spec), v.spec.DurationS
		return step
	})
}

// Result has the times and their mean.
func (v recovery) Result(history []Outcome) Result {
	r := rateResult(tally(v.spec, history), v.spec, history)
	r.Recovery = values(sound(history, trial.StepRecovery), Recovery)
	_, more := v.Next(history)
	return closed(measured(r, r.Recovery, Recovery), more, recoveryClauses)
}

// repeated asks for the throughput, then for the repeats of one step at it.
func repeated(s trial.Search, history []Outcome, kind string, at func(rate float64) trial.Step) (trial.Step, bool) {
	if len(history) >= s.MaxTrials {
		return trial.Step{}, false
	}
	rate, step, more := rateOf(s, history)
	if more {
		return step, true
	}
	if rate == 0 || len(sound(history, kind)) >= s.Repeats {
		return trial.Step{}, false
	}
	return at(rate), true
}

// values of the first of the metrics that a trial measured; nil without trials.
func values(trials []Outcome, metrics ...string) *Repeated {
	if len(trials) == 0 {
		return nil
	}
	unsent := 0.0
	for _, o := range trials {
		unsent = max(unsent, o.unsent())
	}
	for _, metric := range metrics {
		r := Repeated{LoadPps: trials[0].LoadPps, Repeats: len(trials), Metric: metric, UnsentRatio: unsent}
		for _, o := range trials {
			if v, is := o.Metrics[metric]; is && !math.IsNaN(v) && !math.IsInf(v, 0) {
				r.Values = append(r.Values, v)
			}
		}
		if r.Spread = spread(r.Values); len(r.Values) > 0 {
			return &r
		}
	}
	return &Repeated{LoadPps: trials[0].LoadPps, Repeats: len(trials), Metric: metrics[0], UnsentRatio: unsent}
}

// measured marks a result that lacks what its method is for.
func measured(r Result, got *Repeated, metric string) Result {
	switch {
	case got == nil:
		r.Irregular, r.Why = true, "nothing was measured at the throughput"
	case len(got.Values) < r.Search.Repeats:
		r.Irregular, r.Why = true, "not every trial measured "+metric
	}
	return r
}
