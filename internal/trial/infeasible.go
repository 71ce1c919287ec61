package trial

// Infeasible is a combination of a sweep's values that cannot be measured here. It is
// no condition and has no trials.
type Infeasible struct {
	// Factors are the values by field name.
	Factors Map[any] `json:"factors"`
	Reason  string   `json:"reason"`
}
