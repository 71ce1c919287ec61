package house

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/published"
)

// wholly are the sources all of whose one-host claims experiments test.
var wholly = []string{"livi2016", "zhao2017", "ocansey2017", "dcn05"}

// untested are those that no experiment tests yet, with the reason.
var untested = map[string]string{}

// TestEveryClaimOfOneHostIsTested by some published experiment.
func TestEveryClaimOfOneHostIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, id := range published.IDs() {
		text, err := published.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		f, err := registry.Words().Decode(id, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Experiments[0].Spec.Claims {
			tested[published.Whole(c.ID)] = true
		}
	}
	for _, c := range published.Claims() {
		if slices.Contains(wholly, published.Source(c.ID)) && c.Needs == published.OneHost && tested[c.ID] == (untested[c.ID] != "") {
			t.Errorf("%s: %s: tested by a published experiment: %t; said to be untested: %q", c.ID, c.Text, tested[c.ID], untested[c.ID])
		}
	}
}

// TestClaimsOfExperimentsAreCatalogued: what an experiment claims of a source that the
// catalogue has is in it. What a source left to the future has no statement there.
func TestClaimsOfExperimentsAreCatalogued(t *testing.T) {
	sources, known := map[string]bool{}, map[string]bool{}
	for _, c := range published.Claims() {
		sources[published.Source(c.ID)], known[c.ID] = true, true
	}
	for _, id := range published.IDs() {
		text, err := published.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		f, err := registry.Words().Decode(id, text)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, c := range f.Experiments[0].Spec.Claims {
			source := published.Source(c.ID)
			if sources[source] && !known[published.Whole(c.ID)] && !strings.HasPrefix(c.ID, source+"/future-") {
				t.Errorf("%s claims %s, which published/claims.yaml has not", id, c.ID)
			}
		}
	}
}
