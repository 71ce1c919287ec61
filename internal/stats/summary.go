// Package stats turns repeated samples into what a reader may rely on: centre,
// spread and an interval. It is pure: no clock, no input or output, no randomness.
package stats

// Summary is what repeats of one metric under one condition come to.
type Summary struct {
	// Mean over the trials; absent for percentiles, which are never averaged.
	Mean   *float64 `json:"mean,omitempty"`
	Median float64  `json:"median"`
	// CI95 bounds the centre with 95% confidence; absent where N is too small.
	CI95 *[2]float64 `json:"ci95,omitempty"`
	// N is the number of trials that gave the metric.
	N int `json:"n"`
	// Method says how CI95 was made: "student-t" bounds the mean,
	// "order-statistics" bounds the median.
	Method string `json:"ci95_method,omitempty"`
	// Confidence is the coverage reached by Method where it is not 0.95 (order
	// statistics of fewer than six trials reach less).
	Confidence float64 `json:"confidence,omitempty"`
	// Pooled is the percentile taken over all trials' samples together.
	Pooled *float64 `json:"pooled,omitempty"`
	// Unsettled marks an interval wider than 10% of the centre.
	Unsettled bool `json:"unsettled"`
}
