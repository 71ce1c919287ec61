package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
)

// A plain root filesystem, as debootstrap makes one and LXC's own images have it, is an image of one layer, which says nothing of what
// it runs.
const plainConfig = `{"architecture":%q,"os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`

// programsIn are the directories of a root filesystem in which there is what can be run.
var programsIn = []string{"bin", "sbin", "usr/bin", "usr/sbin"}

// isProgram tells of a file of an archive that it may be run where that is a root filesystem.
func isProgram(h *tar.Header) bool {
	const anybody = 0o111
	return slices.Contains(programsIn, path.Dir(path.Clean(h.Name))) &&
		(h.Typeflag == tar.TypeReg && h.Mode&anybody != 0 || h.Typeflag == tar.TypeSymlink || h.Typeflag == tar.TypeLink)
}

// plain is the image of a tarball or a directory that is a root filesystem. All of it is read, since nothing in it has its digest.
func plain(name string) (p packed, err error) {
	sum := sha256.New()
	p.bytes, err = expand(name, sum)
	p.configName, p.layers = "config.json", []string{layerName}
	p.config = configOf(sum)
	return p, err
}

// configOf says of an image that it has one layer of this sum.
func configOf(sum hash.Hash) []byte {
	return fmt.Appendf(nil, plainConfig, runtime.GOARCH, sum.Sum(nil))
}

// plain of what it was when it was named, or an error.
func (p packed) expand(name string, to io.Writer) error {
	sum := sha256.New()
	if _, err := expand(name, io.MultiWriter(to, sum)); err != nil && !errors.Is(err, tar.ErrWriteTooLong) {
		return err
	}
	if !bytes.Equal(configOf(sum), p.config) {
		return errChanged
	}
	return nil
}

// expand a tarball to what it is without compression, and a root filesystem in a directory to one.
func expand(name string, to io.Writer) (size int64, err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		counts := &counter{to: to}
		err := writeRoot(counts, name)
		return counts.size, err
	}
	file, err := os.Open(name)
	if err != nil {
		return 0, bare(err)
	}
	defer func() { _ = file.Close() }()
	r, err := expanded(file)
	if err != nil {
		return 0, err
	}
	return io.Copy(to, r)
}

// writePlain writes the files of such an image: its configuration, and the tarball as its layer.
func (p packed) writePlain(archive *tar.Writer, name string) error {
	if err := writeText(archive, p.configName, p.config); err != nil {
		return err
	}
	if err := archive.WriteHeader(entry(layerName, p.bytes)); err != nil {
		return err
	}
	if err := p.expand(name, archive); err != nil {
		return err
	}
	return archive.Close()
}

// takeOutPlain puts that layer into a directory.
func (p packed) takeOutPlain(name, dir string) (files map[string]string, err error) {
	to := filepath.Join(dir, layerName)
	file, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	err = p.expand(name, file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return map[string]string{layerName: to}, err
}
