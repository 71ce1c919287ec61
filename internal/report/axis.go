package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// axis is the factor of a sweep that curves and tables go along.
type axis struct {
	// field as the sweep names it.
	field string
	// levels that it has here, ascending where they are numbers.
	levels []level
	// numbers tells levels that are some.
	numbers bool
}

// level is one value of a factor.
type level struct {
	value float64
	text  string
}

// fewLevels is from how many on a factor is worth an axis of its own.
const fewLevels = 3

// decades is from which ratio of the greatest level to the least on the steps between
// levels are shares rather than differences.
const decades = 30

// axis is the swept factor with the most values that are numbers, the length of the
// chain where it has as many as another.
func (r Report) axis() (best axis, has bool) {
	for _, field := range r.sweptFields() {
		a := r.axisOf(field)
		if a.numbers && (len(a.levels) >= fewLevels || field == "length" && len(a.levels) > 1) && len(a.levels) > len(best.levels) {
			best, has = a, true
		}
	}
	return best, has
}

// namedAxis is the swept factor with the most values of any kind, for a source whose
// values are to stand beside ours where no factor has numbers enough.
func (r Report) namedAxis() (best axis, has bool) {
	for _, field := range r.sweptFields() {
		if a := r.axisOf(field); len(a.levels) > max(1, len(best.levels)) {
			a.numbers = false
			best, has = a, true
		}
	}
	return best, has
}

// sweptFields are the factors of all conditions, the length of the chain before the rest.
func (r Report) sweptFields() (fields []string) {
	for _, c := range r.Conditions {
		for name := range c.Factors {
			if !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
	}
	slices.SortFunc(fields, func(a, b string) int {
		if (a == "length") != (b == "length") {
			return 1 - 2*b2i(a == "length")
		}
		return strings.Compare(a, b)
	})
	return fields
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// axisOf is the axis of one factor.
func (r Report) axisOf(field string) axis {
	a := axis{field: field, numbers: true}
	for _, c := range r.Conditions {
		l, has := a.of(c.Condition)
		if !has || slices.ContainsFunc(a.levels, l.same) {
			continue
		}
		a.levels = append(a.levels, l)
		a.numbers = a.numbers && finite(l.value)
	}
	if a.numbers {
		a.sort()
	}
	return a
}

func (a *axis) sort() {
	slices.SortStableFunc(a.levels, func(x, y level) int { return cmp.Compare(x.value, y.value) })
}

// of is the level of a condition. The direct path has a length of its own, unless it is
// itself what was asked for.
func (a axis) of(c trial.Condition) (level, bool) {
	v, has := c.Factors[a.field]
	if !has {
		return level{}, false
	}
	if _, asked := c.Factors["path"]; a.field == "length" && !asked {
		v = c.Length
	}
	return levelOf(a.field, v), true
}

// in is the level of a value that a source gives.
func (a axis) in(where map[string]any) (level, bool) {
	v, has := where[a.field]
	if !has {
		return level{}, false
	}
	return levelOf(a.field, v), true
}

// with adds levels that only a source has.
func (a axis) with(more []level) axis {
	a.levels = slices.Clone(a.levels)
	for _, l := range more {
		if !slices.ContainsFunc(a.levels, l.same) {
			a.levels = append(a.levels, l)
		}
	}
	if a.numbers {
		a.sort()
	}
	return a
}

// same tells one level written in two ways.
func (l level) same(other level) bool {
	return l.text == other.text || l.value == other.value
}

// levelOf reads a factor's value; one that is no number has none.
func levelOf(field string, v any) level {
	text := factorText(v)
	value, is := amountOf(field, text)
	if !is {
		value = math.NaN()
	}
	return level{value, text}
}

// amountOf is a factor's value as a number, in bytes, bits or packets a second, or
// seconds where it has a unit. A list of cores is none.
func amountOf(field, text string) (float64, bool) {
	if strings.HasSuffix(field, "affinity") {
		return 0, false
	}
	_, plain := rawFactor(strings.TrimPrefix(field, "load."), text)
	if v, err := strconv.ParseFloat(plain, 64); err == nil && finite(v) {
		return v, true
	}
	if rate, err := api.ParseRate(text); err == nil {
		return float64(rate), true
	}
	if size, err := api.ParseSize(text); err == nil {
		return float64(size), true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return d.Seconds(), true
	}
	return 0, false
}
