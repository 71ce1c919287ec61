package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// packed is the image that a tarball holds: where its configuration and layers are in it.
type packed struct {
	configName string
	config     []byte
	layers     []string
	// bytes of the tarball without compression, where that is itself the one layer; 0 where it holds layers.
	bytes int64
}

// The files of a tarball that say what is in it.
const (
	savedManifest = "manifest.json" // of docker save
	layoutIndex   = "index.json"    // of an OCI layout
)

// leftOut are those that name images as the tarball does, and not as they are to be called here.
var leftOut = map[string]bool{savedManifest: true, layoutIndex: true, "oci-layout": true, "repositories": true}

// saved is an image in the manifest of docker save.
type saved struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
	Layers   []string `json:"Layers"`
}

// largestText that a tarball may have in which it says something, and most of all of them.
const (
	largestText = 4 << 20
	mostText    = 64 << 20
)

// contents of a tarball, but for what is large: the names in it, and texts by their names.
type contents struct {
	names map[string]bool
	texts map[string][]byte
	// programs tells that there are some where a root filesystem has them.
	programs bool
}

// unpack what a tarball says of its image.
func unpack(name string) (packed, error) {
	c := contents{names: map[string]bool{}, texts: map[string][]byte{}}
	if err := c.read(name); err != nil {
		return packed{}, err
	}
	if c.programs && c.texts[savedManifest] == nil && c.texts[layoutIndex] == nil {
		return plain(name)
	}
	p, err := c.image()
	if err != nil {
		return p, err
	}
	for _, layer := range p.layers {
		if !c.names[layer] {
			return p, fmt.Errorf("is not whole: layer %s of the image is not in it", layer)
		}
	}
	return p, runsHere(p.config)
}

// runsHere is an error if an image is of another system or architecture than this machine.
func runsHere(config []byte) error {
	var of platform
	if err := json.Unmarshal(config, &of); err != nil {
		return fmt.Errorf("has an image whose configuration cannot be read: %w", err)
	}
	if !of.here() {
		return fmt.Errorf("has an image for %s, and this machine is %s", of, ours)
	}
	return nil
}

// platform that an image is for.
type platform struct {
	OS           string `json:"os"`
	Architecture string `json:"architecture"`
}

var ours = platform{"linux", runtime.GOARCH}

func (p platform) here() bool     { return p == ours }
func (p platform) String() string { return p.OS + "/" + p.Architecture }

func (c contents) image() (packed, error) {
	switch {
	case c.texts[savedManifest] != nil:
		return c.saved()
	case c.texts[layoutIndex] != nil:
		return c.layout()
	}
	return packed{}, fmt.Errorf("holds no image: there is neither %s in it, which `docker save` writes, nor %s of an OCI layout, nor a program in %s of a root filesystem",
		savedManifest, layoutIndex, strings.Join(programsIn, ", "))
}

func (c contents) saved() (packed, error) {
	var images []saved
	if err := json.Unmarshal(c.texts[savedManifest], &images); err != nil {
		return packed{}, at(savedManifest, err)
	}
	if len(images) != 1 {
		return packed{}, fmt.Errorf("holds %d images, of which one is wanted; save that alone: docker save -o FILE IMAGE", len(images))
	}
	p := packed{configName: path.Clean(images[0].Config)}
	for _, layer := range images[0].Layers {
		p.layers = append(p.layers, path.Clean(layer))
	}
	p.config = c.texts[p.configName]
	if p.config == nil {
		return p, fmt.Errorf("is not whole: the image's configuration, %s, is not in it", p.configName)
	}
	return p, nil
}

// descriptor of something in an OCI layout (OCI image specification, descriptor).
type descriptor struct {
	MediaType string    `json:"mediaType"`
	Digest    string    `json:"digest"`
	Platform  *platform `json:"platform"`
}

// blob is the file that it is.
func (d descriptor) blob() string { return "blobs/" + strings.Replace(d.Digest, ":", "/", 1) }

// index of images in an OCI layout, and manifest is one of them.
type index struct {
	Manifests []descriptor `json:"manifests"`
}

type manifest struct {
	Config descriptor   `json:"config"`
	Layers []descriptor `json:"layers"`
}

func (c contents) layout() (packed, error) {
	found, others, err := c.manifests(c.texts[layoutIndex], 0)
	if err != nil {
		return packed{}, err
	}
	var fitting []packed
	for _, m := range found {
		config, err := c.text(m.Config)
		if err != nil {
			return packed{}, err
		}
		var of platform
		if err := json.Unmarshal(config, &of); err != nil || !of.here() {
			others = append(others, of.String())
			continue
		}
		p := packed{configName: m.Config.blob(), config: config}
		for _, layer := range m.Layers {
			p.layers = append(p.layers, layer.blob())
		}
		fitting = append(fitting, p)
	}
	switch {
	case len(fitting) == 1:
		return fitting[0], nil
	case len(fitting) > 1:
		return packed{}, fmt.Errorf("holds %d images for %s, of which one is wanted; put that into a file of its own", len(fitting), ours)
	case len(others) > 0:
		return packed{}, fmt.Errorf("has images for %s, and this machine is %s", strings.Join(others, ", "), ours)
	}
	return packed{}, errors.New("is an OCI layout without an image")
}

// deepest that an index may be in another.
const deepest = 3

// manifests that an index leads to, and the other platforms for which it has some, which need not be in it.
func (c contents) manifests(text []byte, depth int) (all []manifest, others []string, err error) {
	var i index
	if err := json.Unmarshal(text, &i); err != nil {
		return nil, nil, at(layoutIndex, err)
	}
	for _, d := range i.Manifests {
		if d.Platform != nil && !d.Platform.here() {
			if d.Platform.OS != "unknown" { // what is attested of another
				others = append(others, d.Platform.String())
			}
			continue
		}
		text, err := c.text(d)
		if err != nil {
			return nil, nil, err
		}
		if strings.Contains(d.MediaType, "index") || strings.Contains(d.MediaType, "list") {
			if depth == deepest {
				return nil, nil, errors.New("has indices in indices without an end")
			}
			below, more, err := c.manifests(text, depth+1)
			if err != nil {
				return nil, nil, err
			}
			all, others = append(all, below...), append(others, more...)
			continue
		}
		var m manifest
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, nil, at(d.blob(), err)
		}
		all = append(all, m)
	}
	return all, others, nil
}

// text that a descriptor is of.
func (c contents) text(d descriptor) ([]byte, error) {
	text := c.texts[d.blob()]
	sum := sha256.Sum256(text)
	switch {
	case text == nil:
		return nil, fmt.Errorf("is not whole: %s is not in it", d.blob())
	case d.Digest != "sha256:"+hex.EncodeToString(sum[:]):
		return nil, fmt.Errorf("is damaged: %s is not what its name says", d.blob())
	}
	return text, nil
}

// read the names and the texts.
func (c *contents) read(name string) error {
	all := 0
	return each(name, func(h *tar.Header, r io.Reader) error {
		at := path.Clean(h.Name)
		c.names[at] = true
		c.programs = c.programs || isProgram(h)
		isText, isBlob := strings.HasSuffix(at, ".json"), strings.HasPrefix(at, "blobs/")
		if h.Typeflag != tar.TypeReg || !isText && !isBlob || h.Size > largestText || all+int(h.Size) > mostText {
			return nil
		}
		begin := make([]byte, min(h.Size, longestIndent))
		if _, err := io.ReadFull(r, begin); err != nil {
			return err
		}
		if !isText && !bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{")) {
			return nil // a layer
		}
		all += int(h.Size)
		rest, err := io.ReadAll(r)
		c.texts[at] = append(begin, rest...)
		return err
	})
}

// longestIndent that JSON may have before it begins.
const longestIndent = 64

// each calls back for every file of a tarball.
func each(name string, do func(h *tar.Header, r io.Reader) error) error {
	file, err := os.Open(name)
	if err != nil {
		return bare(err)
	}
	defer func() { _ = file.Close() }()
	r, err := expanded(file)
	if err != nil {
		return err
	}
	archive, first := tar.NewReader(r), true
	for ; ; first = false {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && !first:
			return nil
		case err != nil && first:
			return errors.New("is not a tarball, or compressed otherwise than by gzip, bzip2, xz or zstd")
		case err != nil:
			return fmt.Errorf("is not whole: %w", err)
		}
		if err := do(h, archive); err != nil {
			return err
		}
	}
}

// expanded is a file's content without compression. Of one that has none what is not read is skipped.
func expanded(file *os.File) (io.Reader, error) {
	begin := make([]byte, 6)
	n, _ := io.ReadFull(file, begin)
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, bare(err)
	}
	switch {
	case bytes.HasPrefix(begin[:n], []byte{0x1f, 0x8b}):
		r, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			return nil, fmt.Errorf("is not whole: %w", err)
		}
		return r, nil
	case bytes.HasPrefix(begin[:n], []byte("BZh")):
		return bzip2.NewReader(bufio.NewReader(file)), nil
	case bytes.HasPrefix(begin[:n], []byte("\xfd7zXZ\x00")):
		r, err := xz.NewReader(bufio.NewReader(file))
		if err != nil {
			return nil, fmt.Errorf("is not whole: %w", err)
		}
		return r, nil
	case bytes.HasPrefix(begin[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstd.NewReader(file, zstd.WithDecoderConcurrency(1)) // which begins nothing that would have to be closed
	}
	return file, nil
}

// write the tarball as docker save would write an image of that name, and of no other: what the tarball calls it may
// be the name of another image here, which would lose it.
func (p packed) write(w io.Writer, name, called string) error {
	text, err := json.Marshal([]saved{{p.configName, []string{called}, p.layers}})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	if err := writeText(archive, savedManifest, text); err != nil {
		return err
	}
	if p.bytes > 0 {
		return p.writePlain(archive, name)
	}
	err = each(name, func(h *tar.Header, r io.Reader) error {
		h.Name = path.Clean(h.Name)
		if leftOut[h.Name] || h.Name == "." {
			return nil
		}
		if h.Typeflag == tar.TypeLink {
			h.Linkname = path.Clean(h.Linkname)
		}
		if err := archive.WriteHeader(h); err != nil {
			return err
		}
		_, err := io.Copy(archive, r)
		return err
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

// entry of an archive.
func entry(name string, bytes int64) *tar.Header {
	return &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: bytes, ModTime: time.Unix(0, 0)}
}

func writeText(archive *tar.Writer, name string, text []byte) error {
	if err := archive.WriteHeader(entry(name, int64(len(text)))); err != nil {
		return err
	}
	_, err := archive.Write(text)
	return err
}
