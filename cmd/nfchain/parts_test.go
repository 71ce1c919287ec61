package main

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
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
	before := map[string]resource.Spec{"plain": was}
	want := []differingPart{{"rules[2].port", "3", "443"}, {"rules[10].comment", "", `"web"`}, {"rules[11].port", "9", ""}}
	if parts := partsOf(c, before); !slices.Equal(parts, want) {
		t.Errorf("%+v, want %+v", parts, want)
	}
	if text := want[0].text(); text != "    - rules[2].port: 3\n    + rules[2].port: 443" {
		t.Errorf("%q", text)
	}
	other := c
	other.Was = "sum 00000000deadbeef, rules=2" // somebody else changed it
	was.Sum, is.Sum = "few", "many"
	for name, c := range map[string]resource.Change{"of another": other, "that can be read": {Op: resource.Update, ID: "plain", Was: was.Fingerprint(), Spec: is}} {
		if parts := partsOf(c, map[string]resource.Spec{"plain": was}); len(parts) > 0 {
			t.Errorf("%s: %+v", name, parts)
		}
	}
}
