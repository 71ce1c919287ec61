package examples

import (
	"os"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/registry"
)

// TestReadme: the files that the README shows, whole or in part, are right.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(text), "```yaml\n")[1:]
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		if !strings.HasPrefix(block, "apiVersion") { // a part of a chain's spec
			block = "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: shown}\nspec:\n" + block
		}
		if _, err := registry.Words().Decode("README.md", []byte(block)); err != nil {
			t.Errorf("%v in\n%s", err, block)
		}
	}
	if len(blocks) < 2 {
		t.Errorf("the README shows %d files", len(blocks))
	}
}
