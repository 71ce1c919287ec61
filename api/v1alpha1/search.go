package v1alpha1

// Search asks for loads to be searched for instead of given: each trial's load
// follows from the trials before it. What is not given is as the method's
// standard has it. All rates are of frames, such as 100kpps, in one direction.
type Search struct {
	// Method: mlrsearch (draft-ietf-bmwg-mlrsearch, several goals at once),
	// rfc2544_throughput (by halving), rfc2544_step_down (the same from above),
	// rfc2544_latency, rfc2544_frame_loss, rfc2544_recovery, rfc9004_back_to_back,
	// rfc2889_forwarding_rate, tst009 (halving with loss verification).
	Method string `json:"method" jsonschema:"required,enum=mlrsearch,enum=rfc2544_throughput,enum=rfc2544_step_down,enum=rfc2544_latency,enum=rfc2544_frame_loss,enum=rfc2544_recovery,enum=rfc9004_back_to_back,enum=rfc2889_forwarding_rate,enum=tst009"`
	// Goals of the loads: any number for mlrsearch (default: ndr and pdr), one for
	// the methods that find a throughput (default: no loss in 60 s).
	Goals []SearchGoal `json:"goals,omitempty"`
	// MinRate is the lowest load to try. Default: a thousandth of the highest.
	MinRate LoadRate `json:"min_rate,omitzero"`
	// MaxRate is the highest load to try. Default: what the generator can send.
	MaxRate LoadRate `json:"max_rate,omitzero"`
	// MediumRate is the most frames that the medium carries at this frame size
	// (RFC 2544 §20). Default: no limit.
	MediumRate LoadRate `json:"medium_rate,omitzero"`
	// Throughput to measure at, where it is known: for latency, recovery and
	// back-to-back, which otherwise find it first.
	Throughput LoadRate `json:"throughput,omitzero"`
	// Duration of the trials at the throughput, or of every trial of a method
	// without goals. Default: the standard's (latency 120s, forwarding rate 30s, else 60s).
	Duration Duration `json:"duration,omitempty"`
	// StepRatio between loads, as a share of the highest: default 0.1, or 0.02 for rfc2544_step_down.
	StepRatio float64 `json:"step_ratio,omitzero" jsonschema:"minimum=0.001,maximum=1"`
	// Repeats of latency (default 20), recovery (10) and back-to-back (50).
	Repeats int `json:"repeats,omitzero" jsonschema:"minimum=1,maximum=10000"`
	// LossTrials that a load or burst may have before it counts as lossy. Default 3.
	LossTrials int `json:"loss_trials,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// LossFrames are so many that no second trial is worth it. Default 5000.
	LossFrames int `json:"loss_frames,omitzero" jsonschema:"minimum=1"`
	// BurstMax is the longest burst to try, in time of sending. Default 2s.
	BurstMax Duration `json:"burst_max,omitempty"`
	// BurstStep is the step between lengths of bursts, in frames. Default 16.
	BurstStep int `json:"burst_step_frames,omitzero" jsonschema:"minimum=1,maximum=1000000"`
	// Waits of a trial. Default: RFC 2544's, or for mlrsearch 1s to drain.
	Waits *SearchWaits `json:"waits,omitempty"`
	// MaxTrials ends a search that does not end by itself.
	MaxTrials int `json:"max_trials,omitzero" jsonschema:"minimum=1,maximum=100000"`
	// Quick takes trials of a second, three repeats and short waits, which deviates
	// from the standards, and the report says so.
	Quick bool `json:"quick,omitempty"`
}

// SearchWaits are the pauses of a trial (RFC 2544 §23).
type SearchWaits struct {
	// Learn is the pause after the frames that fill tables.
	Learn Duration `json:"learn,omitempty"`
	// Drain is the time after the last frame in which frames still count.
	Drain Duration `json:"drain,omitempty"`
	// Settle is the pause before the next trial.
	Settle Duration `json:"settle,omitempty"`
}

// SearchGoal is what a load must meet (MLRsearch §4.6).
type SearchGoal struct {
	// Like takes what is not given here from a known goal: ndr (no loss in half of
	// 21 trials of 1s), pdr (the same with 0.5% of loss), rfc2544 (no loss in
	// 60s), tst009 (no loss in one of two trials of 60s).
	Like string `json:"like,omitempty" jsonschema:"enum=ndr,enum=pdr,enum=rfc2544,enum=tst009"`
	// Name of the goal in results. Default: that of the goal it is like.
	Name string `json:"name,omitempty"`
	// FinalDuration is the least duration of a trial that can show that a load meets the goal.
	FinalDuration Duration `json:"final_duration,omitempty"`
	// DurationSum of trials at one load is always enough to classify it.
	DurationSum Duration `json:"duration_sum,omitempty"`
	// InitialDuration is the shortest trial to look around with. Default 1s for mlrsearch, else the final one.
	InitialDuration Duration `json:"initial_duration,omitempty"`
	// LossRatio that a trial may have, from 0 to less than 1.
	LossRatio *float64 `json:"loss_ratio,omitempty" jsonschema:"minimum=0,maximum=0.999999"`
	// ExceedRatio is the share of trials, by duration, that may fall short.
	ExceedRatio *float64 `json:"exceed_ratio,omitempty" jsonschema:"minimum=0,maximum=0.999"`
	// WidthRatio is how far the bounds may be apart, as a share of the upper one. Default 0.005.
	WidthRatio *float64 `json:"width_ratio,omitempty" jsonschema:"minimum=0.0001,maximum=0.5"`
	// Limits are service levels that a trial must keep besides.
	Limits []SearchLimit `json:"limits,omitempty"`
}

// SearchLimit is a service level: a metric of a trial, in the unit that its name
// says, and what it may be, such as one_way_latency_p99_ns, at most 50000.
type SearchLimit struct {
	// Metric by its name.
	Metric string `json:"metric" jsonschema:"required"`
	// AtMost and AtLeast bound the metric; one is needed.
	AtMost  *float64 `json:"at_most,omitempty"`
	AtLeast *float64 `json:"at_least,omitempty"`
}
