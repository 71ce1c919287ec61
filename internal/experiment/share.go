package experiment

// Span is how long an experiment takes, s: at least, when only what its claims need is
// measured, and at most, when everything is.
type Span struct {
	Least float64 `json:"least_s"`
	Most  float64 `json:"most_s"`
}

// Share divides a time among experiments, s. Each has what it needs at least, even where
// that is more than there is; what is left goes to them in proportion to what they could
// still use, and none has more than that.
func Share(budget float64, spans []Span) []float64 {
	least, more := 0.0, 0.0
	for _, s := range spans {
		least += s.Least
		more += s.Most - s.Least
	}
	portion := 0.0
	if more > 0 {
		portion = min(1, max(0, (budget-least)/more))
	}
	shares := make([]float64, len(spans))
	for i, s := range spans {
		shares[i] = s.Least + portion*(s.Most-s.Least)
	}
	return shares
}
