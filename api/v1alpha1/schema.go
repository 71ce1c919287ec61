package v1alpha1

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// SchemaID is the $id of the schema that [Catalogue.Schema] makes.
const SchemaID = "https://nfchain.dev/schema/v1alpha1.json"

// Schema returns a JSON Schema (draft 2020-12) of every document the catalogue
// can read, made from the types, indented and always in the same order.
func (c Catalogue) Schema() ([]byte, error) {
	said := comments()
	for _, options := range []map[string]func() any{c.Functions, c.Wirings} {
		for _, newOptions := range options {
			said.declared(newOptions())
		}
	}
	g := generator{
		definitions: jsonschema.Definitions{},
		reflector: jsonschema.Reflector{
			Anonymous:                  true,
			RequiredFromJSONSchemaTags: true,
			Mapper:                     scalarSchema,
			Namer:                      definitionName,
			LookupComment:              said.lookup,
		},
	}
	root := &jsonschema.Schema{
		Version:     jsonschema.Version,
		ID:          SchemaID,
		Title:       "nfchain " + Version,
		Description: "A service function chain, a service function, or an experiment of nfchain.",
		Definitions: g.definitions,
		OneOf: []*jsonschema.Schema{
			g.reflect(Chain{}), g.reflect(StandaloneFunction{}), g.reflect(Experiment{}),
		},
	}
	g.nameWords(c)
	g.nameFactors()
	g.openFunctions(c)
	g.openWirings(c)
	g.openEndpoints(c)
	out, err := json.MarshalIndent(root, "", "  ")
	return append(out, '\n'), err
}

// generator collects the definitions of one schema.
type generator struct {
	reflector   jsonschema.Reflector
	definitions jsonschema.Definitions
}

// reflect adds what a type needs to the definitions and returns a reference to it.
func (g *generator) reflect(v any) *jsonschema.Schema {
	s := g.reflector.Reflect(v)
	maps.Copy(g.definitions, s.Definitions)
	s.Version, s.Definitions = "", nil
	return s
}

// definitionName keeps the option types of different packages apart: a wiring and a function
// may have packages of one name.
func definitionName(t reflect.Type) string {
	if t.Name() == "" || t.PkgPath() == reflect.TypeFor[Chain]().PkgPath() {
		return t.Name()
	}
	return packageName(t) + "." + t.Name()
}

// packageName of a type, such as wiring.bridge.
func packageName(t reflect.Type) string {
	_, within, is := strings.Cut(t.PkgPath(), "/internal/")
	if !is {
		within = path.Base(t.PkgPath())
	}
	return strings.ReplaceAll(within, "/", ".")
}

// nameWords says which words the catalogue knows, and what a name is.
func (g *generator) nameWords(c Catalogue) {
	g.words("ChainSpec", "wiring", c.wirings().Kinds())
	for _, definition := range []string{"ChainSpec", "FunctionBody", "Function"} {
		g.words(definition, "runtime", c.Runtimes)
	}
	for _, definition := range []string{"FunctionBody", "Function", "Everywhere"} {
		g.words(definition, "kind", c.union().Kinds())
	}
	g.words("Load", "tool", c.tools())
	longest := uint64(maxName)
	for _, definition := range []string{"Metadata", "Endpoint", "Function", "PathRule", "Mix"} {
		name := g.property(definition, "name")
		name.Pattern, name.MaxLength = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, &longest
	}
}

func (g *generator) property(definition, name string) *jsonschema.Schema {
	return g.definitions[definition].Properties.Value(name)
}

func (g *generator) words(definition, name string, words []string) {
	property := g.property(definition, name)
	for _, word := range words {
		property.Enum = append(property.Enum, word)
	}
}
