package v1alpha1

import (
	"math"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// checkKind is what a check of one kind is made of.
type checkKind struct {
	// needs are the fields that it cannot do without, takes those that it may have too.
	needs, takes []string
	// least and most bound what its estimate can be.
	least, most float64
}

// checkKinds are the kinds that estimate something.
var checkKinds = map[string]checkKind{
	"value":         {fields("metric"), fields("a"), 0, math.Inf(1)},
	"loss":          {fields("metric a b"), nil, math.Inf(-1), 1},
	"ratio":         {fields("metric a b"), nil, 0, math.Inf(1)},
	"best_ratio":    {fields("metric a b"), nil, 0, math.Inf(1)},
	"ratio_each":    {fields("metric a b over"), fields("values"), 0, math.Inf(1)},
	"ratio_mean":    {fields("metric a b over"), fields("values"), 0, math.Inf(1)},
	"ratio_change":  {fields("metric a b c d"), nil, 0, math.Inf(1)},
	"flat":          {fields("metric over"), fields("a values"), 0, math.Inf(1)},
	"rises":         {fields("metric over"), fields("a values scale"), math.Inf(-1), math.Inf(1)},
	"peak":          {fields("metric over"), fields("a values"), math.Inf(-1), math.Inf(1)},
	"possible":      {fields("metric over refusal"), fields("a values"), math.Inf(-1), math.Inf(1)},
	"rank_changes":  {fields("metric a b over"), fields("values"), -1, math.Inf(1)},
	"between_share": {fields("metric a"), nil, 0, 1},
	"spread":        {fields("metric a"), nil, 0, math.Inf(1)},
	"spread_ratio":  {fields("metric a b"), nil, 0, math.Inf(1)},
	"slope_fades":   {fields("metric a b c d"), nil, math.Inf(-1), math.Inf(1)},
	"model_error":   {fields("model"), nil, 0, math.Inf(1)},
	"model_better":  {fields("model other"), nil, 0, math.Inf(1)},
}

func fields(names string) []string { return strings.Fields(names) }

// given tells which fields of a check the file has.
func (c Check) given() map[string]bool {
	return map[string]bool{
		"metric": c.Metric != "", "a": len(c.A) > 0, "b": len(c.B) > 0, "c": len(c.C) > 0, "d": len(c.D) > 0,
		"over": c.Over != "", "values": len(c.Values) > 0, "scale": c.Scale != "", "refusal": c.Refusal != "", "model": c.Model != "", "other": c.Other != "",
	}
}

// selectors are the selections of conditions of a check.
func (c Check) selectors() map[string]map[string]any {
	return map[string]map[string]any{"a": c.A, "b": c.B, "c": c.C, "d": c.D}
}

func checkCheck(c Check, models []string, swept sweep, at place) []FieldProblem {
	var f findings
	for _, name := range []string{"a", "b", "c", "d"} {
		f.under(name, swept.checkSelector(c.selectors()[name]))
	}
	f.under("", c.checkFields(at))
	if c.Model != "" && models != nil {
		f.add("model", unknown(c.Model, "model of this experiment", models))
	}
	if c.Other != "" && models != nil {
		f.add("other", unknown(c.Other, "model of this experiment", models))
	}
	if c.Other != "" && c.Other == c.Model {
		f.addf("other", "is the model itself")
	}
	f.under("", swept.checkOver(c))
	f.under("", checkRange(c, at))
	return f
}

// checkFields complains of fields that the kind lacks, and of those it has no use for.
func (c Check) checkFields(at place) []FieldProblem {
	var f findings
	kind, known := checkKinds[c.Kind]
	if !known {
		return nil
	}
	given := c.given()
	for _, name := range kind.needs {
		if !given[name] && !at.lost(name) {
			f.addf(name, "is missing; a check of kind %s needs it", c.Kind)
		}
	}
	for _, name := range fields("metric a b c d over values scale refusal model other") {
		if given[name] && !slices.Contains(kind.needs, name) && !slices.Contains(kind.takes, name) {
			f.addf(name, "is of no use to a check of kind %s; leave it out", c.Kind)
		}
	}
	return f
}

// checkOver validates the factor that a check goes over, and brings its values to
// their types, in place.
func (s sweep) checkOver(c Check) []FieldProblem {
	var f findings
	if c.Over == "" || s.partial {
		return nil
	}
	factor := s.factors[c.Over]
	if factor == nil {
		f.add("over", unknown(c.Over, "factor of the sweep", keys(s.factors)))
		return f
	}
	for _, name := range []string{"a", "b"} {
		if _, fixed := c.selectors()[name][c.Over]; fixed {
			f.addf(strict.Join(name, c.Over), "is what the check goes over; leave it out")
		}
	}
	f.under("values", s.checkOverValues(c))
	if len(f) == 0 {
		f.under("", checkLevels(c, distinct(factor.values)))
	}
	return f
}

func (s sweep) checkOverValues(c Check) []FieldProblem {
	var f findings
	typeOf := s.spec.typeOf(c.Over)
	if typeOf == nil {
		return nil // complained of where it is swept
	}
	for i, v := range c.Values {
		typed, err := typeOf(v)
		switch {
		case err != nil:
			f.add(item("", i), err.Error())
		case !slices.Contains(s.factors[c.Over].values, typed):
			f.addf(item("", i), "%v is not among the values of the sweep", typed)
		case slices.Contains(c.Values[:i], typed):
			f.addf(item("", i), "%v is already among the values", typed)
		}
		c.Values[i] = typed
	}
	return f
}

// checkLevels validates the values that a check goes over, all being the sweep's.
func checkLevels(c Check, all []any) []FieldProblem {
	var f findings
	path := "values"
	if len(c.Values) > 0 {
		all = c.Values
	} else {
		path = "over"
	}
	if slices.Contains(all, any(nil)) {
		return nil // a value of the sweep is wrong, and complained of there
	}
	if len(all) < 2 && c.Kind != "ratio_each" {
		f.addf(path, "has one value only; a check of kind %s compares several", c.Kind)
		return f
	}
	// What is said by cores is a number, which only the machine knows.
	known := slices.DeleteFunc(slices.Clone(all), func(v any) bool { return c.Over == "flows" && FlowsByCores(v) })
	if len(known) == 0 {
		return f
	}
	levels, why := numbersOf(c, known)
	f.add(path, why)
	if c.Kind == "peak" && why == "" && len(known) == len(all) {
		f.add("", c.peakRange(levels))
	}
	return f
}

// numbersOf are the numbers that the values of a check stand for, or why a check of
// this kind can do nothing with them.
func numbersOf(c Check, all []any) (levels []float64, why string) {
	if c.Kind != "rises" && c.Kind != "peak" && c.Kind != "possible" {
		return nil, ""
	}
	_, texts := all[0].(string)
	for _, v := range all {
		level, is := LevelOf(c.Over, v)
		_, text := v.(string)
		switch {
		case is && text != texts:
			return nil, shown(all[0]) + " and " + shown(v) + " are in unlike units"
		case !is:
			return nil, shown(v) + " is no number, and a check of kind " + c.Kind + " needs numbers"
		case c.Kind == "rises" && c.Scale != "linear" && level <= 0:
			return nil, shown(v) + " has no logarithm; write scale: linear"
		}
		levels = append(levels, level)
	}
	return levels, ""
}

// peakRange is what is wrong with the range of a peak among these levels.
func (c Check) peakRange(levels []float64) string {
	within := 0
	for _, x := range levels {
		if (c.AtLeast == nil || *c.AtLeast <= x) && (c.AtMost == nil || x <= *c.AtMost) {
			within++
		}
	}
	switch {
	case c.AtLeast == nil && c.AtMost == nil:
		return ""
	case within == 0:
		return "has none of the values of " + c.Over + " between at_least and at_most, so it could never hold"
	case within == len(levels):
		return "has all values of " + c.Over + " between at_least and at_most, so it would always hold"
	}
	return ""
}

func checkRange(c Check, at place) []FieldProblem {
	var f findings
	kind, known := checkKinds[c.Kind]
	if !known || at.lost("at_least") || at.lost("at_most") {
		return nil
	}
	switch {
	case c.AtLeast == nil && c.AtMost == nil:
		f.addf("", "has neither at_least nor at_most, so it would always hold")
	case c.AtLeast != nil && c.AtMost != nil && *c.AtLeast > *c.AtMost:
		f.addf("at_least", "%v is above at_most, %v", *c.AtLeast, *c.AtMost)
	case c.AtLeast != nil && *c.AtLeast > kind.most:
		f.addf("at_least", "%v can never be reached: a check of kind %s is at most %v", *c.AtLeast, c.Kind, kind.most)
	case c.AtMost != nil && *c.AtMost < kind.least:
		f.addf("at_most", "%v can never be kept: a check of kind %s is at least %v", *c.AtMost, c.Kind, kind.least)
	case c.AtMost == nil && *c.AtLeast <= kind.least:
		f.addf("at_least", "%v would always hold: a check of kind %s is at least %v", *c.AtLeast, c.Kind, kind.least)
	case c.AtLeast == nil && *c.AtMost >= kind.most:
		f.addf("at_most", "%v would always hold: a check of kind %s is at most %v", *c.AtMost, c.Kind, kind.most)
	}
	return f
}
