package v1alpha1

import "github.com/invopop/jsonschema"

// nameFactors says which fields a sweep can vary: by a name, or by a path.
func (g *generator) nameFactors() {
	names := &jsonschema.Schema{}
	for _, name := range SweepFields() {
		names.Enum = append(names.Enum, name)
	}
	paths := &jsonschema.Schema{Pattern: `^(chain|load|` + FactorCopies + `)\.`}
	field := g.property("Factor", "field")
	field.AnyOf = []*jsonschema.Schema{names, paths}
	g.property("ExperimentSpec", "cells").Items.PropertyNames = &jsonschema.Schema{AnyOf: field.AnyOf}
}
