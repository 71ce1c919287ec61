package search

import (
	"errors"
	"fmt"
	"math"

	"nfchain.dev/nfchain/internal/trial"
)

// Method is one search. Both functions depend on nothing but the history, which
// they leave as it is: the trials so far, in the order they were run.
type Method interface {
	// Next is the trial to run now; false if there are enough.
	Next(history []Outcome) (trial.Step, bool)
	// Result is what the trials so far come to. Before Next says that there are
	// enough, it is an unfinished one.
	Result(history []Outcome) Result
}

// ErrSpec is wrapped by what [New] finds wrong.
var ErrSpec = errors.New("the search cannot be made")

// methods by name, each from a complete specification.
var methods = map[string]func(trial.Search) Method{
	trial.RFC2544Throughput:     func(s trial.Search) Method { return throughput{s, halve} },
	trial.RFC2544StepDown:       func(s trial.Search) Method { return throughput{s, stepDown} },
	trial.RFC2544Latency:        func(s trial.Search) Method { return latency{s} },
	trial.RFC2544FrameLoss:      func(s trial.Search) Method { return frameLoss{s} },
	trial.RFC2544Recovery:       func(s trial.Search) Method { return recovery{s} },
	trial.RFC9004BackToBack:     func(s trial.Search) Method { return backToBack{s} },
	trial.RFC2889ForwardingRate: func(s trial.Search) Method { return forwardingRate{s} },
	trial.TST009:                func(s trial.Search) Method { return verified{s} },
	trial.MLRsearch:             func(s trial.Search) Method { return newMLR(s) },
}

// New makes a method from a specification, of which [Complete] fills in the rest.
func New(spec trial.Search) (Method, error) {
	make, known := methods[spec.Method]
	if !known {
		return nil, fmt.Errorf("%w: %q is not a method; write one of %v", ErrSpec, spec.Method, trial.Methods())
	}
	spec = Complete(spec)
	if err := check(spec); err != nil {
		return nil, err
	}
	if spec.Reach {
		return reaching{spec, make}, nil
	}
	return make(spec), nil
}

// check what a file's validation promises, for specifications from elsewhere.
func check(s trial.Search) error {
	switch {
	case !positive(s.MaxPps) || s.MaxPps > fastest:
		return fmt.Errorf("%w: max_pps is %v; give the highest load to try, up to %v", ErrSpec, s.MaxPps, fastest)
	case !positive(s.MinPps) || s.MinPps > s.MaxPps:
		return fmt.Errorf("%w: min_pps is %v; it must be above 0 and at most max_pps, %v", ErrSpec, s.MinPps, s.MaxPps)
	case s.ThroughputPps != 0 && (!positive(s.ThroughputPps) || s.ThroughputPps < s.MinPps || s.ThroughputPps > s.MaxPps):
		return fmt.Errorf("%w: throughput_pps is %v; it must lie from %v to %v", ErrSpec, s.ThroughputPps, s.MinPps, s.MaxPps)
	case !lasting(s.DurationS) || !lasting(s.BurstMaxS) || !(s.MediumPps >= 0 && s.MediumPps <= fastest):
		return fmt.Errorf("%w: durations must be above 0 and at most %v s, and medium_pps from 0 to %v", ErrSpec, longest, fastest)
	case !positive(s.StepRatio) || s.StepRatio > 1:
		return fmt.Errorf("%w: step_ratio is %v; it must be above 0 and at most 1", ErrSpec, s.StepRatio)
	case s.Repeats < 1 || s.LossTrials < 1 || s.LossFrames < 0 || math.IsNaN(s.LossFrames) || s.BurstStepFrames < 1 || s.MaxTrials < 1:
		return fmt.Errorf("%w: repeats, loss_trials, burst_step_frames and max_trials must be at least 1", ErrSpec)
	case !wait(s.Waits.LearnS) || !wait(s.Waits.DrainS) || !wait(s.Waits.SettleS):
		return fmt.Errorf("%w: waits must not be negative: %+v", ErrSpec, *s.Waits)
	}
	return checkGoals(s)
}

func wait(s float64) bool    { return s >= 0 && s <= longest }
func lasting(s float64) bool { return s > 0 && s <= longest }

func checkGoals(s trial.Search) error {
	if len(s.Goals) == 0 || len(s.Goals) > 1 && s.Method != trial.MLRsearch {
		return fmt.Errorf("%w: method %s cannot have %d goals", ErrSpec, s.Method, len(s.Goals))
	}
	for _, g := range s.Goals {
		switch {
		case !lasting(g.FinalDurationS) || !lasting(g.DurationSumS) || !lasting(g.InitialDurationS):
			return fmt.Errorf("%w: goal %q: durations must be above 0 and at most %v s", ErrSpec, g.Name, longest)
		case g.InitialDurationS > g.FinalDurationS:
			return fmt.Errorf("%w: goal %q: initial_duration_s is above final_duration_s", ErrSpec, g.Name)
		case !ratio(g.LossRatio) || !ratio(g.ExceedRatio):
			return fmt.Errorf("%w: goal %q: loss_ratio and exceed_ratio must be from 0 to less than 1", ErrSpec, g.Name)
		case !ratio(g.WidthRatio) || g.WidthRatio < narrowest:
			return fmt.Errorf("%w: goal %q: width_ratio is %v; it must be from %v to less than 1", ErrSpec, g.Name, g.WidthRatio, narrowest)
		}
	}
	return nil
}

const (
	// narrowest width: loads are rounded to seven digits, which leaves room for it.
	narrowest = 1e-4
	// longest time, seconds, and fastest load, frames a second, that make sense.
	longest, fastest = 1e6, 1e12
)

func finite(x float64) bool   { return !math.IsNaN(x) && !math.IsInf(x, 0) }
func positive(x float64) bool { return x > 0 && finite(x) }
func ratio(x float64) bool    { return x >= 0 && x < 1 }
