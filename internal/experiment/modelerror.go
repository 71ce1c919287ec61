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
	for _, n := range s.missing {
		if m.MaxLength == 0 || n <= m.MaxLength {
			return finding{}, fmt.Errorf("no trial of length %d measured %s", n, m.Metric)
		}
	}
	lengths, fewest := 0, math.MaxInt
	for _, p := range s.points {
		if m.MaxLength == 0 || p.N <= m.MaxLength {
			lengths, fewest = lengths+1, min(fewest, len(p.Y))
		}
	}
	if lengths < 3 {
		return finding{}, fmt.Errorf("the model %s is fitted to %d lengths, which any two parameters meet; it takes three", m.Name, lengths)
	}
	return finding{
		quantity: fmt.Sprintf("largest relative error of the model %s for %s", m.Name, m.Metric),
		estimate: s.fit.MaxError,
		repeats:  fewest,
		found:    "the model is off by up to " + percent(s.fit.MaxError.Value),
		value:    percent,
	}, nil
}
