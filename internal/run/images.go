package run

import (
	"fmt"
	"path/filepath"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/engine/image"
)

// imagesOf a chain's functions that are made of what this machine has, by the paths of that: known ones, or where
// they are nil, as they were when they were first asked for.
func (h *Host) imagesOf(chain api.Chain, known map[string]string) (map[string]string, error) {
	if known != nil {
		return known, nil
	}
	images := map[string]string{}
	for _, i := range (&api.File{Chains: []api.Chain{chain}}).LocalImages() {
		path := i.Of.Image
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("%s: %s is from nowhere here; write an absolute path: %w", i.Path, path, ErrInput)
		}
		if images[path] != "" {
			continue
		}
		name, err := h.imageOf(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w: %w", i.Path, path, err, ErrInput)
		}
		images[path] = name
	}
	return images, nil
}

// imageOf what is at a path.
func (h *Host) imageOf(path string) (name string, err error) {
	if name, known := h.images.Load(path); known {
		return name.(string), nil
	}
	s, err := image.Open(path)
	if err != nil {
		return "", err
	}
	if name, err = s.Name(); err == nil {
		h.images.Store(path, name)
	}
	return name, err
}
