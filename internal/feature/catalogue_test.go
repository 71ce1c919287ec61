package feature

import (
	"regexp"
	"slices"
	"testing"
)

func TestCatalogueIsWellFormed(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(\.[a-z0-9_]+)*$`)
	seen := map[string]bool{}
	group := 0
	for _, q := range catalogue() {
		if !name.MatchString(q.name) || seen[q.name] || q.enables == "" || q.ask == nil {
			t.Errorf("question %q: bad name, named twice, or incomplete", q.name)
		}
		seen[q.name] = true
		at := slices.Index(Groups(), groupOf(q.name))
		if at < group {
			t.Errorf("%s of group %s comes after group %s", q.name, groupOf(q.name), Groups()[group])
		}
		group = at
	}
	if group != len(Groups())-1 {
		t.Errorf("the groups after %s are empty", Groups()[group])
	}
}

func TestEveryGapHasReasonAndFix(t *testing.T) {
	for _, f := range Probe(t.Context(), Host()).All() {
		if f.Present && (f.Why != "" || f.Fix != "") {
			t.Errorf("%s is present, and yet: %+v", f.Name, f)
		}
		if !f.Present && (f.Why == "" || f.Fix == "") {
			t.Errorf("%s is absent without reason or fix: %+v", f.Name, f)
		}
	}
}
