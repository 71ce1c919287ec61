package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// levels are what a check found at the values of the factor that it goes over.
type levels struct {
	over    string
	values  []any
	samples []sample
	// missing says why there is nothing at some other values; empty where all are there.
	missing []string
}

// levelsOf picks the condition that where selects at each value that a check goes
// over. Its error is the reason why the claim cannot be told.
func levelsOf(spec api.ExperimentSpec, run trial.Run, c api.Check, where map[string]any) (levels, error) {
	values, err := valuesOver(spec, run, c)
	if err != nil {
		return levels{}, err
	}
	l := levels{over: c.Over}
	for _, v := range values {
		s, err := pick(run, with(where, c.Over, v), c.Metric)
		if err != nil {
			l.missing = append(l.missing, err.Error())
			continue
		}
		l.values, l.samples = append(l.values, v), append(l.samples, s)
	}
	return l, nil
}

// valuesOver are the values that a check goes over: its own, or all that the
// experiment gives the factor together with what the check selects. They are the
// experiment's and not the run's, so that one that could not be measured is missed; those
// are left out that the run dropped for want of time.
func valuesOver(spec api.ExperimentSpec, run trial.Run, c api.Check) ([]any, error) {
	values := c.Values
	if len(values) == 0 {
		values = slices.DeleteFunc(varies(spec, c), func(v any) bool { return leftOut(run, c, v) })
	}
	if c.Over == "" || len(values) == 0 {
		return nil, fmt.Errorf("the experiment does not vary %q, over which the check goes", c.Over)
	}
	return values, nil
}

func varies(spec api.ExperimentSpec, c api.Check) (values []any) {
	add := func(v any) {
		if !slices.ContainsFunc(values, func(w any) bool { return same(c.Over, v, w) }) {
			values = append(values, v)
		}
	}
	for _, f := range spec.Sweep {
		if f.Field == c.Over {
			for _, v := range f.Values {
				add(v)
			}
		}
	}
	for _, cell := range spec.Cells {
		if v, has := cell[c.Over]; has && (agrees(cell, c.A) || len(c.B) > 0 && agrees(cell, c.B)) {
			add(v)
		}
	}
	return values
}

// agrees tells whether a cell has no other value of any field than where has.
func agrees(cell, where map[string]any) bool {
	for field, want := range where {
		if have, has := cell[field]; has && !same(field, have, want) {
			return false
		}
	}
	return true
}

func with(where map[string]any, field string, v any) map[string]any {
	all := maps.Clone(where)
	if all == nil {
		all = map[string]any{}
	}
	all[field] = v
	return all
}

// whole tells why a check that needs every one of its values cannot be told.
func (l levels) whole() error {
	if len(l.missing) > 0 {
		return fmt.Errorf("%s", strings.Join(l.missing, "; "))
	}
	if len(l.values) < 2 {
		return fmt.Errorf("%s has one value only", l.over)
	}
	return nil
}

// numbers are the values as numbers.
func (l levels) numbers() ([]float64, error) {
	out := make([]float64, len(l.values))
	for i, v := range l.values {
		x, is := number(v)
		if text, isText := v.(string); isText {
			x, is = api.LevelOf(l.over, text)
		}
		if !is {
			return nil, fmt.Errorf("%s is no number", Describe(map[string]any{l.over: v}))
		}
		out[i] = x
	}
	return out, nil
}

// at names the i-th value: "flows=8".
func (l levels) at(i int) string { return Describe(map[string]any{l.over: l.values[i]}) }

// all names every value: "flows=1, 4, 8".
func (l levels) all() string {
	words := make([]string, len(l.values))
	for i := range l.values {
		words[i] = strings.TrimPrefix(l.at(i), l.over+"=")
	}
	return l.over + "=" + strings.Join(words, ", ")
}

// fewest repeats of any of the values.
func fewest(samples []sample) int {
	_, n := valuesOf(samples)
	return n
}
