package search

import (
	"maps"
	"math"
	"slices"

	"nfchain.dev/nfchain/internal/trial"
)

// Outcome is one trial that was run: what was asked and what came of it.
type Outcome struct {
	// Step is what was asked, as [Method.Next] gave it.
	trial.Step
	// OfferedPps is the load that was really sent; 0 if nobody counted.
	OfferedPps float64 `json:"offered_pps,omitempty"`
	// SentPps is how many frames were sent each second, each way; 0 if nobody counted.
	SentPps float64 `json:"sent_pps,omitempty"`
	// LossRatio is the share of the frames sent that did not arrive; NaN, or what
	// is no ratio, counts as all of them.
	LossRatio float64 `json:"loss_ratio"`
	// ForwardingRatePps is how many arrived, each second.
	ForwardingRatePps float64 `json:"forwarding_rate_pps"`
	// EffectiveDurationS is what the trial weighs in sums of duration (MLRsearch
	// §4.5); 0: its duration. Leave it so unless the trial was cut short.
	EffectiveDurationS float64 `json:"effective_duration_s,omitempty"`
	// Metrics by name, units in the name, for service levels and results.
	Metrics map[string]float64 `json:"metrics,omitempty"`
}

// unsentTolerance is the share of a load that may go unsent before it counts as
// lost. MLRsearch §4.9.1 recommends to count severe gaps, and leaves open what is
// severe; a tenth of a per cent is what a paced source is expected to keep.
const unsentTolerance = 0.001

// unsent is the share of the load that the generator failed to send, 0 where
// that is within tolerance, or is at most two frames.
func (o Outcome) unsent() float64 {
	if !positive(o.OfferedPps) || o.OfferedPps >= o.LoadPps {
		return 0
	}
	share := 1 - o.OfferedPps/o.LoadPps
	if share <= unsentTolerance || (o.LoadPps-o.OfferedPps)*o.DurationS <= 2 {
		return 0
	}
	return share
}

// loss is the trial's loss ratio, with what was not sent counted as lost.
func (o Outcome) loss() float64 {
	lost := o.LossRatio
	if math.IsNaN(lost) || lost > 1 {
		lost = 1
	}
	return 1 - (1-max(lost, 0))*(1-o.unsent())
}

// duration is what the trial weighs.
func (o Outcome) duration() float64 {
	if lasting(o.EffectiveDurationS) {
		return o.EffectiveDurationS
	}
	return o.DurationS
}

// forwarded is the trial forwarding rate (MLRsearch §4.5: load × forwarding ratio).
func (o Outcome) forwarded() float64 { return o.LoadPps * (1 - o.loss()) }

// lostFrames of the trial, unsent ones with them.
func (o Outcome) lostFrames() float64 { return o.loss() * o.LoadPps * o.duration() }

// meets tells whether a trial is a low-loss trial of the goal and keeps its limits.
func (o Outcome) meets(g trial.Goal) bool { return o.loss() <= g.LossRatio && o.keeps(g.Limits) }

func (o Outcome) keeps(limits []trial.Limit) bool {
	for _, l := range limits {
		v, measured := o.Metrics[l.Metric]
		if !measured || math.IsNaN(v) || l.AtMost != nil && v > *l.AtMost || l.AtLeast != nil && v < *l.AtLeast {
			return false
		}
	}
	return true
}

// sound keeps the trials that can have been asked for, so that rubbish in a
// history makes no rubbish of the result.
func sound(history []Outcome, kind string) []Outcome {
	var out []Outcome
	for _, o := range history {
		if o.Kind == kind && positive(o.LoadPps) && o.LoadPps <= fastest && lasting(o.DurationS) {
			out = append(out, o)
		}
	}
	return out
}

// atLoad is every trial at one load.
type atLoad struct {
	pps    float64
	trials []Outcome
}

// byLoad groups trials, the lowest load first.
func byLoad(trials []Outcome) []atLoad {
	groups := map[float64][]Outcome{}
	for _, o := range trials {
		groups[o.LoadPps] = append(groups[o.LoadPps], o)
	}
	var out []atLoad
	for _, pps := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, atLoad{pps, groups[pps]})
	}
	return out
}
