package trial

// The methods of a search.
const (
	RFC2544Throughput     = "rfc2544_throughput"      // RFC 2544 §26.1, by halving
	RFC2544StepDown       = "rfc2544_step_down"       // RFC 2544 §26.1, from above in equal steps
	RFC2544Latency        = "rfc2544_latency"         // RFC 2544 §26.2
	RFC2544FrameLoss      = "rfc2544_frame_loss"      // RFC 2544 §26.3
	RFC2544Recovery       = "rfc2544_recovery"        // RFC 2544 §26.5
	RFC9004BackToBack     = "rfc9004_back_to_back"    // RFC 9004, which updates RFC 2544 §26.4
	RFC2889ForwardingRate = "rfc2889_forwarding_rate" // RFC 2889 §5.1: FRMOL and MFR
	TST009                = "tst009"                  // ETSI GS NFV-TST 009 §12.3: halving with loss verification
	MLRsearch             = "mlrsearch"               // draft-ietf-bmwg-mlrsearch-15, to be RFC 9971
)

// Methods are all of them, in the order in which help lists them.
func Methods() []string {
	return []string{
		MLRsearch, RFC2544Throughput, RFC2544StepDown, RFC2544Latency, RFC2544FrameLoss, RFC2544Recovery,
		RFC9004BackToBack, RFC2889ForwardingRate, TST009,
	}
}

// Search is what is looked for, and how. Loads are frames per second of one
// direction (RFC 2285 §3.5.1: per interface), also where traffic goes both ways.
// A zero, or an absent value, is the method's default.
type Search struct {
	Method string `json:"method"`
	// Goals: MLRsearch takes several, the other methods that have bounds one.
	Goals List[Goal] `json:"goals"`
	// MinPps and MaxPps bound every load that is asked for.
	MinPps float64 `json:"min_pps"`
	MaxPps float64 `json:"max_pps"`
	// Reach tells that MaxPps is what the generator can send by itself: the search
	// begins by finding how much of that it can send through the chain.
	Reach bool `json:"reach,omitempty"`
	// MediumPps is the most frames a second that the medium carries at this frame
	// size (RFC 2544 §20); absent where it has no such limit.
	MediumPps float64 `json:"medium_pps,omitempty"`
	// ThroughputPps is the throughput where it is known, for methods that start from
	// it. Absent, they find it first.
	ThroughputPps float64 `json:"throughput_pps,omitempty"`
	// DurationS of the trials after the throughput is known, or of every trial of a
	// method that has no goal.
	DurationS float64 `json:"duration_s,omitempty"`
	// StepRatio is the step between loads, as a share of MaxPps.
	StepRatio float64 `json:"step_ratio,omitempty"`
	// Repeats of what is measured when a load or a longest burst is found.
	Repeats int `json:"repeats,omitempty"`
	// LossTrials is how many trials a load may have before it counts as lossy
	// (TST 009 §12.3.3: max(r)), and LossFrames how many lost frames need no second trial (z).
	LossTrials int     `json:"loss_trials,omitempty"`
	LossFrames float64 `json:"loss_frames,omitempty"`
	// BurstMaxS is the longest burst to try, in seconds of sending, and
	// BurstStepFrames the step between lengths.
	BurstMaxS       float64 `json:"burst_max_s,omitempty"`
	BurstStepFrames uint64  `json:"burst_step_frames,omitempty"`
	Waits           *Waits  `json:"waits,omitempty"`
	// LearningFrames are sent before the pause that is for them; absent, the tool sends none.
	LearningFrames bool `json:"learning_frames,omitempty"`
	// MaxTrials ends a search that does not end by itself.
	MaxTrials int `json:"max_trials,omitempty"`
	// Quick takes short defaults, which deviate from the standards.
	Quick bool `json:"quick,omitempty"`
}

// Waits are the pauses of a trial (RFC 2544 §23).
type Waits struct {
	// LearnS after the frames that fill tables; DrainS after the last frame, during
	// which frames still count; SettleS until the next trial.
	LearnS  float64 `json:"learn_s"`
	DrainS  float64 `json:"drain_s"`
	SettleS float64 `json:"settle_s"`
}

// Goal is what a load must meet (MLRsearch §4.6).
type Goal struct {
	Name string `json:"name"`
	// FinalDurationS is the least duration of a trial that can show that a load meets the goal.
	FinalDurationS float64 `json:"final_duration_s"`
	// DurationSumS of trials at one load is always enough to classify it.
	DurationSumS float64 `json:"duration_sum_s"`
	// LossRatio that a trial may have, from 0 to less than 1.
	LossRatio float64 `json:"loss_ratio"`
	// ExceedRatio is the share of trials, by duration, that may fall short.
	ExceedRatio float64 `json:"exceed_ratio"`
	// WidthRatio is how far the bounds may be apart, as a share of the upper one.
	WidthRatio float64 `json:"width_ratio"`
	// InitialDurationS is the shortest trial to look around with.
	InitialDurationS float64 `json:"initial_duration_s,omitempty"`
	// Limits are service levels that a trial must keep besides.
	Limits List[Limit] `json:"limits"`
}

// Limit is a service level: the metric, in the unit that its name says, must be
// at most, or at least, a value. A trial that did not measure the metric misses it.
type Limit struct {
	Metric  string   `json:"metric"`
	AtMost  *float64 `json:"at_most,omitempty"`
	AtLeast *float64 `json:"at_least,omitempty"`
}

// The kinds of trial that a search asks for.
const (
	StepLoad     = "load"     // one load for a time
	StepReach    = "reach"    // one load for a time, to see how much of it can be sent
	StepLatency  = "latency"  // one load, with one tagged frame
	StepBurst    = "burst"    // frames back to back, then silence
	StepRecovery = "recovery" // an overload, then a lower load
)

// Step is one trial that a search asks for.
type Step struct {
	Kind      string  `json:"kind"`
	LoadPps   float64 `json:"load_pps"`
	DurationS float64 `json:"duration_s"`
	Waits
	// TagAfterS is when the tagged frame of a latency trial is sent.
	TagAfterS float64 `json:"tag_after_s,omitempty"`
	// BurstFrames is the length of a burst.
	BurstFrames uint64 `json:"burst_frames,omitempty"`
	// ThenPps for ThenS is the second load of a recovery trial.
	ThenPps float64 `json:"then_pps,omitempty"`
	ThenS   float64 `json:"then_s,omitempty"`
	// Why the search asks for it.
	Why string `json:"why"`
}
