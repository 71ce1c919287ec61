package experiment

import (
	"fmt"
	"math"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// findModelError estimates the largest relative error of a model over its fitted
// lengths. Two lengths tell nothing, since the model's two parameters always meet
// them; nor does a fit that waits for some of its lengths.
func findModelError(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	at := slices.IndexFunc(spec.Models, func(m api.Model) bool { return m.Name == c.Model })
	if at < 0 {
		return finding{}, fmt.Errorf("the experiment has no model %q", c.Model)
	}
	m := spec.Models[at]
	s, err := collect(m, run)
	if err != nil {
		return finding{}, err
	}
	if err := s.enough(m); err != nil {
		return finding{}, err
	}
	return finding{
		quantity: fmt.Sprintf("largest relative error of the model %s for %s", m.Name, m.Metric),
		estimate: s.fit.MaxError,
		repeats:  s.fewest(m),
		found:    "the model is off by up to " + percent(s.fit.MaxError.Value),
		value:    percent,
	}, nil
}

// enough tells what a fit lacks for its error to mean anything.
func (s series) enough(m api.Model) error {
	for _, n := range s.missing {
		if fitted(m, n) {
			return fmt.Errorf("no trial of length %d measured %s", n, m.Metric)
		}
	}
	lengths := 0
	for _, p := range s.points {
		if fitted(m, p.N) {
			lengths++
		}
	}
	if lengths < 3 {
		return fmt.Errorf("the model %s is fitted to %d lengths, which its two parameters always meet; it takes three", m.Name, lengths)
	}
	return nil
}

// fewest is the number of trials of the fitted length that has the fewest.
func (s series) fewest(m api.Model) int {
	n := math.MaxInt
	for _, p := range s.points {
		if fitted(m, p.N) {
			n = min(n, len(p.Y))
		}
	}
	return n
}

// fitted tells whether a model is fitted to a length, not only compared with it.
func fitted(m api.Model, length int) bool { return m.MaxLength == 0 || length <= m.MaxLength }
