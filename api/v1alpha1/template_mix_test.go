package v1alpha1

import (
	"strings"
	"testing"
)

// TestMixMaySayWhatIsEverywhere in the place of the chain's, whatever the functions.
func TestMixMaySayWhatIsEverywhere(t *testing.T) {
	text := strings.Replace(knobs, "  - {name: none, functions: []}\n", `
  - {name: none, functions: []}
  - {name: rules, everywhere: [{kind: firewall, except: [client], firewall: {rules: {generate: 3}}}]}
`, 1)
	text = strings.Replace(text, "[none, walls]", "[none, walls, rules]", 1)
	text = strings.Replace(text, "  load:", "    everywhere: [{kind: shaper, shaper: {rate: 5Gbit}}]\n  load:", 1)
	template, err := testCatalogue().Template(mustDecode(t, []byte(text)).Experiments[0].Spec)
	if err != nil {
		t.Fatal(err)
	}
	for mix, want := range map[string]string{"none": "shaper", "walls": "shaper", "rules": "firewall"} {
		chain, _, problems := template.With([]Setting{{"mix", mix}})
		if len(problems) > 0 || len(chain.Everywhere) != 1 || chain.Everywhere[0].Kind != want {
			t.Errorf("%s: %+v, %v", mix, chain.Everywhere, problems)
		}
	}
	chain, _, problems := template.With([]Setting{{"chain.everywhere[0].firewall.rules.generate", 9}, {"mix", "rules"}})
	if len(problems) > 0 || chain.Everywhere[0].Options.(*firewallOptions).Rules.Generate != 9 || chain.Everywhere[0].Except[0] != "client" {
		t.Errorf("%+v, %v", chain.Everywhere, problems)
	}
	wrong := strings.Replace(text, "except: [client]", "except: [nobody]", 1)
	if _, err := testCatalogue().Decode("file", []byte(wrong)); err == nil || !strings.Contains(err.Error(), "mixes[1].everywhere[0].except[0]") {
		t.Errorf("nobody is excepted: %v", err)
	}
}
