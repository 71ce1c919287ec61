package v1alpha1

import (
	"strings"
	"testing"
	"time"
)

const knobs = `
apiVersion: nfchain.dev/v1alpha1
kind: Experiment
metadata: {name: knobs}
spec:
  chain:
    functions:
    - {name: fw, kind: firewall, firewall: {rules: {generate: 5}}}
    - {name: sh, kind: shaper, shaper: {rate: 1Gbit}}
  load: {rate: 10Mbit, duration: 2s}
  mixes:
  - {name: none, functions: []}
  - {name: walls, functions: [{name: a, kind: firewall}, {name: b, kind: firewall}]}
  sweep:
  - {field: mix, values: [none, walls]}
  - {field: load.rate, values: [1Gbit, 100kpps]}
`

func TestTemplateReadsWhatIsPutIn(t *testing.T) {
	spec := mustDecode(t, []byte(knobs)).Experiments[0].Spec
	template, err := testCatalogue().Template(spec)
	if err != nil {
		t.Fatal(err)
	}
	chain, load, problems := template.With([]Setting{
		{"chain.functions[sh].shaper.rate", "2Gbit"}, {"chain.functions[0].firewall.rules.generate", 7}, {"mtu", 9000}, {"load.rate", "100kpps"},
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	equal(t, "mtu", chain.MTU, 9000)
	equal(t, "rules", chain.Functions[0].Options.(*firewallOptions).Rules.Generate, 7)
	equal(t, "rate of the shaper", chain.Functions[1].Options.(*shaperOptions).Rate, Rate(2e9))
	equal(t, "rate", load.Rate, LoadRate{Frames: 100_000})
	equal(t, "duration", load.Duration, spec.Load.Duration)

	chain, load, problems = template.With(nil)
	equal(t, "problems", len(problems), 0)
	equal(t, "the chain as it was", chain, spec.Chain)
	equal(t, "the load as it was", load, spec.Load)
}

// TestTemplateLeavesTheDurationToThePoints where the file says none: their protocol may be
// swept too.
func TestTemplateLeavesTheDurationToThePoints(t *testing.T) {
	spec := mustDecode(t, []byte(strings.Replace(knobs, ", duration: 2s", "", 1))).Experiments[0].Spec
	template, err := testCatalogue().Template(spec)
	if err != nil {
		t.Fatal(err)
	}
	for want, settings := range map[Duration][]Setting{0: {{"mtu", 9000}}, Duration(7 * time.Second): {{"load.duration", "7s"}}} {
		_, load, problems := template.With(settings)
		equal(t, "problems", len(problems), 0)
		equal(t, "duration", load.Duration, want)
	}
}

// TestMixComesBeforeWhatGoesIntoIt, in whatever order they are varied.
func TestMixComesBeforeWhatGoesIntoIt(t *testing.T) {
	template, err := testCatalogue().Template(mustDecode(t, []byte(knobs)).Experiments[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	into := Setting{"chain.functions[b].firewall.rules.generate", 9}
	chain, _, problems := template.With([]Setting{into, {"mix", "walls"}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	equal(t, "rules", chain.Functions[1].Options.(*firewallOptions).Rules.Generate, 9)
	chain, _, problems = template.With([]Setting{{"mix", "none"}})
	equal(t, "functions of none", len(chain.Functions)+len(problems), 0)
	_, _, problems = template.With([]Setting{{"mix", "none"}, into})
	if len(problems) != 1 || problems[0].Path != into.Field || !strings.Contains(problems[0].Message, `no item "b"`) {
		t.Errorf("problems %v", problems)
	}
}

// TestCombinationThatIsRefusedIsNoMistake, as long as each of its values is taken by another.
func TestCombinationThatIsRefusedIsNoMistake(t *testing.T) {
	text := strings.Replace(knobs, "  sweep:", "  cells:\n  - {mtu: 1000, chain.addresses.ipv6: none}\n  - {mtu: 1500}\n  sweep:\n"+
		"  - {field: \"chain.functions[fw].replicas\", values: [1]}", 1)
	if _, err := testCatalogue().Decode("file", []byte(text)); err == nil || !strings.Contains(err.Error(), "sweep[0].field: chain.functions[fw].replicas: chain.functions") {
		t.Errorf("no mix has fw: %v", err)
	}
	text = strings.Replace(strings.Replace(text, "fw].replicas", "b].replicas", 1), "[none, walls]", "[walls]", 1)
	spec := mustDecode(t, []byte(text)).Experiments[0].Spec
	template, err := testCatalogue().Template(spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, problems := template.With([]Setting{{"mtu", 1000}}); len(problems) != 1 || problems[0].Path != "chain.mtu" {
		t.Errorf("IPv6 over an MTU of 1000: %v", problems)
	}
}
