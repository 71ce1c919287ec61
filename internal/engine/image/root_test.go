package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// layerOf files, each a name and a text, or the name of a directory with / behind it, or a link with -> between its names.
func layerOf(t *testing.T, files ...file) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.text)), Uid: os.Getuid(), Gid: os.Getgid()}
		if from, to, link := strings.Cut(f.name, "->"); link {
			h.Name, h.Typeflag, h.Linkname = from, tar.TypeSymlink, to
		} else if strings.HasSuffix(f.name, "/") {
			h.Typeflag, h.Mode = tar.TypeDir, 0o755
		}
		err := w.WriteHeader(h)
		if err == nil {
			_, err = w.Write([]byte(f.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func byXZ(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := xz.NewWriter(&b)
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func byZstd(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}

// unpackedTo a directory, an image of layers whose digests are these.
func unpackedTo(t *testing.T, digests string, files ...file) (string, error) {
	t.Helper()
	config := fmt.Sprintf(`{"os":"linux","architecture":%q,"config":{"Cmd":["run"],"WorkingDir":"/www"},"rootfs":{"diff_ids":[%s]}}`, runtime.GOARCH, digests)
	s, err := Open(put(t, archive(t, append(files, file{"c.json", config})...)))
	if err != nil {
		t.Fatal(err)
	}
	into := filepath.Join(t.TempDir(), "files")
	if err := os.Mkdir(into, 0o755); err != nil {
		t.Fatal(err)
	}
	of, err := s.Unpack(t.Context(), into)
	if err == nil && (of.WorkingDir != "/www" || len(of.Cmd) != 1) {
		t.Errorf("it says %+v", of)
	}
	if _, wrong := os.Stat(into + ".layers"); !errors.Is(wrong, fs.ErrNotExist) {
		t.Errorf("layers are left: %v", wrong)
	}
	return into, err
}

// TestUnpack lays layers over one another: what the upper one has is there, what it says is gone is not, however they are compressed.
func TestUnpack(t *testing.T) {
	below := layerOf(t, file{"etc/", ""}, file{"etc/gone", "below"}, file{"etc/changed", "below"}, file{"etc/kept", "below"})
	above := layerOf(t, file{"etc/.wh.gone", ""}, file{"etc/changed", "above"}, file{"link->etc/kept", ""})
	into, err := unpackedTo(t, fmt.Sprintf("%q,%q", digestOf(below), digestOf(above)),
		file{"a/layer.tar", below}, file{"b/layer.tar", zipped(above)}, file{"other", "is of no image"},
		file{"manifest.json", `[{"Config":"c.json","Layers":["a/layer.tar","b/layer.tar"]}]`})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"etc/changed": "above", "etc/kept": "below", "link": "below"} {
		if text, err := os.ReadFile(filepath.Join(into, name)); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := os.Stat(filepath.Join(into, "etc/gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is gone: %v", err)
	}
}

// TestUnpackWithin the directory, wherever the links of an image lead.
func TestUnpackWithin(t *testing.T) {
	outside := t.TempDir()
	layer := layerOf(t, file{"out->" + outside, ""}, file{"out/file", "text"}, file{"../above", "text"})
	into, err := unpackedTo(t, fmt.Sprintf("%q", digestOf(layer)), file{"layer.tar", layer}, file{"manifest.json", `[{"Config":"c.json","Layers":["layer.tar"]}]`})
	if entries, wrong := os.ReadDir(outside); wrong != nil || len(entries) > 0 {
		t.Errorf("outside there are %v, %v", entries, wrong)
	}
	if _, wrong := os.Stat(filepath.Join(into, "../above")); !errors.Is(wrong, fs.ErrNotExist) {
		t.Errorf("above there is one: %v, %v", wrong, err)
	}
}

// TestUnpackDamaged says which layer is not what the image says of it.
func TestUnpackDamaged(t *testing.T) {
	layer := layerOf(t, file{"f", "text"})
	saved := []file{{"layer.tar", layer}, {"manifest.json", `[{"Config":"c.json","Layers":["layer.tar"]}]`}}
	for digests, want := range map[string]string{
		fmt.Sprintf("%q", digestOf("other")):                     "layer.tar: is damaged",
		fmt.Sprintf("%q,%q", digestOf(layer), digestOf("other")): "is not whole: it has 1 layers of the image, and that has 2",
	} {
		if _, err := unpackedTo(t, digests, saved...); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestUnpackBuilt is for an engine.
func TestUnpackBuilt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Dockerfile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Unpack(t.Context(), t.TempDir()); !errors.Is(err, ErrBuilt) {
		t.Error(err)
	}
}

// TestPlain: a root filesystem is an image of one layer, named by its content however it is compressed, which an engine gets as one, and
// which says nothing of what it runs.
func TestPlain(t *testing.T) {
	root := func(text string) string {
		return layerOf(t, file{"./bin/", ""}, file{"./bin/box", text}, file{"./bin/sh->box", ""}, file{"./etc/", ""}, file{"./etc/passwd", "root"})
	}
	names := map[string]string{}
	for as, content := range map[string]string{"bare": root("box"), "zipped": zipped(root("box")), "by xz": byXZ(t, root("box")), "by zstd": byZstd(t, root("box")), "other": root("another")} {
		s, err := Open(put(t, []byte(content)))
		if err != nil {
			t.Fatalf("%s: %v", as, err)
		}
		if names[as], err = s.Name(); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := s.Write(&out, names[as]); err != nil {
			t.Fatal(err)
		}
		given, err := Open(put(t, out.Bytes()))
		if err != nil {
			t.Fatalf("what an engine gets of %s: %v", as, err)
		}
		for _, s := range []Source{s, given} {
			into := filepath.Join(t.TempDir(), "files")
			if err := os.Mkdir(into, 0o755); err != nil {
				t.Fatal(err)
			}
			of, err := s.Unpack(t.Context(), into)
			if err != nil || len(of.Cmd) > 0 {
				t.Errorf("%s: %+v, %v", as, of, err)
			}
			if link, err := os.Readlink(into + "/bin/sh"); err != nil || link != "box" {
				t.Errorf("%s: %q, %v", as, link, err)
			}
			if text, _ := os.ReadFile(into + "/bin/box"); string(text) == "" {
				t.Errorf("%s: nothing is in it", as)
			}
		}
	}
	if names["bare"] != names["zipped"] || names["bare"] != names["by xz"] || names["bare"] != names["by zstd"] || names["bare"] == names["other"] {
		t.Errorf("%v", names)
	}
}
