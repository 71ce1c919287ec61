package house

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/published"
)

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
