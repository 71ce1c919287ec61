package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
)

// checkSweep tries every value by itself, so that all that is wrong is told at once.
func checkSweep(spec api.ExperimentSpec) error {
	var errs []error
	seen, points := map[string]bool{}, min(max(1, len(spec.Cells)), MaxPoints+1)
	errs = append(errs, checkCells(spec)...)
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
	if !varied(factor.Field) {
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

// checkCells tries every value of every cell by itself.
func checkCells(spec api.ExperimentSpec) (errs []error) {
	for i, cell := range spec.Cells {
		for _, field := range slices.Sorted(maps.Keys(cell)) {
			path := fmt.Sprintf("spec.cells[%d].%s", i, field)
			if !varied(field) {
				errs = append(errs, fmt.Errorf("%w: %s: %w", ErrSweep, path, unknownField(field)))
				continue
			}
			if slices.ContainsFunc(spec.Sweep, func(f api.Factor) bool { return f.Field == field }) {
				errs = append(errs, fmt.Errorf("%w: %s: is varied by the sweep too", ErrSweep, path))
			}
			p := start(spec)
			if err := p.put(field, cell[field]); err != nil {
				errs = append(errs, fmt.Errorf("%w: %s: %w", ErrSweep, path, err))
			}
		}
	}
	return errs
}

// repeated tells whether a value stands earlier in its list too.
func repeated(factor api.Factor, j int) bool {
	return slices.ContainsFunc(factor.Values[:j], func(v any) bool { return same(factor.Field, v, factor.Values[j]) })
}
