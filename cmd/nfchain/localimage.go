package main

import (
	"path/filepath"
	"slices"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/registry"
)

// findImages makes the paths of a file's images absolute, which are from where the file is, and looks whether
// images can be made of what is there.
func findImages(filename string, text []byte, f *api.File) error {
	var wrong api.Problems
	for _, i := range f.LocalImages() {
		path := i.Of.Image
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(filename), path) // of standard input, "-", that is where nfchain runs
		}
		path, err := filepath.Abs(path)
		if err == nil {
			_, err = image.Open(path)
		}
		if err != nil {
			wrong = append(wrong, registry.Words().Wrong(filename, text, i.Kind, i.Name, i.Path, path+": "+err.Error()))
		}
		i.Of.Image = path
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.SortStableFunc(wrong, func(a, b api.Problem) int { return a.Line - b.Line })
	return wrong
}
