// Package stats turns repeated samples into what a reader may rely on: centre,
// spread and an interval, whether it drifted, what stands out, and how small a
// difference it would have shown. It is pure: no clock, no input or output; what
// it draws at random it draws from a fixed seed, so that the same samples always
// come to the same.
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
	// Method says how CI95 was made: "student-t" and "bootstrap-t" bound the mean,
	// "order-statistics" bounds the median.
	Method string `json:"ci95_method,omitempty"`
	// Reason says why Method was chosen.
	Reason string `json:"ci95_reason,omitempty"`
	// Confidence is the coverage reached by Method where it is not 0.95 (order
	// statistics of fewer than six trials reach less).
	Confidence float64 `json:"confidence,omitempty"`
	// Pooled is the percentile taken over all trials' samples together.
	Pooled *float64 `json:"pooled,omitempty"`
	// Unsettled marks an interval wider than 10% of the centre.
	Unsettled bool `json:"unsettled"`
	// Instances is of how many chains, made one after the other from the same
	// file, the repeats are, where that is more than one. CI95 is then of the
	// instances' centres, because repeats on one instance are not independent.
	Instances int `json:"instances,omitempty"`
	// Components parts the variance within and between instances.
	Components *Components `json:"components,omitempty"`
	// Drift is the trend over the order of the trials; absent where too few.
	Drift *Trend `json:"drift,omitempty"`
	// Outliers are the repeats, counted from 1, that stand out. They are shown, and
	// count like any other.
	Outliers []int `json:"outliers,omitempty"`
	// DetectableRatio is the smallest difference of means, as a share of the mean,
	// that as many repeats on each side would show with 95% confidence and 80%
	// power, if they scatter as these do.
	DetectableRatio *float64 `json:"detectable_ratio,omitempty"`
}
