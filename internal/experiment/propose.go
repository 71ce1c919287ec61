package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/model"
	"nfchain.dev/nfchain/internal/trial"
)

// Propose gives the models that what was varied in a run permits, besides those that
// its experiment has, and says of each factor for which there are none why. One factor
// makes a model for each combination of the others' values.
func Propose(run trial.Run) (models []api.Model, why []string) {
	fields := variedFields(run)
	for _, over := range fields {
		kinds := kindsOver(over)
		if len(kinds) == 0 {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == over })
		found := proposeOver(run, over, kinds, combinationsOf(run, others))
		if len(found) == 0 {
			why = append(why, fmt.Sprintf("over %s: too few values for a model, which takes one more than it has parameters", over))
		}
		models = append(models, found...)
	}
	models = append(models, proposeCores(run, fields)...)
	if len(models) == 0 && len(why) == 0 {
		why = append(why, "nothing was varied of which nfchain knows a model: length, copies, flows, rules, idle_containers or active_chains")
	}
	return models, why
}

// Models are the experiment's own and, behind them, the others that the run permits; why
// says of what was varied why there are none.
func Models(named []api.Model, run trial.Run) (all []api.Model, why []string) {
	proposed, why := Propose(run)
	all = slices.Clone(named)
	for _, p := range proposed {
		if slices.ContainsFunc(named, func(m api.Model) bool { return alikeModels(m, p) }) {
			continue
		}
		if slices.ContainsFunc(named, func(m api.Model) bool { return m.Name == p.Name }) {
			p.Name += ", all values"
		}
		all = append(all, p)
	}
	return all, why
}

// alikeModels tells two models that come to the same fit.
func alikeModels(a, b api.Model) bool {
	return a.Kind == b.Kind && a.Metric == b.Metric && overOf(a) == overOf(b) && Describe(a.Where) == Describe(b.Where) &&
		a.MaxLength == b.MaxLength && len(a.Holdout) == len(b.Holdout)
}

// kindsOver are the kinds of model that a factor permits.
func kindsOver(over string) []string {
	switch {
	case over == "length", over == "copies", strings.HasPrefix(over, "copies."):
		return []string{model.LossPerHop, model.CostPerHop, model.Fading, model.DelayPerHop}
	case over == "flows":
		return []string{model.USL}
	case over == "idle_containers", over == "active_chains":
		return []string{model.PerContainer, model.ContainerStep}
	case strings.Contains(over, ".rules."):
		return []string{model.PerRule}
	}
	return nil
}

// ownFields are those that a run without factors may vary.
var ownFields = []string{"protocol", "flows", "frame_size", "payload_size", "ip_version", "idle_containers", "active_chains"}

// variedFields are the fields in which the conditions that go through chains differ.
func variedFields(run trial.Run) []string {
	names := map[string]bool{"protocol": true}
	for _, i := range matching(run, nil) {
		c := run.Conditions[i]
		for field := range c.Factors {
			names[field] = true
		}
		if len(c.Factors) == 0 {
			for _, field := range ownFields {
				names[field] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(field string) bool {
		return len(combinationsOf(run, []string{field})) < 2
	})
}

// fieldOf a condition, swept or its own.
func fieldOf(c trial.Condition, field string) (any, bool) {
	if v, has := c.Factors[field]; has {
		return v, true
	}
	v, has := own(c)[field]
	return v, has
}

// combinationsOf the values of some fields that there are conditions of, in their order.
func combinationsOf(run trial.Run, fields []string) (all []map[string]any) {
	seen := map[string]bool{}
	for _, i := range matching(run, nil) {
		where := map[string]any{}
		for _, field := range fields {
			if v, has := fieldOf(run.Conditions[i], field); has {
				where[field] = v
			}
		}
		if k := Describe(where); !seen[k] {
			seen[k] = true
			all = append(all, where)
		}
	}
	return all
}

// rates and times that models are of, the first measured of each.
var (
	proposedRates = []string{"goodput_bps", "throughput_pps", "throughput_bps", "forwarding_rate_pps", "transactions_per_second", "requests_per_second"}
	proposedTimes = []string{"latency_mean_ns", "one_way_latency_mean_ns"}
)

// proposeOver makes the models of one factor that have enough values.
func proposeOver(run trial.Run, over string, kinds []string, wheres []map[string]any) (models []api.Model) {
	for _, where := range wheres {
		for _, metrics := range [][]string{proposedRates, proposedTimes} {
			metric := firstMeasured(run, where, metrics)
			for _, kind := range kinds {
				m := api.Model{Name: modelName(kind, over, where), Kind: kind, Metric: metric, Over: over, Where: where}
				if fitting(run, m) {
					models = append(models, m)
				}
			}
		}
	}
	return models
}

// modelName is "fading over copies (flows=8)".
func modelName(kind, over string, where map[string]any) string {
	name := kind
	if over != api.ModelFactors[kind] {
		name += " over " + over
	}
	if len(where) > 0 {
		name += " (" + Describe(where) + ")"
	}
	return name
}

// firstMeasured is the first of the metrics that any of the conditions has.
func firstMeasured(run trial.Run, where map[string]any, metrics []string) string {
	for _, metric := range metrics {
		for _, i := range matching(run, where) {
			if len(run.Samples(i, metric)) > 0 {
				return metric
			}
		}
	}
	return ""
}

// fitting tells whether a model could be wrong: it has more values than parameters.
func fitting(run trial.Run, m api.Model) bool {
	k := modelKinds[m.Kind]
	if m.Metric == "" || isRate(m.Metric) && k.rate == "" || isTime(m.Metric) && k.time == "" {
		return false
	}
	s, err := collect(nil, m, run)
	return err == nil && s.enough() == nil
}

// proposeCores makes the model of what shares the cores, which goes over length and flows.
func proposeCores(run trial.Run, fields []string) (models []api.Model) {
	if !slices.Contains(fields, "length") || !slices.Contains(fields, "flows") || CoresOf(run.Environment) == 0 {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "length" || f == "flows" })
	return proposeOver(run, "length", []string{model.SharedCores}, combinationsOf(run, others))
}
