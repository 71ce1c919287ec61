package v1alpha1

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Any bytes are either refused, with a line for every problem, or decoded to
// something that can be written, passes the schema and reads the same again.
func FuzzDecode(f *testing.F) {
	addSeeds(f)
	schema := compiledSchema(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := testCatalogue().Decode("f", data)
		if err != nil {
			checkProblems(t, err)
			return
		}
		text := encode(t, file)
		if again := encode(t, mustDecode(t, text)); !bytes.Equal(text, again) {
			t.Errorf("written as\n%s\nand again as\n%s", text, again)
		}
		for _, doc := range bytes.Split(text, []byte("---\n"))[1:] {
			if err := validateJSON(schema, doc); err != nil {
				t.Errorf("the schema refuses %s: %v", doc, err)
			}
		}
	})
}

func addSeeds(f *testing.F) {
	good, _ := filepath.Glob("testdata/good/*")
	for _, path := range good {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	wrong, _ := filepath.Glob("testdata/wrong/*")
	for _, path := range wrong {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
}

func checkProblems(t *testing.T, err error) {
	var problems Problems
	if !errors.As(err, &problems) || len(problems) == 0 {
		t.Fatalf("not a list of problems: %v", err)
	}
	told := map[Problem]bool{}
	for _, p := range problems {
		if told[p] {
			t.Errorf("told twice: %s", p)
		}
		told[p] = true
		if p.Line < 1 || p.Column < 1 || p.Message == "" || bytes.ContainsAny([]byte(p.String()), "\n\r\x1b") {
			t.Errorf("problem %+v", p)
		}
	}
}
