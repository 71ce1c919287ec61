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
	// Floor says that the difference is smaller than the machine can show, by its calibration;
	// empty where it is not, or where nobody knows. Whoever knows the calibration puts it in.
	Floor string `json:"noise_floor,omitempty"`
}

// Fit is a model fitted to the conditions of a run.
type Fit struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Metric string `json:"metric"`
	// Over is the factor that the model goes over, and Where the values of others.
	Over  string         `json:"over,omitempty"`
	Where map[string]any `json:"where,omitempty"`
	// Formula of the model in plain text.
	Formula string     `json:"formula"`
	Params  []Param    `json:"params"`
	Points  []FitPoint `json:"points"`
	// Range is the least and the greatest value of Over that was fitted: the model
	// holds there, and elsewhere it is stretched.
	Range *[2]float64 `json:"range,omitempty"`
	// Scatter of the trials about the curve, as a share of the value (standard
	// deviation of the logarithm); absent where too few trials tell.
	Scatter *float64 `json:"scatter_ratio,omitempty"`
	// MaxError is the largest absolute relative error over the fitted values, absent
	// where the parameters always meet them.
	MaxError *Bounded `json:"max_error,omitempty"`
	// HeldOut is how far the model is from what it was not fitted to.
	HeldOut *HeldOut `json:"held_out,omitempty"`
	// Curve are values of Over with what the model has there, for a chart; absent
	// where the model looks at more than Over.
	Curve [][2]float64 `json:"curve,omitempty"`
	// Notes a reader must see beside the numbers.
	Notes []string `json:"notes"`
}

// Param is one fitted parameter.
type Param struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Unit of the value: bps, pps or ns as in metrics' names, or in words (ns/packet);
	// absent for shares.
	Unit string      `json:"unit,omitempty"`
	CI95 *[2]float64 `json:"ci95,omitempty"`
}

// Bounded is a number with its interval.
type Bounded struct {
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
}

// FitPoint is one value of the factor, as measured and as the model has it.
type FitPoint struct {
	// X is the value, Length the same where it is one, and Flows how many there were
	// at once, for a model that goes over both.
	X         float64 `json:"x"`
	Length    int     `json:"length,omitempty"`
	Flows     int     `json:"flows,omitempty"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
	// RelativeError is predicted/measured − 1.
	RelativeError float64 `json:"relative_error"`
	// Fitted is false for values that were left out of the fit, and Stretched true for
	// those of them that lie outside its range.
	Fitted    bool `json:"fitted"`
	Stretched bool `json:"stretched,omitempty"`
}

// HeldOut is how far a model is from values that it was not fitted to: those that are
// left out of the fit, or else each in turn.
type HeldOut struct {
	// ErrorRatio is the root mean square of ln(predicted/measured), about a share.
	ErrorRatio float64     `json:"error_ratio"`
	CI95       *[2]float64 `json:"ci95,omitempty"`
	InTurn     bool        `json:"in_turn"`
	Points     []FitPoint  `json:"points"`
}

// Ranking sets models of the same trials side by side, by their error at what they were
// not fitted to.
type Ranking struct {
	Metric string         `json:"metric"`
	Over   string         `json:"over"`
	Where  map[string]any `json:"where,omitempty"`
	// Models by name, the least error first.
	Models []Ranked `json:"models"`
	// Best is the one that foretells better than every other; empty where that cannot
	// be told, and Reason says why.
	Best   string `json:"best,omitempty"`
	Reason string `json:"reason"`
}

// Ranked is one model of a ranking.
type Ranked struct {
	Name       string      `json:"name"`
	Kind       string      `json:"kind"`
	ErrorRatio float64     `json:"error_ratio"`
	CI95       *[2]float64 `json:"ci95,omitempty"`
	// OverBest is the error over that of the first, with an interval that holds for all
	// of the ranking at once; absent for the first.
	OverBest *Bounded `json:"over_best,omitempty"`
}
