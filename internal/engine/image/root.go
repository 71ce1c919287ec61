package image

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	containerd "github.com/containerd/containerd/v2/pkg/archive"
	"github.com/containerd/containerd/v2/pkg/archive/compression"
	spec "github.com/opencontainers/image-spec/specs-go/v1"
)

// ErrBuilt is that of an image that is there only when it has been built, by its Dockerfile.
var ErrBuilt = errors.New("is a directory with a " + Dockerfile)

// Unpack a tarball's layers over one another into a directory, which is there and empty, and give what the image says of what it runs.
// What lies beside that directory meanwhile has its name with .layers behind it.
func (s Source) Unpack(ctx context.Context, into string) (of spec.ImageConfig, err error) {
	if s.Built {
		return of, ErrBuilt
	}
	aside := into + ".layers"
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	files, err := s.packed.takeOut(s.Path, aside)
	if err != nil {
		return of, err
	}
	return Lay(ctx, s.packed.config, s.packed.layers, files, into)
}

// Lay an image's layers, of which there are these files by their names, over one another into a directory, which is there and empty, and give what
// its configuration says of what it runs. Each layer is what that says of it, or it is an error.
func Lay(ctx context.Context, configuration []byte, layers []string, files map[string]string, into string) (of spec.ImageConfig, err error) {
	var config spec.Image
	if err := json.Unmarshal(configuration, &config); err != nil {
		return of, fmt.Errorf("has an image whose configuration cannot be read: %w", err)
	}
	sums := config.RootFS.DiffIDs
	if len(sums) != len(layers) {
		return of, fmt.Errorf("is not whole: it has %d layers of the image, and that has %d", len(layers), len(sums))
	}
	for i, layer := range layers {
		if err := apply(ctx, files[layer], into, sums[i].String()); err != nil {
			return of, at(layer, err)
		}
	}
	return config.Config, nil
}

// layerName is what docker save called layers, where one that is there twice may be a link.
const layerName = "layer.tar"

// takeOut the layers of a tarball into files of a directory, which it gives by their names.
func (p packed) takeOut(name, dir string) (files map[string]string, err error) {
	files = map[string]string{}
	for _, layer := range p.layers {
		files[layer] = ""
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if p.bytes > 0 {
		return p.takeOutPlain(name, dir)
	}
	links := map[string]string{}
	all := map[string]string{}
	err = each(name, func(h *tar.Header, r io.Reader) error {
		at := path.Clean(h.Name)
		switch h.Typeflag {
		case tar.TypeSymlink:
			links[at] = path.Join(path.Dir(at), h.Linkname)
		case tar.TypeLink:
			links[at] = path.Clean(h.Linkname)
		case tar.TypeReg:
			if _, wanted := files[at]; !wanted && path.Base(at) != layerName {
				return nil
			}
			all[at] = filepath.Join(dir, fmt.Sprint(len(all)))
			return writeFile(all[at], r)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for layer := range files {
		to := layer
		for range len(links) {
			if next, is := links[to]; is {
				to = next
			}
		}
		if files[layer] = all[to]; files[layer] == "" {
			return nil, fmt.Errorf("is not whole: layer %s of the image is not in it", layer)
		}
	}
	return files, nil
}

func writeFile(name string, r io.Reader) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, r)
	return errors.Join(err, file.Close())
}

// apply a layer to what is in a directory: what it has comes over that, and what it says is gone goes. Whatever links there are, nothing
// is written outside.
func apply(ctx context.Context, name, into, sum string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := compression.DecompressStream(file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	is := sha256.New()
	whole := io.TeeReader(r, is)
	if _, err := containerd.Apply(ctx, into, whole); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, whole); err != nil { // what is behind the archive's end
		return err
	}
	if "sha256:"+hex.EncodeToString(is.Sum(nil)) != sum {
		return errors.New("is damaged: it is not what the image says of it")
	}
	return nil
}
