package experiment

import (
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// worth is what a condition is good for. What is worth least is dropped first.
type worth int

const (
	spare    worth = iota // nobody asks for it
	printed               // the source prints a value
	selected              // a claim or a model takes it in
	needed                // a claim cannot be told without it
)

// beyond is how much less a condition at the calibrated load is worth than the source's own.
const beyond worth = 10

// valuer finds what the conditions of a run are worth.
type valuer struct {
	spec  api.ExperimentSpec
	run   trial.Run
	worth []worth
}

// worths of a run's conditions, in its order.
func worths(spec api.ExperimentSpec, conditions []trial.Condition) []worth {
	v := valuer{spec, trial.Run{Conditions: conditions}, make([]worth, len(conditions))}
	for _, r := range spec.Reference {
		v.raise(printed, matching(v.run, r.At)...)
	}
	for _, m := range spec.Models {
		v.raise(selected, matching(v.run, m.Where)...)
	}
	for _, c := range spec.Claims {
		v.claim(c.Check)
	}
	return v.worth
}

func (v *valuer) raise(to worth, conditions ...int) {
	for _, i := range conditions {
		v.worth[i] = max(v.worth[i], to)
	}
}

// claim values what one check looks at.
func (v *valuer) claim(c api.Check) {
	for _, m := range modelsOf(v.spec, c) {
		v.raise(needed, matching(v.run, m.Where)...)
	}
	if c.Metric == "" {
		return
	}
	if c.Over != "" {
		v.over(c)
		return
	}
	for _, where := range named(c) {
		found := matching(v.run, where)
		v.raise(selected, found...)
		if c.Kind == "best_ratio" {
			found = spread(found)
		}
		v.raise(needed, found...)
	}
}

// over values what a check selects at each value of a factor: of values that the check does
// not list itself, the least, the middle and the greatest are needed, and all of them by a
// check of what they come to together.
func (v *valuer) over(c api.Check) {
	values := c.Values
	if len(values) == 0 {
		values = v.present(c)
		v.at(selected, c, values)
		if !together(c) {
			values = spread(values)
		}
	}
	v.at(needed, c, values)
}

// together tells a check whose quantity is another one over fewer values.
func together(c api.Check) bool { return c.Kind == "ratio_mean" }

// at raises what a check selects at some values of the factor that it goes over.
func (v *valuer) at(to worth, c api.Check, values []any) {
	for _, x := range values {
		for _, where := range named(c) {
			v.raise(to, matching(v.run, with(where, c.Over, x))...)
		}
	}
}

// present are the values that a check goes over and for which the run has conditions of every
// selection, numbers in ascending order.
func (v *valuer) present(c api.Check) (values []any) {
	for _, x := range varies(v.spec, c) {
		if !slices.ContainsFunc(named(c), func(where map[string]any) bool { return len(matching(v.run, with(where, c.Over, x))) == 0 }) {
			values = append(values, x)
		}
	}
	slices.SortStableFunc(values, func(x, y any) int { return compare(c.Over, x, y) })
	return values
}

// compare values of a factor by what they amount to; texts keep their order.
func compare(field string, x, y any) int {
	a, first := canonical(field, x).(float64)
	b, second := canonical(field, y).(float64)
	switch {
	case first != second && first, first && second && a < b:
		return -1
	case first != second, first && second && a > b:
		return 1
	}
	return 0
}

// spread is the first, the middle and the last of a list.
func spread[T any](all []T) []T {
	if len(all) <= 3 {
		return all
	}
	return []T{all[0], all[len(all)/2], all[len(all)-1]}
}
