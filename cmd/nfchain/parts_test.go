package main

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// plainSpec is data of which the kernel keeps a sum.
type plainSpec struct {
	Rules []plainRule `json:"rules"`
	Sum   string      `json:"-"`
}

type plainRule struct {
	Port    int    `json:"port,omitempty"`
	Comment string `json:"comment,omitempty"`
}

func (plainSpec) Kind() string                       { return "plain" }
func (plainSpec) Key() string                        { return "key" }
func (s plainSpec) Fingerprint() string              { return "sum " + s.Sum + ", rules=2" }
func (plainSpec) Commands(string) []resource.Command { return nil }

// TestParts of a change are the values that differ, in their order, where the kernel keeps a sum of what the chain's file had.
func TestParts(t *testing.T) {
	was, is := plainSpec{Sum: "0123456789abcdef"}, plainSpec{Sum: "fedcba9876543210"}
	for i := range 11 {
		was.Rules, is.Rules = append(was.Rules, plainRule{Port: i + 1}), append(is.Rules, plainRule{Port: i + 1})
	}
	is.Rules[2].Port, is.Rules[10].Comment = 443, "web"
	was.Rules = append(was.Rules, plainRule{Port: 9})
	c := resource.Change{Op: resource.Update, ID: "plain", Was: was.Fingerprint(), Spec: is}
	want := []differingPart{{"rules[2].port", "3", "443"}, {"rules[10].comment", "", `"web"`}, {"rules[11].port", "9", ""}}
	if parts := partsOf(c, was); !slices.Equal(parts, want) {
		t.Errorf("%+v, want %+v", parts, want)
	}
	if text := strings.Join(want[0].text(strings.ToUpper), " "); text != "- RULES[2].PORT: 3 + RULES[2].PORT: 443" {
		t.Errorf("%q", text)
	}
	within := is
	within.Rules = []plainRule{{Comment: `{"seed":9007199254740993}`}, {Comment: `{}`}, {Comment: `{"open`}}
	if values := flat(within); values["rules[0].comment.seed"] != "9007199254740993" || values["rules[1].comment"] != `"{}"` || values["rules[2].comment"] != `"{\"open"` || len(values) != 3 {
		t.Errorf("of texts that are documents: %v", values)
	}
	other := c
	other.Was = "sum 00000000deadbeef, rules=2" // somebody else changed it
	was.Sum, is.Sum = "few", "many"
	for name, c := range map[string]resource.Change{"of another": other, "that can be read": {Op: resource.Update, ID: "plain", Was: was.Fingerprint(), Spec: is}} {
		if parts := partsOf(c, was); len(parts) > 0 {
			t.Errorf("%s: %+v", name, parts)
		}
	}
}

// TestPartsOfAnEnvironment are told by the names of variables, wherever these stand.
func TestPartsOfAnEnvironment(t *testing.T) {
	was := process.Spec{Args: []string{"A=b", "sh"}, Env: []string{"A=b", "C=d", "D=e=f"}}
	is := process.Spec{Args: []string{"A=b"}, Env: []string{"B=x", "C=e", "D=e=f", "A=b"}}
	c := resource.Change{Op: resource.Update, ID: "process:web", Was: was.Fingerprint(), Spec: is}
	want := []differingPart{{"args[1]", `"sh"`, ""}, {"env[B]", "", `"x"`}, {"env[C]", `"d"`, `"e"`}}
	if parts := partsOf(c, was); !slices.Equal(parts, want) {
		t.Errorf("%+v, want %+v", parts, want)
	}
	if values := flat(process.Spec{Env: []string{"A=b", "A=c"}}); values["env[1]"] != `"A=c"` {
		t.Errorf("of a variable that is there twice: %v", values)
	}
}

// TestWords of a change are the lines that differ where the chain's file is known to be what the kernel has, and settings that differ whoever set them.
func TestWords(t *testing.T) {
	was := ruleset.Spec{Table: "t", Hook: "forward", Policy: "accept", Rules: []ruleset.Rule{
		{Match: ruleset.Match{Protocol: "tcp", DestinationPorts: ruleset.Ports{First: 443, Last: 443}}, Verdict: "accept"}, {Verdict: "drop"}}}
	is := was
	is.Rules = append([]ruleset.Rule{{Match: ruleset.Match{Protocol: "udp"}, Verdict: "drop"}}, was.Rules...)
	c := resource.Change{Op: resource.Update, Was: was.Fingerprint(), Spec: is}
	if lines := wordsOf(c, was); !slices.Equal(lines, []string{"+ meta l4proto udp drop"}) || isAnother(c, was) {
		t.Errorf("%q", lines)
	}
	if of := replacedBy(c, []resource.Spec{is, was}); of.Fingerprint() != was.Fingerprint() {
		t.Errorf("it is told by the file of an edit that failed: %v", of)
	}
	c.Was = ruleset.Spec{Policy: "drop"}.Fingerprint()
	if lines := wordsOf(c, was); len(lines) > 0 || !isAnother(c, was) {
		t.Errorf("of another rule set: %q", lines)
	}
	space := namespace.Spec{Name: "n", Sysctls: namespace.Sysctls(true, false)}
	c = resource.Change{Op: resource.Update, Was: "net/ipv4/conf/all/rp_filter=0 net/ipv4/conf/default/rp_filter=0 net/ipv4/ip_forward=0 ", Spec: space}
	if lines := wordsOf(c, space); !slices.Equal(lines, []string{"- net/ipv4/ip_forward=0", "+ net/ipv4/ip_forward=1"}) || isAnother(c, space) {
		t.Errorf("of a namespace: %q", lines)
	}
}
