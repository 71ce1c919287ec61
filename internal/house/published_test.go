package house

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/published"
)

// wholly are the sources all of whose one-host claims experiments test.
var wholly = []string{"livi2016", "zhao2017", "ocansey2017", "dcn05", "bittar2023"}

// shown are those that say what a chain does, and not how fast: what no figure of a measurement tells, a test shows. Each has its tests,
// file and name.
var shown = map[string][]string{
	"bittar2023/classify": {
		"internal/deploy/paths_test.go TestPathsInAnyOrder", // by the functions of their path, in its order, there and back
		"internal/deploy/paths_test.go TestPathsAreEdited",  // what no rule matches goes straight, or by the whole chain
	},
	"bittar2023/groups": {
		"internal/resource/steer/spread_test.go TestSharesAreEven",
		"internal/deploy/paths_test.go TestPathsOverReplicas",
		"internal/deploy/replica_test.go TestReplicasSeeBothWays",
		"internal/deploy/oneway_test.go TestOneWay",
	},
	"bittar2023/tap": {
		"internal/deploy/mirror_test.go TestMirrorCopies", // the tap sends nothing
		"examples/video_test.go TestVideoPlays",           // Fig. 2's two functions and three taps
		"examples/video_test.go TestVideoPlaysInContainers",
	},
}

// untested are those that no experiment tests yet, with the reason.
var untested = map[string]string{}

// TestEveryClaimOfOneHostIsTested by some published experiment, or shown by tests.
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
		if !slices.Contains(wholly, published.Source(c.ID)) || c.Needs != published.OneHost {
			continue
		}
		ways := 0
		for _, way := range []bool{tested[c.ID], shown[c.ID] != nil, untested[c.ID] != ""} {
			if way {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("%s: %s: tested by a published experiment: %t; shown by %v; said to be untested: %q", c.ID, c.Text, tested[c.ID], shown[c.ID], untested[c.ID])
		}
	}
}

// TestWhatShowsClaimsIsThere: claims that are shown are catalogued, of functions, and the tests are in their files.
func TestWhatShowsClaimsIsThere(t *testing.T) {
	functions := map[string]bool{}
	for _, c := range published.Claims() {
		functions[c.ID] = c.Is == "function"
	}
	for id, tests := range shown {
		if !functions[id] || len(tests) == 0 {
			t.Errorf("%s is no claim of what a chain does, or nothing shows it", id)
		}
		for _, test := range tests {
			file, name, _ := strings.Cut(test, " ")
			text, err := os.ReadFile(filepath.Join("..", "..", file))
			if err != nil || !strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
				t.Errorf("%s is said to be shown by %s, which is not there (%v)", id, test, err)
			}
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
