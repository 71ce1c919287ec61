package v1alpha1

import "github.com/invopop/jsonschema"

// openFunctions gives functions a key for the options of each kind, which only
// a function of that kind may have.
func (g *generator) openFunctions(c Catalogue) {
	inChain, alone, everywhere := g.definitions["Function"], g.definitions["FunctionBody"], g.definitions["Everywhere"]
	for _, kind := range c.union().Kinds() {
		options := g.reflect(c.Functions[kind]())
		for _, s := range []*jsonschema.Schema{inChain, alone, everywhere} {
			g.addOptions(s, kind, options)
		}
	}
	inChain.OneOf = []*jsonschema.Schema{{Required: []string{"kind"}}, {Required: []string{"ref"}}}
	alone.Required = append(alone.Required, "kind")
	everywhere.Required = append(everywhere.Required, "kind")
	for _, field := range []string{"runtime", "replicas", "resources", "container"} {
		everywhere.Properties.Delete(field)
	}
}

// openWirings gives chains a key for the options of each wiring.
func (g *generator) openWirings(c Catalogue) {
	for _, name := range c.wirings().Kinds() {
		g.definitions["ChainSpec"].Properties.Set(name, g.reflect(c.Wirings[name]()))
	}
}

// openEndpoints gives endpoints a key for the options of their programs.
func (g *generator) openEndpoints(c Catalogue) {
	for _, kind := range c.endpoints().Kinds() {
		g.definitions["Endpoint"].Properties.Set(kind, g.reflect(c.Functions[kind]()))
	}
}

func (g *generator) addOptions(s *jsonschema.Schema, kind string, options *jsonschema.Schema) {
	s.Properties.Set(kind, options)
	if s.DependentSchemas == nil {
		s.DependentSchemas = map[string]*jsonschema.Schema{}
	}
	s.DependentSchemas[kind] = isKind(kind)
	if g.needed(options) {
		then := &jsonschema.Schema{Required: []string{kind}}
		s.AllOf = append(s.AllOf, &jsonschema.Schema{If: isKind(kind), Then: then})
	}
}

// needed tells whether options have a required field, so that they cannot be left out.
func (g *generator) needed(options *jsonschema.Schema) bool {
	for name, definition := range g.definitions {
		if options.Ref == "#/$defs/"+name {
			return len(definition.Required) > 0
		}
	}
	return len(options.Required) > 0
}

// isKind holds for functions that say they are of the kind.
func isKind(kind string) *jsonschema.Schema {
	properties := jsonschema.NewProperties()
	properties.Set("kind", &jsonschema.Schema{Const: kind})
	return &jsonschema.Schema{Properties: properties, Required: []string{"kind"}}
}
