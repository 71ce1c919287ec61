package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var (
	update = flag.Bool("update", false, "write testdata/*.golden anew")
	pages  = flag.String("pages", "", "write the HTML pages to this directory, to look at them")
)

func TestGolden(t *testing.T) {
	reports := map[string]Report{"bench": sampleBench(), "experiment": sampleExperiment(), "instances": sampleInstances(), "gate": sampleGate(t)}
	writers := map[string]func(io.Writer, Report) error{"txt": Text, "md": Markdown, "json": JSON, "csv": CSV}
	for name, r := range reports {
		for suffix, write := range writers {
			t.Run(name+"."+suffix, func(t *testing.T) {
				var b bytes.Buffer
				if err := write(&b, r); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+suffix, b.Bytes())
			})
		}
	}
}

// golden compares with testdata/name.golden, or writes it under -update.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is written now (go test ./internal/report -update):\n%s", path, got)
	}
}

func TestPagesForTheEye(t *testing.T) {
	if *pages == "" {
		t.Skip("no -pages directory given")
	}
	for name, r := range everyReport() {
		f, err := os.Create(filepath.Join(*pages, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		if err := HTML(f, r); err != nil {
			t.Error(err)
		}
		_ = f.Close()
	}
	for name, d := range oddIndexes() {
		if err := os.WriteFile(filepath.Join(*pages, "index-"+name+".html"), []byte(renderIndex(t, d)), 0o644); err != nil {
			t.Error(err)
		}
	}
}
