package v1alpha1

import (
	"maps"
	"slices"

	"nfchain.dev/nfchain/api/v1alpha1/internal/strict"
)

// ModelFactors are the factors that kinds of model go over where the file names none.
var ModelFactors = map[string]string{
	"loss_per_hop": "length", "cost_per_hop": "length", "fading": "length", "shared_cores": "length", "two_factor": "length", "delay_per_hop": "length",
	"usl": "flows", "per_container": "idle_containers", "container_step": "idle_containers", "per_rule": "",
}

// checkModels validates the models, and brings the values that they name to their
// types, in place.
func (s sweep) checkModels(models []Model, at place) []FieldProblem {
	var f findings
	for i, m := range models {
		path := item("", i)
		if slices.ContainsFunc(models[:i], func(other Model) bool { return other.Name == m.Name }) {
			f.addf(path+".name", "%s is already the name of a model", quote(m.Name))
		}
		f.under(path+".where", s.checkSelector(m.Where))
		factor, known := ModelFactors[m.Kind]
		if m.Over != "" {
			factor = m.Over
		}
		if known && !at.lost(path+".over") {
			f.under(path, s.checkModelFactor(m, factor))
		}
		if known && !at.lost(path+".from") && !at.lost(path+".namespaces") {
			f.under(path, checkBorrowed(m, models))
		}
	}
	return f
}

// checkModelFactor validates what a model says of the factor that it goes over.
func (s sweep) checkModelFactor(m Model, factor string) []FieldProblem {
	var f findings
	switch {
	case factor == "":
		f.addf("over", "is missing; a model of kind %s needs it", m.Kind)
		return f
	case s.partial:
		return nil
	case s.factors[factor] == nil && m.Over != "":
		f.add("over", unknown(m.Over, "factor of the sweep", slices.Collect(maps.Keys(s.factors))))
		return f
	case s.factors[factor] == nil:
		f.addf("", "a model of kind %s goes over %s, which is not among the factors of the sweep; name another with over", m.Kind, factor)
		return f
	}
	if _, fixed := m.Where[factor]; fixed {
		f.addf(strict.Join("where", factor), "is what the model goes over; leave it out")
	}
	if slices.ContainsFunc(s.factors[factor].values, func(v any) bool { return isWord(factor, v) }) {
		f.addf("over", "%s has values that are no numbers", factor)
	}
	if m.MaxLength > 0 && factor != "length" {
		f.addf("max_length", "is of no use to a model over %s; holdout leaves values out", factor)
	}
	f.under("holdout", s.checkHoldout(m, factor))
	return f
}

// isWord tells a value that is no number, on no machine. One that could not be read is
// complained of where it stands.
func isWord(factor string, v any) bool {
	_, is := LevelOf(factor, v)
	return v != nil && !is && !(factor == "flows" && FlowsByCores(v))
}

// checkHoldout wants values of the factor, and enough of them left.
func (s sweep) checkHoldout(m Model, factor string) []FieldProblem {
	var f findings
	typeOf := s.spec.typeOf(factor)
	if typeOf == nil {
		return nil // complained of where it is swept
	}
	for i, v := range m.Holdout {
		typed, err := typeOf(v)
		switch {
		case err != nil:
			f.add(item("", i), err.Error())
		case !slices.Contains(s.factors[factor].values, typed):
			f.addf(item("", i), "%v is not among the values of the sweep", typed)
		case slices.Contains(m.Holdout[:i], typed):
			f.addf(item("", i), "%v is already among the values", typed)
		}
		m.Holdout[i] = typed
	}
	if left := len(s.factors[factor].values) - len(m.Holdout); len(f) == 0 && len(m.Holdout) > 0 && left < 2 {
		f.addf("", "leaves %d values of %s to fit; at least 2", left, factor)
	}
	return f
}

// checkBorrowed validates the models that one takes parameters from.
func checkBorrowed(m Model, models []Model) []FieldProblem {
	var f findings
	for _, b := range []struct{ field, name string }{{"from", m.From}, {"namespaces", m.Namespaces}} {
		at := slices.IndexFunc(models, func(other Model) bool { return other.Name == b.name })
		switch {
		case m.Kind != "two_factor" && b.name != "":
			f.addf(b.field, "is of no use to a model of kind %s; leave it out", m.Kind)
		case m.Kind != "two_factor" || b.name == "" && b.field == "namespaces":
		case b.name == "":
			f.addf(b.field, "is missing; a model of kind %s needs it", m.Kind)
		case at < 0 || models[at].Kind != "loss_per_hop":
			f.addf(b.field, "%s is not the name of a model of kind loss_per_hop of this experiment", quote(b.name))
		}
	}
	return f
}
