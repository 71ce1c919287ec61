package examples

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/registry"
)

// TestDocuments: the files that the documents show, whole or in part, are right.
func TestDocuments(t *testing.T) {
	names, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, name := range append(names, "../README.md") {
		for _, block := range strings.Split(read(t, name), "```yaml\n")[1:] {
			shown++
			block, _, _ = strings.Cut(block, "```")
			if _, err := registry.Words().Decode(name, []byte(whole(block))); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, block)
			}
		}
	}
	if shown < 20 {
		t.Errorf("the documents show %d files", shown)
	}
}

// whole is a file of which a document may show a part: of a chain's spec, with or without that word, or of an experiment's.
func whole(block string) string {
	switch {
	case strings.HasPrefix(block, "apiVersion"):
		return block
	case !strings.HasPrefix(block, "spec:"):
		block = "spec:\n" + block
	}
	kind := "NetworkServiceChain"
	if strings.Contains(block, "\n  sweep:") {
		kind = "Experiment"
	}
	return "apiVersion: nfchain.dev/v1alpha1\nkind: " + kind + "\nmetadata: {name: shown}\n" + block
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeHasEveryKind of function, with what it does and all of its options.
func TestReadmeHasEveryKind(t *testing.T) {
	rows := rowsOf(read(t, "../README.md"), "| kind of function |")
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

// TestDocumentHasEveryImage that is built here, with the capabilities that it needs.
func TestDocumentHasEveryImage(t *testing.T) {
	rows := rowsOf(read(t, "../docs/containers.md"), "| image |")
	images, err := registry.Images()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range images {
		row := rows[strings.TrimPrefix(i.Path, "images/")]
		if row == "" {
			t.Errorf("docs/containers.md has no %s", i.Path)
		}
		for _, c := range i.Capabilities {
			if !strings.Contains(row, "`"+c+"`") {
				t.Errorf("docs/containers.md does not say that %s needs %s", i.Path, c)
			}
		}
	}
	if len(rows) != len(images) {
		t.Errorf("docs/containers.md has %d images, and there are %d", len(rows), len(images))
	}
}
