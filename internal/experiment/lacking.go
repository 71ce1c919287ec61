package experiment

import (
	"fmt"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
	"nfchain.dev/nfchain/internal/words"
)

// lacking says what failed among the trials that a check looks at; empty where nothing
// did. What was measured beside trials that failed is not what would have been without:
// a chain that breaks under load is slow in none of the trials that are left. A claim
// does not hold on such.
func lacking(spec api.ExperimentSpec, run trial.Run, c api.Check) string {
	for _, where := range selections(spec, run, c) {
		for _, i := range matching(run, where) {
			if why := failedOf(run, i, c.Metric); why != "" {
				return why
			}
		}
	}
	return lackingOfModels(spec, run, c)
}

// lackingOfModels is [lacking] of what a check's models are fitted to, and of what they
// are tried on where two are set against each other.
func lackingOfModels(spec api.ExperimentSpec, run trial.Run, c api.Check) string {
	for _, m := range modelsOf(spec, c) {
		s := series{m: m, over: overOf(m)}
		for _, i := range matching(run, m.Where) {
			x, is := valueOf(run.Conditions[i], s.over)
			if !is || c.Other == "" && s.leaves(x) {
				continue
			}
			if why := failedOf(run, i, m.Metric); why != "" {
				return why
			}
		}
	}
	return ""
}

// modelsOf a check are those that it names, and those that they take parameters from.
func modelsOf(spec api.ExperimentSpec, c api.Check) (out []api.Model) {
	names := []string{c.Model, c.Other}
	for _, m := range spec.Models {
		if m.Name == c.Model || m.Name == c.Other {
			names = append(names, m.From, m.Namespaces)
		}
	}
	for _, m := range spec.Models {
		if slices.Contains(names, m.Name) {
			out = append(out, m)
		}
	}
	return out
}

// selections are the conditions that a check names, by factor value.
func selections(spec api.ExperimentSpec, run trial.Run, c api.Check) (wheres []map[string]any) {
	named := named(c)
	switch {
	case c.Metric == "":
		return nil
	case c.Over == "":
		return named
	}
	values, _ := valuesOver(spec, run, c)
	for _, where := range named {
		for _, v := range values {
			wheres = append(wheres, with(where, c.Over, v))
		}
	}
	return wheres
}

// named are the selections that a check gives, without the values that it goes over.
func named(c api.Check) []map[string]any {
	all := []map[string]any{c.A}
	for _, where := range []map[string]any{c.B, c.C, c.D} {
		if len(where) > 0 {
			all = append(all, where)
		}
	}
	return all
}

// failedOf says how many trials of a condition did not measure a metric.
func failedOf(run trial.Run, condition int, metric string) string {
	of, without := 0, 0
	for _, t := range run.Trials {
		if t.Condition != condition || t.Step > 0 {
			continue
		}
		of++
		if run.Lacks(t, metric) {
			without++
		}
	}
	name := Describe(run.Conditions[condition].Factors)
	switch {
	case of < 2:
		return fmt.Sprintf("there is %s with %s", []string{"no trial", "one trial only"}[of], name)
	case without > 0:
		return fmt.Sprintf("%d of %s with %s did not measure %s", without, words.Plural(of, "trial"), name, metric)
	case run.State == trial.Failed && of < run.RepeatsOf(run.Conditions[condition]):
		return fmt.Sprintf("the run failed when %s had %d of its %s", name, of, words.Plural(run.RepeatsOf(run.Conditions[condition]), "trial"))
	}
	return ""
}
