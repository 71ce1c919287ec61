package experiment

import (
	"errors"
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// checkSweep tries every value by itself, so that all that is wrong is told at once.
func checkSweep(spec api.ExperimentSpec) error {
	var errs []error
	seen, points := map[string]bool{}, 1
	for i, factor := range spec.Sweep {
		path := fmt.Sprintf("spec.sweep[%d]", i)
		if seen[factor.Field] {
			errs = append(errs, fmt.Errorf("%w: %s.field: %s is varied twice", ErrSweep, path, factor.Field))
		}
		seen[factor.Field] = true
		errs = append(errs, checkFactor(spec, factor, path)...)
		points = min(points*max(1, len(factor.Values)), MaxPoints+1)
	}
	if points > MaxPoints {
		errs = append(errs, fmt.Errorf("%w: spec.sweep: has more than %d combinations", ErrSweep, MaxPoints))
	}
	return errors.Join(errs...)
}

func checkFactor(spec api.ExperimentSpec, factor api.Factor, path string) (errs []error) {
	if _, known := fields[factor.Field]; !known {
		return []error{fmt.Errorf("%w: %s.field: %w", ErrSweep, path, unknownField(factor.Field))}
	}
	if len(factor.Values) == 0 {
		errs = append(errs, fmt.Errorf("%w: %s.values: is empty", ErrSweep, path))
	}
	for j, v := range factor.Values {
		p := start(spec)
		if err := p.put(factor.Field, v); err != nil {
			errs = append(errs, fmt.Errorf("%w: %s.values[%d]: %w", ErrSweep, path, j, err))
		}
		if repeated(factor, j) {
			errs = append(errs, fmt.Errorf("%w: %s.values[%d]: %v is there already", ErrSweep, path, j, v))
		}
	}
	return errs
}

// repeated tells whether a value stands earlier in its list too.
func repeated(factor api.Factor, j int) bool {
	return slices.ContainsFunc(factor.Values[:j], func(v any) bool { return same(factor.Field, v, factor.Values[j]) })
}
