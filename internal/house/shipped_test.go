package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
)

// schemaFile is the schema that editors use; `make schema` writes it.
const schemaFile = "api/v1alpha1/schema.json"

// catalogue lists what the sources claim; its own package reads it.
const catalogue = "published/claims.yaml"

// shipped are the files in the tree that users and `reproduce` run.
func shipped(t *testing.T) []string {
	t.Helper()
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range all {
		ext := path.Ext(name)
		if name == catalogue {
			continue
		}
		if dir, _, _ := strings.Cut(name, "/"); (dir == "examples" || dir == "images" && path.Dir(name) == dir || dir == "published") && (ext == ".yaml" || ext == ".json") {
			names = append(names, name)
		}
	}
	if len(names) < 2 {
		t.Fatalf("found %v: the test does not look at the shipped files", names)
	}
	return names
}

func TestShippedFilesDecode(t *testing.T) {
	for _, name := range shipped(t) {
		if _, err := registry.Words().Decode(name, []byte(read(t, name))); err != nil {
			t.Error(err)
		}
	}
}

// TestExperimentsOfScriptsDecode: what `make bench` runs by hand is right whenever somebody does, with the values that scripts put in for @NAME@.
func TestExperimentsOfScriptsDecode(t *testing.T) {
	all, err := files()
	if err != nil {
		t.Fatal(err)
	}
	put, found := regexp.MustCompile(`@[A-Z]+@`), 0
	for _, name := range all {
		if path.Dir(name) != "scripts" || path.Ext(name) != ".yaml" {
			continue
		}
		found++
		if _, err := registry.Words().Decode(name, put.ReplaceAll([]byte(read(t, name)), []byte("1000"))); err != nil {
			t.Error(err)
		}
	}
	if found < 5 {
		t.Errorf("found %d: the test does not look at them", found)
	}
}

func TestShippedFilesFitTheSchema(t *testing.T) {
	schema := compiled(t)
	for _, name := range shipped(t) {
		decoder := yaml.NewDecoder(strings.NewReader(read(t, name)))
		for {
			var document any
			if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := fits(schema, document); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestSchemaRefusesWhatNfchainRefuses(t *testing.T) {
	schema := compiled(t)
	for _, text := range []string{
		"{apiVersion: nfchain.dev/v1alpha1, kind: NetworkServiceChain, metadata: {name: a}, spec: {wiring: vteh}}",
		"{apiVersion: nfchain.dev/v1alpha1, kind: NetworkServiceChain, metadata: {name: a}, spec: {functions: [{name: f, kind: shaper, shaper: {speed: 1}}]}}",
		"{apiVersion: nfchain.dev/v1alpha1, kind: Chain, metadata: {name: a}, spec: {}}",
	} {
		var document any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		if fits(schema, document) == nil {
			t.Errorf("the schema takes %s", text)
		}
	}
}

// TestSchemaTellsPackagesOfOneNameApart: a wiring and a function are called bridge, and each
// has its own options, all of which are described.
func TestSchemaTellsPackagesOfOneNameApart(t *testing.T) {
	document := map[string]any{"apiVersion": "nfchain.dev/v1alpha1", "kind": api.KindChain, "metadata": map[string]any{"name": "edge"}, "spec": map[string]any{
		"wiring": "bridge", "bridge": map[string]any{"per": "chain"},
		"functions": []any{map[string]any{"name": "b", "kind": "bridge", "bridge": map[string]any{"learning": true}}},
	}}
	if err := fits(compiled(t), document); err != nil {
		t.Error(err)
	}
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(read(t, schemaFile)), &schema); err != nil {
		t.Fatal(err)
	}
	for _, wiring := range []string{"bridge", "macvlan", "ovs", "ebpf"} {
		options := schema.Definitions["wiring."+wiring+".Options"].Properties
		for name, p := range options {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", wiring, name)
			}
		}
		if len(options) == 0 {
			t.Errorf("wiring %s has no options", wiring)
		}
	}
}

// TestSchemaDescribesEveryField, so that an editor can tell what it is for. What is referred to
// is described there.
func TestSchemaDescribesEveryField(t *testing.T) {
	type property struct {
		Description string
		Ref         string `json:"$ref"`
	}
	var schema struct {
		Definitions map[string]struct {
			Description string
			Properties  map[string]property
		} `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(read(t, schemaFile)), &schema); err != nil {
		t.Fatal(err)
	}
	fields := 0
	for definition, d := range schema.Definitions {
		if d.Description == "" && len(d.Properties) > 0 {
			t.Errorf("%s has no description", definition)
		}
		for name, p := range d.Properties {
			fields++
			if p.Description == "" && p.Ref == "" {
				t.Errorf("%s.%s has no description", definition, name)
			}
		}
	}
	if fields < 150 {
		t.Errorf("%d fields: the test does not see them", fields)
	}
}

func TestCommittedSchemaIsTheTypes(t *testing.T) {
	want, err := registry.Words().Schema()
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(read(t, schemaFile)) != strings.TrimSpace(string(want)) {
		t.Errorf("%s is not what the types say; run `make schema`", schemaFile)
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(read(t, schemaFile)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(api.SchemaID, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(api.SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// fits tells whether a document, as a YAML reader gives it, fits the schema.
func fits(schema *jsonschema.Schema, document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}
