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

// TestReadmeHasEveryKind of function, with what it does and all of its options.
func TestReadmeHasEveryKind(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(string(text), "| kind of function |")
	for _, k := range registry.Kinds() {
		if !strings.HasPrefix(rows[k.Name], k.Does) {
			t.Errorf("%s: it does %q, and the README says %q", k.Name, k.Does, rows[k.Name])
		}
		for _, o := range k.Options {
			if name, _, below := strings.Cut(o.Path, "."); !below && !strings.Contains(rows[k.Name], "`"+name) {
				t.Errorf("%s: the README has no option %s", k.Name, name)
			}
		}
		delete(rows, k.Name)
	}
	for name := range rows {
		t.Errorf("%s is no kind of function", name)
	}
}

// rowsOf a table by the names in their first columns.
func rowsOf(text, heading string) map[string]string {
	_, table, _ := strings.Cut(text, heading)
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]string{}
	for line := range strings.Lines(table) {
		if _, row, is := strings.Cut(line, "| `"); is {
			name, rest, _ := strings.Cut(row, "` | ")
			rows[name] = rest
		}
	}
	return rows
}

// TestReadmeHasEveryImage that is built here, with the capabilities that it needs.
func TestReadmeHasEveryImage(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(string(text), "| image |")
	images, err := registry.Images()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range images {
		row := rows[strings.TrimPrefix(i.Path, "images/")]
		if row == "" {
			t.Errorf("the README has no %s", i.Path)
		}
		for _, c := range i.Capabilities {
			if !strings.Contains(row, "`"+c+"`") {
				t.Errorf("the README does not say that %s needs %s", i.Path, c)
			}
		}
	}
	if len(rows) != len(images) {
		t.Errorf("the README has %d images, and there are %d", len(rows), len(images))
	}
}
