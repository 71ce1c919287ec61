package v1alpha1

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nfchain.dev/nfchain/api/v1alpha1/internal/nearest"
)

// The factors that are neither fields of a load nor written as a path.
const (
	// FactorMix takes one of the experiment's named lists of functions.
	FactorMix = "mix"
	// FactorCopies repeats the whole list of functions; copies.NAME only that function.
	FactorCopies = "copies"
)

// standsFor gives the path of the field that a factor's short name stands for, so
// that no field is varied twice.
var standsFor = map[string]string{
	"wiring": "chain.wiring", "mtu": "chain.mtu", FactorMix: "chain.functions",
	"flows": "load.flows", "protocol": "load.protocols", "payload_size": "load.payload_size",
	"frame_size": "load.frame_size", "flows_by": "load.flows_by", "request_size": "load.request_size",
	"response_size": "load.response_size", "request_rate": "load.request_rate", "rate": "load.rate", "zerocopy": "load.zerocopy", "affinity": "load.affinity",
	"active_chains": "load.active_chains", "idle_containers": "load.idle_containers", "harm": "load.harm",
	"path": "load.path",
}

// pathOf a factor: of itself where it is a path or has no other name.
func pathOf(field string) string {
	if path := standsFor[field]; path != "" {
		return path
	}
	return field
}

// isPath tells the factors that are paths of fields of the chain or the load.
func isPath(field string) bool {
	return strings.HasPrefix(field, "chain.") || strings.HasPrefix(field, "load.")
}

// InTemplate tells whether a [Template] is needed to put a factor's value in.
func InTemplate(field string) bool {
	return isPath(field) || field == FactorMix || isPath(standsFor[field]) && valueTypes[field] == nil
}

// CopiedFunction is the name in copies.NAME.
func CopiedFunction(field string) (name string, is bool) {
	return strings.CutPrefix(field, FactorCopies+".")
}

// ofTheRun are the fields of a load that no factor varies.
var ofTheRun = []string{"load.repeats", "load.redeploy", "load.until", "load.max_repeats"}

// typeOf a factor's values; nil for a field that cannot be varied.
func (s *ExperimentSpec) typeOf(field string) func(any) (any, error) {
	name, copied := CopiedFunction(field)
	switch {
	case valueTypes[field] != nil:
		return valueTypes[field]
	case field == FactorCopies, copied && slices.Contains(s.functionNames(), name):
		return func(v any) (any, error) { return wholeBetween(v, 0, MaxLength) }
	case field == FactorMix:
		return s.mixOf
	case slices.Contains(ofTheRun, field):
		return func(any) (any, error) {
			return nil, errors.New("it is of the whole run, all of whose conditions are repeated alike; write it in the load")
		}
	case isPath(pathOf(field)):
		return scalarOf
	}
	return nil
}

func (s *ExperimentSpec) mixOf(v any) (any, error) {
	var names []string
	for _, m := range s.Mixes {
		names = append(names, m.Name)
	}
	text, ok := v.(string)
	if !ok || !slices.Contains(names, text) {
		return nil, errors.New(shown(v) + " is not the name of one of the mixes" + nearest.Hint(text, names))
	}
	return text, nil
}

// scalarOf is any value that == can compare.
func scalarOf(v any) (any, error) {
	switch v.(type) {
	case string, int, float64, bool:
		return v, nil
	}
	return nil, errors.New("text, a number, true or false is expected, found " + shown(v))
}

// SweepFields are the factors that have a name of their own, in alphabetical order.
func SweepFields() []string {
	names := append(slices.Collect(maps.Keys(valueTypes)), "wiring", "mtu", "active_chains", "idle_containers", "harm", "path", FactorMix, FactorCopies)
	slices.Sort(names)
	return names
}

// unknownFactor is the message about a field that cannot be varied.
func (s *ExperimentSpec) unknownFactor(field string) string {
	if name, copied := CopiedFunction(field); copied {
		return unknown(name, "function of the chain or of a mix", s.functionNames())
	}
	if near := nearest.Word(field, SweepFields()); near != "" {
		return unknown(field, "factor", SweepFields())
	}
	return fmt.Sprintf("%s is not a factor; choose from %s, or give a path such as chain.mtu or load.tool", quote(field), strings.Join(SweepFields(), ", "))
}

// functionNames are those of the chain and of the mixes.
func (s *ExperimentSpec) functionNames() (names []string) {
	for _, f := range s.Chain.Functions {
		names = append(names, f.Name)
	}
	for _, m := range s.Mixes {
		for _, f := range m.Functions {
			names = append(names, f.Name)
		}
	}
	return names
}
