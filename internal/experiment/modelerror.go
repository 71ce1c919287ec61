package experiment

import (
	"fmt"
	"math"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// findModelError estimates the largest relative error of a model over its fitted
// values. As many values as parameters tell nothing, since the parameters always meet
// them; nor does a fit that waits for some of its values.
func findModelError(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	s, err := seriesOf(spec, run, c.Model)
	if err != nil {
		return finding{}, err
	}
	if err := s.complete(false); err != nil {
		return finding{}, err
	}
	if err := s.solve(); err != nil {
		return finding{}, err
	}
	if err := s.enough(); err != nil {
		return finding{}, err
	}
	return finding{
		quantity: fmt.Sprintf("largest relative error of the model %s for %s", s.m.Name, s.m.Metric),
		estimate: s.fit.MaxError,
		repeats:  s.fewest(),
		found:    "the model is off by up to " + percent(s.fit.MaxError.Value),
		value:    percent,
	}, nil
}

// findModelBetter estimates the error of a model, at what it was not fitted to, over
// that of another. Both have to have been tried on the same.
func findModelBetter(spec api.ExperimentSpec, run trial.Run, c api.Check) (finding, error) {
	a, err := seriesOf(spec, run, c.Model)
	if err != nil {
		return finding{}, err
	}
	b, err := seriesOf(spec, run, c.Other)
	if err != nil {
		return finding{}, err
	}
	for _, s := range []series{a, b} {
		if err := s.complete(true); err != nil {
			return finding{}, err
		}
	}
	if a.m.Metric != b.m.Metric || a.over != b.over {
		return finding{}, fmt.Errorf("the models %s and %s are not of the same metric over the same factor", a.m.Name, b.m.Name)
	}
	ratio, err := model.Better(0.95, a.Series, b.Series)
	if err != nil {
		return finding{}, fmt.Errorf("%s", plainly(err))
	}
	return finding{
		quantity: fmt.Sprintf("held-out error of the model %s over that of %s for %s", a.m.Name, b.m.Name, a.m.Metric),
		estimate: ratio,
		repeats:  min(a.fewest(), b.fewest()),
		found:    fmt.Sprintf("the model %s is off by %s times as much as %s at what neither was fitted to", a.m.Name, times(ratio.Value), b.m.Name),
		value:    times,
	}, nil
}

// seriesOf gathers what a model of the experiment is fitted to.
func seriesOf(spec api.ExperimentSpec, run trial.Run, name string) (series, error) {
	at := slices.IndexFunc(spec.Models, func(m api.Model) bool { return m.Name == name })
	if at < 0 {
		return series{}, fmt.Errorf("the experiment has no model %q", name)
	}
	return collect(spec.Models, spec.Models[at], run)
}

// complete tells what a fit waits for, and what its error at values that were left out
// waits for, if that is wanted.
func (s series) complete(withLeft bool) error {
	for _, x := range s.missing {
		if withLeft || !s.leaves(x) {
			return fmt.Errorf("no trial of %s %s measured %s", s.over, short(x), s.m.Metric)
		}
	}
	return nil
}

// enough tells what a fit lacks for its error to mean anything.
func (s series) enough() error {
	parameters, values := model.Parameters(s.Series), 0
	for _, l := range s.Levels {
		if !l.Left {
			values++
		}
	}
	if values <= parameters {
		return fmt.Errorf("the model %s is fitted to %d values of %s, which its %d parameters always meet; it takes %d", s.m.Name, values, s.over, parameters, parameters+1)
	}
	return nil
}

// fewest is the number of trials of the fitted value that has the fewest.
func (s series) fewest() int {
	n := math.MaxInt
	for _, l := range s.Levels {
		if !l.Left {
			n = min(n, len(l.Y))
		}
	}
	return n
}
