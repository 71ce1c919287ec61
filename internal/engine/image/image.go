// Package image reads what an image is made of that this machine has as a file or a directory: a tarball, as
// `docker save` writes it, with an OCI layout in it or of a plain root filesystem, a directory that is such a one, or what a Dockerfile builds from. It
// names the image by its content, and gives an engine what it loads or builds.
package image

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Repository is the name of all images that are loaded or built for nfchain; the tag is a digest of the content.
const Repository = "nfchain-local"

// Dockerfile is what a directory is built by.
const Dockerfile = "Dockerfile"

// Source is what an image is made of.
type Source struct {
	Path string
	// Built tells that it is a directory with a Dockerfile, and else a tarball, or a directory with a root filesystem.
	Built bool

	ignored ignored
	packed  packed
}

// errChanged is that of what is no longer what it was when it was named.
var errChanged = errors.New("its files changed while they were read; try again")

// Open finds out what is at a path. The error says what of it cannot become an image; the path is not in it.
func Open(path string) (Source, error) {
	s := Source{Path: path}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, errors.New("there is no such file or directory")
	case err != nil:
		return s, bare(err)
	case info.IsDir():
		s.Built = true
		if s.Path, err = filepath.EvalSymlinks(path); err != nil { // or there is nothing in what leads to it
			return s, bare(err)
		}
		if isRoot(s.Path) {
			s.Built = false
			s.packed, err = plain(s.Path)
			return s, err
		}
		return s, s.openDirectory()
	case !info.Mode().IsRegular():
		return s, errors.New("is neither a tarball nor a directory with a " + Dockerfile)
	}
	s.packed, err = unpack(path)
	return s, err
}

func (s *Source) openDirectory() error {
	info, err := os.Stat(filepath.Join(s.Path, Dockerfile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("is a directory without a " + Dockerfile + ", which says how the image is built, and no root filesystem, which would have a directory etc and a program in " + strings.Join(programsIn, ", ") + "; an OCI layout is taken as a tarball: tar -C DIRECTORY -cf FILE.tar .")
	case err != nil:
		return bare(err)
	case !info.Mode().IsRegular():
		return errors.New("has a " + Dockerfile + " that is not a file")
	}
	if s.ignored, err = readIgnored(filepath.Join(s.Path, ".dockerignore")); err != nil {
		return err
	}
	return s.walk(check)
}

// Name of the image, which has another tag when its content is another. Of a tarball that is what the image's own
// configuration says of it, which has digests of all layers, so that these need not be read.
func (s Source) Name() (string, error) {
	if !s.Built {
		return nameOf(s.packed.config), nil
	}
	sum, name := sha256.New(), ""
	err := s.writeDirectory(sum, func() error {
		name = named(sum.Sum(nil))
		return nil
	})
	return name, err
}

// Write what an engine builds, or loads as an image of this name.
func (s Source) Write(w io.Writer, name string) error {
	if s.Built {
		sum := sha256.New()
		return s.writeDirectory(io.MultiWriter(w, sum), func() error {
			if named(sum.Sum(nil)) != name {
				return errChanged
			}
			return nil
		})
	}
	return s.packed.write(w, s.Path, name)
}

// tagDigits of the content's digest are in the tag.
const tagDigits = 16

func nameOf(content []byte) string {
	sum := sha256.Sum256(content)
	return named(sum[:])
}

func named(sum []byte) string { return Repository + ":" + hex.EncodeToString(sum)[:tagDigits] }

// bare is an error of a file's without its name.
func bare(err error) error {
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// at is an error with the file below that it is about.
func at(name string, err error) error { return fmt.Errorf("%s: %w", name, bare(err)) }
