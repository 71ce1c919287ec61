package search

import "nfchain.dev/nfchain/internal/trial"

// Result is what a search found. What it did not find is absent.
type Result struct {
	// Search is the specification with every value that was applied.
	Search trial.Search `json:"search"`
	// Finished tells whether the search came to its end, and not to its limit of trials.
	Finished bool `json:"finished"`
	// Irregular tells that a goal, or what the method measures, has no regular
	// result (MLRsearch §4.8.4); Why says what is missing.
	Irregular bool   `json:"irregular"`
	Why       string `json:"why,omitempty"`
	Trials    int    `json:"trials"`
	// TrafficS is the time spent sending, WaitS the time spent waiting.
	TrafficS float64 `json:"traffic_s"`
	WaitS    float64 `json:"wait_s"`
	// Reached tells of a search whose highest load was to be found first.
	Reached *Reached `json:"reached,omitempty"`
	// Exempt says why there is nothing for the method to measure, where that is an
	// answer of its own and no failure (RFC 9004 §6.1).
	Exempt string `json:"exempt,omitempty"`
	// Goals in the order of the specification.
	Goals trial.List[GoalResult] `json:"goals"`
	// Loads is the loss at each load that was tried, for a curve: the trials of a
	// load together, weighed by duration.
	Loads      trial.List[LoadPoint] `json:"loads"`
	Latency    *Repeated             `json:"latency_ns,omitempty"`
	Recovery   *Repeated             `json:"recovery_s,omitempty"`
	BackToBack *BackToBack           `json:"back_to_back,omitempty"`
	Forwarding *Forwarding           `json:"forwarding,omitempty"`
	Compliance trial.List[Clause]    `json:"compliance"`
}

// GoalResult is what was found of one goal. All loads are frames per second of
// one direction.
type GoalResult struct {
	Goal trial.Goal `json:"goal"`
	// LowerPps is the relevant lower bound: the highest load below the upper bound
	// that meets the goal. UpperPps is the lowest that does not.
	LowerPps *float64 `json:"relevant_lower_bound_pps,omitempty"`
	UpperPps *float64 `json:"relevant_upper_bound_pps,omitempty"`
	// ConditionalPps is the conditional throughput, the forwarding rate at the
	// lower bound.
	ConditionalPps *float64 `json:"conditional_throughput_pps,omitempty"`
	// Regular if both bounds are there and no further apart than the goal's width.
	Regular bool   `json:"regular"`
	Why     string `json:"why,omitempty"`
	// Confidence that the critical load lies between the bounds: that at which a
	// full trial misses the goal as often as the exceed ratio allows, or as often as
	// not where it allows none. CriticalCI95 is where it lies with 95%. Both suppose
	// that trials are independent.
	Confidence   *float64    `json:"confidence,omitempty"`
	CriticalCI95 *[2]float64 `json:"critical_load_ci95_pps,omitempty"`
	// LossInversion tells that a load above the upper bound met the goal.
	LossInversion bool `json:"loss_inversion,omitempty"`
	// GeneratorLimited tells that the upper bound missed the goal because not all
	// of it was sent, so that the bound is the generator's and not the chain's.
	GeneratorLimited bool `json:"generator_limited,omitempty"`
}

// LoadPoint is one load of a curve of loss.
type LoadPoint struct {
	LoadPps float64 `json:"load_pps"`
	// LoadRatio is its share of the highest load.
	LoadRatio float64 `json:"load_ratio"`
	// LossRatio counts what was not sent as lost; UnsentRatio is that part of the load.
	LossRatio   float64 `json:"loss_ratio"`
	UnsentRatio float64 `json:"unsent_ratio,omitempty"`
	Trials      int     `json:"trials"`
}

// Repeated is a quantity that was measured several times at one load.
type Repeated struct {
	// LoadPps is the load, or the first of two.
	LoadPps float64 `json:"load_pps"`
	Repeats int     `json:"repeats"`
	// Metric is the name of what was measured.
	Metric string              `json:"metric"`
	Values trial.List[float64] `json:"values"`
	// UnsentRatio is the largest share of the load that went unsent in a trial.
	UnsentRatio float64 `json:"unsent_ratio,omitempty"`
	Spread
}

// Spread is how values lie. It is absent where there are none, the deviation
// where there are fewer than two.
type Spread struct {
	Mean      *float64 `json:"mean,omitempty"`
	Min       *float64 `json:"min,omitempty"`
	Max       *float64 `json:"max,omitempty"`
	Deviation *float64 `json:"standard_deviation,omitempty"`
}

// Clause is one demand of a standard, and whether this search kept it.
type Clause struct {
	Standard string `json:"standard"`
	Section  string `json:"section"`
	// Text is the demand, in our words.
	Text string `json:"text"`
	// Status is kept, partly or not.
	Status string `json:"status"`
	Why    string `json:"why,omitempty"`
}

// The states of a clause.
const (
	Kept   = "kept"
	Partly = "partly"
	Not    = "not"
)
