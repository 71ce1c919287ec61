package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/trial"
)

// flowsField is the factor that may be said by the machine's cores.
const flowsField = "flows"

// OnCores puts numbers in the place of the flows that an experiment says by cores, in
// its sweep and in all that selects by it: with flows of 8 and cores, on a machine of 8,
// there is one condition, which both mean. What comes to no flow stays as it is: such a
// combination is infeasible, and nothing can be told of it. Nothing of spec is changed.
func OnCores(spec api.ExperimentSpec, cores int) api.ExperimentSpec {
	on := func(v any) any {
		if n, ok := api.FlowsOn(v, cores); ok {
			return n
		}
		return v
	}
	at := func(where map[string]any) map[string]any {
		if v, given := where[flowsField]; given {
			where = maps.Clone(where)
			where[flowsField] = on(v)
		}
		return where
	}
	spec.Sweep = slices.Clone(spec.Sweep)
	for i := range spec.Sweep {
		if f := &spec.Sweep[i]; f.Field == flowsField {
			f.Values = eachOnce(f.Values, on)
		}
	}
	spec.Cells = cellsOn(spec.Cells, at)
	spec.Reference = slices.Clone(spec.Reference)
	for i := range spec.Reference {
		spec.Reference[i].At = at(spec.Reference[i].At)
	}
	spec.Models = slices.Clone(spec.Models)
	for i := range spec.Models {
		m := &spec.Models[i]
		m.Where = at(m.Where)
		if overOf(*m) == flowsField {
			m.Holdout = eachOnce(m.Holdout, on)
		}
	}
	spec.Claims = slices.Clone(spec.Claims)
	for i := range spec.Claims {
		c := &spec.Claims[i].Check
		c.A, c.B, c.C, c.D = at(c.A), at(c.B), at(c.C), at(c.D)
		if c.Over == flowsField && len(c.Values) > 0 {
			c.Values = eachOnce(c.Values, on)
		}
	}
	return spec
}

// eachOnce are the values as on has them, without those that come out alike.
func eachOnce(values []any, on func(any) any) []any {
	var out []any
	for _, v := range values {
		if v = on(v); !slices.ContainsFunc(out, func(o any) bool { return same(flowsField, o, v) }) {
			out = append(out, v)
		}
	}
	return out
}

// cellsOn are the cells as at has them, without those that come out alike.
func cellsOn(cells []map[string]any, at func(map[string]any) map[string]any) []map[string]any {
	var out []map[string]any
	for _, cell := range cells {
		cell = at(cell)
		alike := func(o map[string]any) bool { return len(o) == len(cell) && Describe(o) == Describe(cell) }
		if !slices.ContainsFunc(out, alike) {
			out = append(out, cell)
		}
	}
	return out
}

// OnMachine is [OnCores] of a machine that a run was measured on; as many cores count as
// nfchain could use.
func OnMachine(spec api.ExperimentSpec, e trial.Environment) api.ExperimentSpec {
	return OnCores(spec, CoresOf(e))
}

// CoresOf a machine are those that nfchain could use there, as far as is known. The kernel
// may allow cores that are not there.
func CoresOf(e trial.Environment) int {
	if e.Processor != nil {
		if allowed, err := api.ParseCPUList(e.Processor.Allowed); err == nil && len(allowed) < e.CPUs {
			return len(allowed)
		}
	}
	return e.CPUs
}

// CoresNote says what flows by cores came to on a machine; empty where an experiment has
// none.
func CoresNote(spec api.ExperimentSpec, cores int) string {
	var said []string
	say := func(v any) {
		word, is := v.(string)
		if !is || !api.FlowsByCores(v) {
			return
		}
		text := word + " is none"
		if n, ok := api.FlowsOn(v, cores); ok {
			text = fmt.Sprintf("%s is %d", word, n)
		}
		if !slices.Contains(said, text) {
			said = append(said, text)
		}
	}
	for _, f := range spec.Sweep {
		if f.Field == flowsField {
			for _, v := range f.Values {
				say(v)
			}
		}
	}
	for _, cell := range spec.Cells {
		say(cell[flowsField])
	}
	if len(said) == 0 {
		return ""
	}
	return "flows are told by this machine's cores: " + strings.Join(said, ", ")
}
