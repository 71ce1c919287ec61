package registry_test

import (
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/registry"
)

// TestExamplesLoadAndPlan: the example of each kind is a file, and its function can live where it is said to, and
// nowhere else.
func TestExamplesLoadAndPlan(t *testing.T) {
	for _, k := range registry.Kinds() {
		for _, runtime := range registry.Words().Runtimes {
			err := planned(t, k.Example, runtime)
			if can := slices.Contains(k.Runtimes, runtime); (err == nil) != can {
				t.Errorf("%s as %s: can it be? %v, but %v", k.Name, runtime, can, err)
			}
		}
		if k.Does == "" || strings.HasSuffix(k.Does, ".") {
			t.Errorf("%s does %q", k.Name, k.Does)
		}
	}
}

// TestContained: a kind that is a program of nfchain's own, but with some options, says which, and so does a plan that refuses it.
func TestContained(t *testing.T) {
	at := slices.IndexFunc(registry.Kinds(), func(k registry.Kind) bool { return k.Name == "impair" })
	k := registry.Kinds()[at]
	if k.Contained == "" || planned(t, strings.Replace(k.Example, "{backend", k.Contained+" #", 1), api.RuntimeDocker) != nil {
		t.Errorf("it cannot be in a container with %q", k.Contained)
	}
	if err := planned(t, strings.Replace(k.Example, "backend: netem, ", "", 1), api.RuntimeDocker); err == nil || !strings.Contains(err.Error(), "impair: "+k.Contained) {
		t.Errorf("without: %v", err)
	}
}

// TestWritesInReadOnly: a kind whose program writes is refused in a container that it cannot write to, but where it has a directory there.
func TestWritesInReadOnly(t *testing.T) {
	for mounts, refused := range map[string]bool{
		"": true, "{source: /x, target: /srv/, read_only: true}": true, "{source: /x, target: /srv/told}": true, "{source: /x, target: /sr}": true, "{source: /x, target: /srv/}": false,
	} {
		_, err := registry.Words().Decode("file", []byte("apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: a}\nspec:\n  functions:\n"+
			"  - {name: dpi, kind: dpi, runtime: docker, container: {image: box, read_only: true, mounts: ["+mounts+"]}}\n"))
		if says := err != nil && strings.Contains(err.Error(), "container.read_only: keeps the program from /srv"); says != refused || !refused && err != nil {
			t.Errorf("%s: %v", mounts, err)
		}
	}
}

// planned tells why an example cannot be planned with a runtime.
func planned(t *testing.T, example, runtime string) error {
	t.Helper()
	file, err := registry.Words().Decode("example", []byte(example))
	if err != nil {
		t.Fatalf("%v in\n%s", err, example)
	}
	chain := file.Chains[0]
	chain.Spec.Functions[0].Runtime = runtime
	if _, program := chain.Spec.Functions[0].Options.(api.Programmed); program && api.IsEngine(runtime) {
		chain.Spec.Functions[0].Container = &api.Container{Image: "box"}
	}
	if runtime == api.RuntimeInline {
		chain.Spec.Wiring = "ebpf"
	}
	_, err = plan.Make(chain, registry.Plan(), plan.Facts{Has: func(string) bool { return true }}, plan.Options{})
	return err
}

// TestOptions: units, bounds, words and defaults are those of the types.
func TestOptions(t *testing.T) {
	options := map[string]api.Option{}
	for _, k := range registry.Kinds() {
		for _, o := range k.Options {
			options[k.Name+"."+o.Path] = o
			if o.Description == "" {
				t.Errorf("%s.%s says nothing of itself", k.Name, o.Path)
			}
		}
	}
	for path, want := range map[string]struct{ is, defaults string }{
		"shaper.rate":                    {"rate, bit/s: 10Mbit", ""},
		"shaper.latency":                 {"time with its unit: 50ms", `"50ms"`},
		"shaper.classes[].match.source":  {"text", ""},
		"firewall.rules.list":            {"list of items with fields", ""},
		"firewall.rules.list[].protocol": {"text", ""},
		"impair.reorder.by":              {"whole number", "1"},
		"impair.loss.ratio":              {"number", ""},
		"command.args":                   {"list of text", ""},
		"command.env":                    {"text by name", ""},
		"dscp.code":                      {"text or a number", ""},
	} {
		o, there := options[path]
		if !there || o.Is != want.is || string(o.Default) != want.defaults {
			t.Errorf("%s: %+v", path, o)
		}
	}
	if o := options["shaper.rate"]; !o.Required {
		t.Error("a shaper's rate need not be given")
	}
	if o := options["impair.reorder.by"]; o.Bounds() != "1 to 10000" {
		t.Errorf("%q", o.Bounds())
	}
	if o := options["firewall.policy"]; !slices.Equal(o.OneOf, []string{"accept", "drop"}) {
		t.Errorf("%v", o.OneOf)
	}
}

// TestImages: the chain of each image is a file, and says what the image is.
func TestImages(t *testing.T) {
	all, err := registry.Images()
	if err != nil || len(all) < 3 {
		t.Fatalf("%v, %v", all, err)
	}
	for _, i := range all {
		if i.Does == "" || !strings.Contains(i.Example, "container: {image: ./"+strings.TrimPrefix(i.Path, "images/")+",") {
			t.Errorf("%+v", i)
		}
		for _, o := range i.Options {
			if o.Name != strings.ToUpper(o.Name) || o.Description == "" {
				t.Errorf("%s: %+v", i.Path, o)
			}
		}
	}
	at := slices.IndexFunc(all, func(i registry.Image) bool { return i.Path == "images/compress" })
	if o := all[at].Options; len(o) != 3 || o[2].Name != "RATE_KBIT" || o[2].Default != "100" || !strings.Contains(o[2].Description, "kbit/s") {
		t.Errorf("%+v", o)
	}
}
