package main

import (
	"os"
	"path/filepath"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/registry"
)

// findFiles makes the paths absolute that a file's wirings have in their options, and looks whether what is there is
// what they want.
func findFiles(filename string, text []byte, f *api.File) error {
	var wrong api.Problems
	for _, i := range f.LocalFiles() {
		_, path := i.Of.File()
		if *path == "" {
			continue
		}
		if api.Inline(*path) {
			if err := i.Of.CheckFile([]byte(*path)); err != nil {
				wrong = append(wrong, registry.Words().Wrong(filename, text, i.Kind, i.Name, i.Path, err.Error()))
			}
			continue
		}
		at, err := from(filename, *path)
		if err == nil {
			var found []byte
			if found, err = os.ReadFile(at); err == nil {
				err = i.Of.CheckFile(found)
			}
		}
		if err != nil {
			wrong = append(wrong, registry.Words().Wrong(filename, text, i.Kind, i.Name, i.Path, at+": "+err.Error()))
		}
		*path = at
	}
	return inOrder(wrong)
}

// from where a file is, the absolute path of another. Of standard input, "-", that is where nfchain runs.
func from(filename, path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	return filepath.Abs(filepath.Join(filepath.Dir(filename), path))
}
