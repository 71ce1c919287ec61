// Package experiment turns an experiment's file into points to measure, an order
// to measure them in, and verdicts on what the source claims. It is pure: what it
// is given decides what it returns.
package experiment

// The verdicts a claim can come back with.
const (
	Holds        = "holds"
	DoesNotHold  = "does not hold"
	Undecided    = "undecided"
	CannotBeTold = "cannot be told here"
)

// Verdict is what the measurements say of one claim.
type Verdict struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	At      string `json:"at,omitempty"`
	Note    string `json:"note,omitempty"`
	Verdict string `json:"verdict"`
	// Reason puts the verdict in words, with the numbers.
	Reason string `json:"reason"`
	// Quantity names what Estimate is: "loss of goodput_bps from length=2 to length=3".
	Quantity string      `json:"quantity,omitempty"`
	Estimate *float64    `json:"estimate,omitempty"`
	CI95     *[2]float64 `json:"ci95,omitempty"`
	AtLeast  *float64    `json:"at_least,omitempty"`
	AtMost   *float64    `json:"at_most,omitempty"`
}

// Fit is a model fitted to the conditions of a run.
type Fit struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Metric string `json:"metric"`
	// Formula of the model in plain text.
	Formula string     `json:"formula"`
	Params  []Param    `json:"params"`
	Points  []FitPoint `json:"points"`
	// Notes a reader must see beside the numbers.
	Notes []string `json:"notes"`
}

// Param is one fitted parameter.
type Param struct {
	Name  string      `json:"name"`
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
}

// FitPoint is one length, as measured and as the model has it.
type FitPoint struct {
	Length        int     `json:"length"`
	Measured      float64 `json:"measured"`
	Predicted     float64 `json:"predicted"`
	RelativeError float64 `json:"relative_error"`
	// Fitted is false for lengths that were left out of the fit.
	Fitted bool `json:"fitted"`
}
