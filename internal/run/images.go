package run

import (
	"fmt"
	"path/filepath"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine/image"
)

// imagesOf a chain's functions that are made of what this machine has, by the paths of that: known ones, or where
// they are nil, as they are now.
func imagesOf(chain api.Chain, known map[string]string) (map[string]string, error) {
	if known != nil {
		return known, nil
	}
	images := map[string]string{}
	for _, f := range chain.Spec.Functions {
		if !f.Container.Local() {
			continue
		}
		path := f.Container.Image
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("function %s: container.image: %s is from nowhere here; write an absolute path: %w", f.Name, path, ErrInput)
		}
		if images[path] != "" {
			continue
		}
		s, err := image.Open(path)
		if err == nil {
			images[path], err = s.Name()
		}
		if err != nil {
			return nil, fmt.Errorf("function %s: container.image: %s: %w: %w", f.Name, path, err, ErrInput)
		}
	}
	return images, nil
}
