package main

import (
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
		path, err := from(filename, i.Of.Image)
		if err == nil {
			_, err = image.Open(path)
		}
		if err != nil {
			wrong = append(wrong, registry.Words().Wrong(filename, text, i.Kind, i.Name, i.Path, path+": "+err.Error()))
		}
		i.Of.Image = path
	}
	return inOrder(wrong)
}

// inOrder of a file's lines are the things wrong with it, if there are any.
func inOrder(wrong api.Problems) error {
	if len(wrong) == 0 {
		return nil
	}
	slices.SortStableFunc(wrong, func(a, b api.Problem) int { return a.Line - b.Line })
	return wrong
}
