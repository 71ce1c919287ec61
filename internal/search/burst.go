package search

import (
	"fmt"
	"math"

	"nfchain.dev/nfchain/internal/trial"
)

// backToBack is RFC 9004: the longest burst at the full rate that loses nothing,
// found anew several times by halving with loss verification.
type backToBack struct{ spec trial.Search }

// BackToBack is what RFC 9004 §6.4 reports.
type BackToBack struct {
	// Lengths of the longest bursts, in frames, one a repeat.
	Lengths    trial.List[float64] `json:"lengths_frames"`
	StepFrames uint64              `json:"step_frames"`
	Frames     Spread              `json:"frames"`
	// ImpliedS is the mean length in time at the full rate; CorrectedS leaves out
	// what the function forwards meanwhile, and is what its buffers hold.
	ImpliedS   *float64 `json:"implied_buffer_s,omitempty"`
	CorrectedS *float64 `json:"corrected_buffer_s,omitempty"`
}

// full is the rate of bursts: the medium's, if that can be offered.
func (b backToBack) full() float64 {
	if b.spec.MediumPps > 0 {
		return min(b.spec.MediumPps, b.spec.MaxPps)
	}
	return b.spec.MaxPps
}

func (b backToBack) values() int {
	return int(max(1, min(math.MaxInt32, b.full()*b.spec.BurstMaxS/float64(b.spec.BurstStepFrames))))
}

// state is the lengths found and the halving under way.
func (b backToBack) state(bursts []Outcome) (found []float64, now halving) {
	now = newHalving(b.values(), b.spec)
	for _, o := range bursts {
		lost := o.loss() * float64(o.BurstFrames)
		if now = now.after(lost); now.low > now.high {
			found = append(found, float64(now.found)*float64(b.spec.BurstStepFrames))
			now = newHalving(b.values(), b.spec)
		}
	}
	return found, now
}

// Next finds the throughput first. A frame size at which that is all the medium
// carries has no burst to look for (§6.1).
func (b backToBack) Next(history []Outcome) (trial.Step, bool) {
	if len(history) >= b.spec.MaxTrials {
		return trial.Step{}, false
	}
	rate, step, more := rateOf(b.spec, history)
	if more {
		return step, true
	}
	found, now := b.state(sound(history, trial.StepBurst))
	if rate == 0 || b.exempt(history, rate) != "" || len(found) >= b.spec.Repeats {
		return trial.Step{}, false
	}
	value, _ := now.now()
	return b.burst(uint64(value)*b.spec.BurstStepFrames, rate), true
}

// burst of so many frames. The wait after it covers the time in which they still
// come at the throughput, and the standard's pause after that (§6.2).
func (b backToBack) burst(frames uint64, rate float64) trial.Step {
	sending := float64(frames) / b.full()
	step := ask(b.spec, b.full(), max(sending, 1/b.full()), "the longest burst without loss")
	step.Kind, step.BurstFrames = trial.StepBurst, frames
	step.DrainS += float64(frames)/rate - sending
	if sending > 2 {
		step.DrainS += sending
	}
	return step
}

// Result is the table of §7.
func (b backToBack) Result(history []Outcome) Result {
	r := rateResult(tally(b.spec, history), b.spec, history)
	rate, _, _ := rateOf(b.spec, history)
	bursts := sound(history, trial.StepBurst)
	found, _ := b.state(bursts)
	r.BackToBack = &BackToBack{Lengths: found, StepFrames: b.spec.BurstStepFrames, Frames: spread(found)}
	reached, slow := b.slowest(bursts)
	if mean := r.BackToBack.Frames.Mean; mean != nil && rate > 0 && !slow {
		implied := *mean / b.full()
		corrected := implied * (1 - min(1, rate/b.full()))
		r.BackToBack.ImpliedS, r.BackToBack.CorrectedS = &implied, &corrected
	}
	r.Exempt = b.exempt(history, rate)
	if r.Why = b.missing(rate, found); r.Exempt == "" && r.Why == "" && slow {
		r.Why = fmt.Sprintf("bursts were sent at %.0f frames/s where %.0f were asked for: they were not back to back, and nothing follows of buffers", reached, b.full())
	}
	if r.Exempt != "" {
		r.Why = ""
	}
	r.Irregular = r.Why != ""
	_, more := b.Next(history)
	return closed(r, more, backToBackClauses)
}

// exempt says why there is no burst to look for, if so.
func (b backToBack) exempt(history []Outcome, rate float64) string {
	goals := rateResult(Result{}, b.spec, history).Goals
	switch {
	case rate == 0:
		return ""
	case rate >= b.full():
		return fmt.Sprintf("the throughput is all of the %.0f frames/s that can be sent, so that no burst is faster than it", b.full())
	case len(goals) > 0 && goals[0].GeneratorLimited:
		return "the chain takes all that the generator can send here, so that no burst is faster than its throughput"
	}
	return ""
}

// slowest is the lowest rate at which a burst was sent, and whether that is too low
// to be back to back. A short burst is over before its rate can be told.
func (b backToBack) slowest(bursts []Outcome) (pps float64, slow bool) {
	pps = b.full()
	for _, o := range bursts {
		if o.SentPps > 0 && o.BurstFrames >= tellingBurst {
			pps = min(pps, o.SentPps)
		}
	}
	return pps, pps < b.full()*(1-slowTolerance)
}

// A burst of fewer frames tells nothing of its rate, and one within the tolerance
// of the full rate is back to back.
const (
	tellingBurst  = 1000
	slowTolerance = 0.05
)

func (b backToBack) missing(rate float64, found []float64) string {
	longest := float64(b.values()) * float64(b.spec.BurstStepFrames)
	switch {
	case rate == 0:
		return "no load without loss was found"
	case len(found) < b.spec.Repeats:
		return "not enough trials for every repeat"
	}
	for _, length := range found {
		if length >= longest {
			return "a burst of the longest length tried lost nothing; raise burst_max_s"
		}
	}
	return ""
}
