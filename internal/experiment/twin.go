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

// twinSuffix ends the ids of claims that are judged at the calibrated load, and the names
// of models that are fitted there.
const twinSuffix = "@" + CalibratedFactor

// twinText ends what they state: the source does not.
const twinText = ", at this machine's calibrated load instead"

// IsTwin tells whether an id is that of a claim judged at the calibrated load, and of which
// claim that is the twin.
func IsTwin(id string) (source string, is bool) { return strings.CutSuffix(id, twinSuffix) }

// WithTwins adds to the claims and models of an experiment, behind them, those that can be
// told at the calibrated load too, if a run has that. What compares flows or sizes has no
// twin, and what can be had at all does not depend on the load.
func WithTwins(spec api.ExperimentSpec, conditions []trial.Condition) api.ExperimentSpec {
	if !AnyCalibrated(conditions) {
		return spec
	}
	t := twins{conditions: conditions, models: map[string]string{}}
	spec.Models = append(slices.Clip(spec.Models), t.ofModels(spec.Models)...)
	spec.Claims = slices.Clip(spec.Claims)
	for _, c := range spec.Claims[:len(spec.Claims):len(spec.Claims)] {
		if check, can := t.of(c.Check); can {
			// What the note says of the claim, it says of its twin.
			c.ID, c.Text, c.Note, c.Check = c.ID+twinSuffix, c.Text+twinText, "", check
			spec.Claims = append(spec.Claims, c)
		}
	}
	return spec
}

// twins are made for a run's conditions.
type twins struct {
	conditions []trial.Condition
	// models are the names of twins by those of the models that they are of.
	models map[string]string
}

// of a check: the same, of conditions at the calibrated load.
func (t twins) of(c api.Check) (api.Check, bool) {
	switch {
	case c.Kind == "possible" || c.Kind == unavailable:
		return c, false
	case c.Model != "":
		return t.ofModelCheck(c)
	case c.Metric == "":
		return c, false
	}
	if t.names(c) {
		return c, false
	}
	apart, seen := map[string]bool{}, map[string]bool{}
	for _, where := range []*map[string]any{&c.A, &c.B, &c.C, &c.D} {
		if where != &c.A && len(*where) == 0 {
			continue
		}
		if t.replaces(*where, c.Over) {
			return c, false
		}
		apart[Describe(*where)] = true
		*where = t.where(*where)
		seen[Describe(*where)] = true
	}
	return c, len(seen) == len(apart)
}

// names tells whether a check is about flows or sizes: it is of one value at some, or
// compares others with them.
func (t twins) names(c api.Check) bool {
	values := map[string]any{}
	for _, where := range named(c) {
		for field, v := range where {
			if !t.replaces(where, field) {
				continue
			}
			if before, has := values[field]; c.Kind == "value" || has && !same(field, before, v) {
				return true
			}
			values[field] = v
		}
	}
	return false
}

func (t twins) ofModelCheck(c api.Check) (api.Check, bool) {
	for _, name := range []*string{&c.Model, &c.Other} {
		if *name == "" {
			continue
		}
		twin, has := t.models[*name]
		if !has {
			return c, false
		}
		*name = twin
	}
	return c, true
}

// ofModels are the twins of models. Two that differ in nothing but what they replace have
// one, and one that goes over that has none.
func (t twins) ofModels(models []api.Model) (out []api.Model) {
	for _, m := range models {
		if t.replaces(m.Where, overOf(m)) || m.Kind == model.SharedCores {
			continue
		}
		twin := m
		twin.Name, twin.Where = m.Name+twinSuffix, t.where(m.Where)
		for _, name := range []*string{&twin.From, &twin.Namespaces} {
			if *name != "" {
				*name += twinSuffix
			}
		}
		at := slices.IndexFunc(out, func(o api.Model) bool {
			return alikeModels(o, twin) && o.From == twin.From && o.Namespaces == twin.Namespaces
		})
		if at >= 0 {
			t.models[m.Name] = out[at].Name
			continue
		}
		t.models[m.Name] = twin.Name
		out = append(out, twin)
	}
	return out
}

// where selects the same at the calibrated load.
func (t twins) where(where map[string]any) map[string]any {
	out := maps.Clone(where)
	if out == nil {
		out = map[string]any{}
	}
	for field := range where {
		if t.replaces(where, field) {
			delete(out, field)
		}
	}
	out[CalibratedFactor] = true
	return out
}

// replaces tells whether the conditions of a selection have the calibration's value of a
// field in the place of their own. That follows from what they measure: sizes of datagrams
// stay, and those of sends over TCP do not.
func (t twins) replaces(where map[string]any, field string) bool {
	name := strings.TrimPrefix(field, "load.")
	if !replaced(name) {
		return false
	}
	rest := maps.Clone(where)
	if rest == nil {
		rest = map[string]any{}
	}
	for _, f := range []string{"flows", "payload_size"} {
		delete(rest, f)
		delete(rest, otherNames[f])
	}
	rest[CalibratedFactor] = true
	found := matching(trial.Run{Conditions: t.conditions}, rest)
	return len(found) == 0 || slices.ContainsFunc(found, func(i int) bool {
		p := Point{Load: api.Load{Protocols: []string{t.conditions[i].Protocol}}}
		return p.takes(name)
	})
}

// Untwinned leaves out the verdicts of twins that cannot be told where the claim itself
// cannot be either, or because a run dropped what they look at: what was dropped is listed,
// and the claim itself is told.
func Untwinned(verdicts []Verdict, run trial.Run) []Verdict {
	dropped := slices.ContainsFunc(run.Dropped, func(cell trial.Infeasible) bool { return isCalibrated(cell.Factors) })
	untold := map[string]bool{}
	for _, v := range verdicts {
		untold[v.ID] = v.Verdict == CannotBeTold
	}
	return slices.DeleteFunc(verdicts, func(v Verdict) bool {
		source, is := IsTwin(v.ID)
		return is && untold[v.ID] && (dropped || untold[source])
	})
}

// CalibratedNote says what the calibrated load of a run is; empty where it has none.
func CalibratedNote(run trial.Run) string {
	if !AnyCalibrated(run.Conditions) {
		return ""
	}
	return fmt.Sprintf("Conditions marked calibrated, and claims whose ids end with %s, are at the load that this machine carries most of: %s; other settings that the experiment varies, and sizes of datagrams, frames and messages, stay its own",
		twinSuffix, Describe(run.Calibrated))
}
