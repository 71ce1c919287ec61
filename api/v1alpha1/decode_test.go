package v1alpha1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func readTestFile(t testing.TB, name string) *File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "good", name))
	if err != nil {
		t.Fatal(err)
	}
	return mustDecode(t, data)
}

func mustDecode(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := testCatalogue().Decode("file", data)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, data)
	}
	return f
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func TestSmallestChainGetsDefaults(t *testing.T) {
	f := readTestFile(t, "smallest.yaml")
	body := func(kind string, options any) FunctionBody {
		return FunctionBody{Kind: kind, Replicas: 1, Direction: Both, Options: options}
	}
	want := DefaultChainSpec()
	want.Functions = []Function{
		{Name: "fw", FunctionBody: body("firewall",
			&firewallOptions{Policy: "accept", Rules: firewallRule{Generate: 100, Stateful: true}})},
		{Name: "shape", FunctionBody: body("shaper", &shaperOptions{Rate: 10e9, Discipline: "htb"})},
	}
	equal(t, "chains", len(f.Chains), 1)
	equal(t, "spec", f.Chains[0].Spec, want)
	equal(t, "endpoints", want.Endpoints, []Endpoint{{Name: "client"}, {Name: "server"}})
}

func TestJSONIsReadAsYAML(t *testing.T) {
	equal(t, "edge.json", readTestFile(t, "edge.json"), readTestFile(t, "smallest.yaml"))
}

func TestDocumentsOfOneFile(t *testing.T) {
	f := readTestFile(t, "full.yaml")
	equal(t, "chains", len(f.Chains), 2)
	equal(t, "functions", len(f.Functions), 1)
	equal(t, "standalone runtime", f.Functions[0].Spec.Runtime, "netns")
	equal(t, "memory", f.Functions[0].Spec.Resources.Memory, Size(64<<20))

	functions := f.Chains[0].Spec.Functions
	equal(t, "a reference has no body", functions[0], Function{Name: "fw", Ref: "shared"})
	shaper := functions[1].Options.(*shaperOptions)
	equal(t, "rate", shaper.Rate, Rate(25e8))
	equal(t, "burst", *shaper.Burst, Size(65536))
	equal(t, "classes", shaper.Classes, []shaperClass{{Rate: 1e8, Share: 0.5}, {Rate: 1e9}})
	equal(t, "options that are empty", functions[2].Options, &forwardOptions{})
	everywhere := f.Chains[0].Spec.Everywhere
	equal(t, "everywhere", everywhere, []Everywhere{{Except: []string{"users", "box"}, FunctionBody: FunctionBody{
		Kind: "firewall", Replicas: 1, Direction: Forward, Options: &firewallOptions{Policy: "drop"}}}})
}

func TestExperiment(t *testing.T) {
	spec := readTestFile(t, "experiment.yaml").Experiments[0].Spec
	no := false
	equal(t, "load", spec.Load, Load{
		Tool: "auto", Protocols: []string{"tcp"}, Flows: 8, Rate: LoadRate{Bits: 1e6}, Direct: &no,
		Duration: Duration(30 * time.Second), Repeats: 10, Affinity: "none",
	})
	equal(t, "quick", *spec.Quick, Load{Duration: Duration(time.Second), Repeats: 3})
	equal(t, "length", spec.Sweep[0].Values, []any{2, 3, 5, 10, 20})
	equal(t, "zerocopy", spec.Sweep[1].Values, []any{false, true})
	equal(t, "payload size", spec.Sweep[2].Values, []any{65536, 1460})
	equal(t, "at", spec.Reference[0].At, map[string]any{"length": 2, "zerocopy": true, "payload_size": 65536})
	equal(t, "chain", spec.Chain, DefaultChainSpec())
}

// A duration of which nothing is said is left to the points, whose protocol may be swept.
func TestDefaultDuration(t *testing.T) {
	for protocol, want := range map[string]time.Duration{"tcp": 5 * time.Second, "rfc6349": 31 * time.Second} {
		equal(t, protocol, time.Duration(Load{Protocols: []string{protocol}}.DefaultDuration()), want)
	}
	for load, want := range map[string]time.Duration{
		"{}":                                   0,
		"{protocols: [rfc6349]}":               0,
		"{protocols: [rfc6349], duration: 5s}": 5 * time.Second,
	} {
		f := mustDecode(t, []byte("apiVersion: nfchain.dev/v1alpha1\nkind: Experiment\nmetadata: {name: long}\nspec:\n  load: "+load+"\n"))
		equal(t, load, time.Duration(f.Experiments[0].Spec.Load.Duration), want)
	}
}

// What was decoded and written as JSON is a file that says the same.
func TestEncodeDecode(t *testing.T) {
	for _, name := range []string{"smallest.yaml", "full.yaml", "experiment.yaml"} {
		f := readTestFile(t, name)
		equal(t, name, mustDecode(t, encode(t, f)), f)
	}
}

// encode writes a file's documents as JSON, one after another.
func encode(t testing.TB, f *File) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, doc := range documentsOf(f) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "---\n%s\n", text)
	}
	return out.Bytes()
}

func documentsOf(f *File) []any {
	var docs []any
	for _, d := range f.Functions {
		docs = append(docs, d)
	}
	for _, d := range f.Chains {
		docs = append(docs, d)
	}
	for _, d := range f.Experiments {
		docs = append(docs, d)
	}
	return docs
}

func TestHostileFiles(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"size":           {strings.Repeat("#\n", 3<<20), "larger than 4 MiB"},
		"nested lists":   {strings.Repeat("[", 1<<17), "nested deeper"},
		"nested maps":    {strings.Repeat("{a: ", 1<<16), "nested deeper"},
		"nested entries": {strings.Repeat("- ", 1<<17), "nested deeper"},
		"nested blocks":  {staircase(200), "nested deeper"},
		"keys":           {strings.Repeat("a:\n-\n", 1<<15), "fields in one mapping"},
		"flow keys":      {"{" + strings.Repeat("a: 1, ", 1<<15) + "}", "fields in one mapping"},
		"tokens":         {strings.Repeat("- 1\n", 1<<18), "words and signs"},
		"binary":         {"\xff\xfe", "not UTF-8"},
		"nul":            {"kind: a\nname: \x00", "2:1: this line has a control character"},
		"null key":       {"~: 1", "plain text"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := testCatalogue().Decode("hostile.yaml", []byte(test.text))
			var problems Problems
			if !errors.As(err, &problems) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %.200v, want %q", err, test.want)
			}
		})
	}
}

// staircase is a block mapping nested n deep.
func staircase(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sk:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

func TestTooManyProblemsAreCut(t *testing.T) {
	text := "kind: ServiceFunction\nspec:\n  resources:\n  - &a\n"
	if _, err := testCatalogue().Decode("f", []byte(text)); err == nil {
		t.Error("an anchor was read")
	}
	text = "kind: NetworkServiceChain\nspec: {functions: [" + strings.Repeat("1,", 5000) + "]}"
	_, err := testCatalogue().Decode("f", []byte(text))
	if n := strings.Count(err.Error(), "\n"); n > 1100 {
		t.Errorf("%d lines of errors", n)
	}
	if !strings.Contains(err.Error(), "too many problems") {
		t.Error("the cut is not told")
	}
}

func BenchmarkDecode1000Functions(b *testing.B) {
	var text strings.Builder
	text.WriteString("apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: long}\nspec:\n  functions:\n")
	for i := range 1000 {
		fmt.Fprintf(&text, "  - name: f%d\n    kind: shaper\n    shaper: {rate: 10Gbit}\n", i)
	}
	for b.Loop() {
		mustDecode(b, []byte(text.String()))
	}
}

// TestWrongIsAtTheName of the document that is meant.
func TestWrongIsAtTheName(t *testing.T) {
	const one, two = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: a}\n", "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata:\n  name: b\n"
	p := testCatalogue().Wrong("f.yaml", []byte(one+"---\n"+two), KindChain, "b", "spec.mtu", "it is late")
	if got, want := p.String(), "f.yaml:8:9: spec.mtu: it is late"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWrongIsAtTheField where the document has it, or at the nearest that holds it.
func TestWrongIsAtTheField(t *testing.T) {
	const text = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: a}\nspec:\n  mtu: 1400\n  functions:\n  - {name: f, kind: shaper, replicas: 2, shaper: {rate: 1Gbit}}\n"
	for path, want := range map[string]string{"spec.mtu": "5:8", "spec.functions[0].replicas": "7:39", "spec.functions[0].branches[0]": "7:5", "spec.tuning.gro": "3:18", "spec": "3:18"} {
		p := testCatalogue().Wrong("f.yaml", []byte(text), KindChain, "a", path, "it is late")
		if got, want := p.String(), "f.yaml:"+want+": "+path+": it is late"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNoMemoryNodeIsOneThing, said or not, so that it can be one of a sweep's values.
func TestNoMemoryNodeIsOneThing(t *testing.T) {
	f := mustDecode(t, []byte("{apiVersion: nfchain.dev/v1alpha1, kind: NetworkServiceChain, metadata: {name: a}, spec: {placement: {numa: none}}}"))
	equal(t, "placement", f.Chains[0].Spec.Placement, Placement{})
}
