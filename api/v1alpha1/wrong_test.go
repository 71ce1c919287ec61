package v1alpha1

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the errors found into testdata/wrong")

// Each file of testdata/wrong holds a wrong file and the whole error it gets.
func TestWrongFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/wrong/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test data (%v)", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { testWrongFile(t, path) })
	}
}

func testWrongFile(t *testing.T, path string) {
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in, want := archive.Files[0], &archive.Files[1]
	_, err = testCatalogue().Decode(in.Name, in.Data)
	if err == nil {
		t.Fatal("decoded without an error")
	}
	got := err.Error() + "\n"
	if *update {
		want.Data = []byte(got)
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if string(want.Data) != got {
		t.Errorf("got\n%swant\n%s", got, want.Data)
	}
}
