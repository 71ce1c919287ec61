package v1alpha1

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	text, err := testCatalogue().Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(SchemaID, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(SchemaID)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// validate holds every document of a file to the schema.
func validate(t testing.TB, schema *jsonschema.Schema, text []byte) error {
	t.Helper()
	for _, doc := range strings.Split(string(text), "\n---\n") {
		object, err := yaml.YAMLToJSON([]byte(strings.ReplaceAll(doc, "\t", " ")))
		if err != nil {
			return err
		}
		if err := validateJSON(schema, object); err != nil {
			return err
		}
	}
	return nil
}

func validateJSON(schema *jsonschema.Schema, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func TestSchemaTakesGoodFiles(t *testing.T) {
	schema := compiledSchema(t)
	paths, _ := filepath.Glob("testdata/good/*")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, schema, text); err != nil {
			t.Errorf("%s: %#v", path, err)
		}
		if err := validate(t, schema, bytes.TrimPrefix(encode(t, mustDecode(t, text)), []byte("---\n"))); err != nil {
			t.Errorf("%s, encoded: %#v", path, err)
		}
	}
}

// What the types can say the schema refuses too. The rest, such as names that
// are taken, only Decode knows.
func TestSchemaRefusesWrongFiles(t *testing.T) {
	schema := compiledSchema(t)
	for _, name := range []string{"unknown_fields", "wrong_types", "missing", "words", "names", "options", "document_kind"} {
		archive, err := txtar.ParseFile("testdata/wrong/" + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		if validate(t, schema, archive.Files[0].Data) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestSchemaRefusesOneFault(t *testing.T) {
	const head = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: edge}\nspec: "
	schema := compiledSchema(t)
	if err := validate(t, schema, []byte(head+"{}")); err != nil {
		t.Fatalf("no fault: %#v", err)
	}
	for _, spec := range []string{
		"{colour: red}", "{wiring: veht}", "{mtu: 100}", `{mtu: "1500"}`, "{endpoints: [{name: a}]}",
		"{functions: [{name: a}]}", "{functions: [{name: a, kind: forward, ref: b}]}", "{functions: [{name: A, kind: forward}]}",
		"{functions: [{name: a, kind: shaper}]}", "{functions: [{name: a, kind: shaper, shaper: {rate: fast}}]}",
		"{functions: [{name: a, kind: forward, firewall: {}}]}", "{functions: [{name: a, kind: forward, forward: {x: 1}}]}",
	} {
		if validate(t, schema, []byte(head+spec)) == nil {
			t.Errorf("%s is taken", spec)
		}
	}
}

// TestSchemaTakesListsOfCPUsAsTheyAreRead, with spaces too.
func TestSchemaTakesListsOfCPUsAsTheyAreRead(t *testing.T) {
	schema := compiledSchema(t)
	for _, load := range []string{`"shared: 0, 2-3"`, `"shared:1"`, `{shared: "1 ,2"}`, "{shared: 1}", "exclusive"} {
		text := []byte("apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: edge}\nspec: {placement: {load: " + load + "}}\n")
		mustDecode(t, text)
		if err := validate(t, schema, text); err != nil {
			t.Errorf("%s is read, and the schema refuses it: %v", load, err)
		}
	}
}

func TestSchemaIsTheSameEachTime(t *testing.T) {
	first, _ := testCatalogue().Schema()
	for range 10 {
		if again, _ := testCatalogue().Schema(); !bytes.Equal(first, again) {
			t.Fatal("the schema differs from one time to the next")
		}
	}
	if !bytes.Contains(first, []byte("MTU of every link of the chain")) {
		t.Error("the comments on the types are missing")
	}
}
