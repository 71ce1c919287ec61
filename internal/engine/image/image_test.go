package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// file of an archive.
type file struct{ name, text string }

func archive(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.text))})
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
	return b.Bytes()
}

func put(t *testing.T, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "image.tar")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// blob of an OCI layout, and its digest.
func blob(text string) (file, string) {
	sum := sha256.Sum256([]byte(text))
	digest := hex.EncodeToString(sum[:])
	return file{"blobs/sha256/" + digest, text}, "sha256:" + digest
}

func config(arch, more string) string {
	return fmt.Sprintf(`{"os":"linux","architecture":%q,"more":%q}`, arch, more)
}

// saved by an engine, under a name that others may have.
func savedImage(config string) []file {
	return []file{
		{"./c.json", config}, {"l/layer.tar", "layer"}, {"repositories", `{"nginx":{"latest":"x"}}`},
		{"manifest.json", `[{"Config":"c.json","RepoTags":["nginx:latest"],"Layers":["l/layer.tar"]}]`},
	}
}

// layout with an index that leads to another, what is attested, and an image for another architecture that is not in it.
func layout(config string) []file {
	c, of := blob(config)
	l, layer := blob("layer")
	m, manifest := blob(fmt.Sprintf(`{"config":{"digest":%q},"layers":[{"digest":%q}]}`, of, layer))
	_, lacking := blob("not there")
	i, inner := blob(fmt.Sprintf(`{"manifests":[{"digest":%q,"platform":{"os":"linux","architecture":"none"}},{"digest":%q,"platform":{"os":"unknown","architecture":"unknown"}},
		{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q}]}`, lacking, lacking, manifest))
	return []file{{"oci-layout", `{"imageLayoutVersion":"1.0.0"}`}, {"./index.json", fmt.Sprintf(`{"manifests":[{"mediaType":"application/vnd.oci.image.index.v1+json","digest":%q}]}`, inner)}, i, m, c, l}
}

// TestTarball: an image is called by its configuration, whatever the tarball calls it, and an engine gets that name
// alone.
func TestTarball(t *testing.T) {
	ours := config(runtime.GOARCH, "")
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(archive(t, savedImage(ours)...))
	_ = w.Close()
	want := nameOf([]byte(ours))
	for name, content := range map[string][]byte{
		"saved": archive(t, savedImage(ours)...), "layout": archive(t, layout(ours)...), "zipped": zipped.Bytes(),
		"both": archive(t, append(layout(ours), savedImage(ours)...)...),
	} {
		s, err := Open(put(t, content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := s.Name(); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", name, got, err, want)
		}
		var out bytes.Buffer
		if err := s.Write(&out, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		p, err := unpack(put(t, out.Bytes()))
		if err != nil || string(p.config) != ours {
			t.Errorf("%s: what an engine gets: %q, %v", name, p.config, err)
		}
		texts := listed(t, out.Bytes())
		if m := texts["manifest.json"]; !strings.Contains(m, `"RepoTags":["`+want+`"]`) || texts["repositories"] != "" || texts["index.json"] != "" {
			t.Errorf("%s: an engine is told of other names: %v", name, texts)
		}
	}
	if s, err := Open(put(t, archive(t, savedImage(config(runtime.GOARCH, "other"))...))); err != nil {
		t.Error(err)
	} else if name, _ := s.Name(); name == want {
		t.Error("another image has the same name")
	}
}

func listed(t *testing.T, content []byte) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		texts[h.Name] = string(text)
	}
}

// TestManyLayers: of an OCI layout only what says something is kept, however many layers come before it.
func TestManyLayers(t *testing.T) {
	ours := config(runtime.GOARCH, "")
	var files []file
	var layers []string
	for i := range mostText/largestText + 1 {
		l, digest := blob(strings.Repeat(string(rune('a'+i)), largestText))
		files, layers = append(files, l), append(layers, fmt.Sprintf(`{"digest":%q}`, digest))
	}
	c, of := blob("\n " + ours)
	m, manifest := blob(fmt.Sprintf(`{"config":{"digest":%q},"layers":[%s]}`, of, strings.Join(layers, ",")))
	files = append(files, c, m, file{"index.json", fmt.Sprintf(`{"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":%q}]}`, manifest)})
	s, err := Open(put(t, archive(t, files...)))
	if err != nil {
		t.Fatal(err)
	}
	if name, err := s.Name(); name != nameOf([]byte("\n "+ours)) || err != nil {
		t.Errorf("%s, %v", name, err)
	}
}

// modes of the files of an archive.
func modes(t *testing.T, content []byte) map[string]int64 {
	t.Helper()
	modes := map[string]int64{}
	for r := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return modes
		}
		if err != nil {
			t.Fatal(err)
		}
		modes[h.Name] = h.Mode
	}
}

// TestNoImage: what is wrong with a tarball is said before an engine is asked.
func TestNoImage(t *testing.T) {
	ours := config(runtime.GOARCH, "")
	whole := archive(t, savedImage(ours)...)
	damaged := layout(ours)
	damaged[4].text += " "
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"nothing", nil, "is not a tarball"},
		{"text", []byte("FROM scratch\n"), "is not a tarball"},
		{"no image", archive(t, file{"etc/passwd", "root"}), "holds no image"},
		{"cut", whole[:1538], "is not whole"},
		{"two", archive(t, file{"manifest.json", `[{"Config":"a"},{"Config":"b"}]`}), "holds 2 images"},
		{"no configuration", archive(t, file{"manifest.json", `[{"Config":"a.json"}]`}), "configuration, a.json, is not in it"},
		{"no layer", archive(t, savedImage(ours)[0], savedImage(ours)[3]), "layer l/layer.tar of the image is not in it"},
		{"another's", archive(t, savedImage(config("s390y", ""))...), "has an image for linux/s390y, and this machine is linux/" + runtime.GOARCH},
		{"another's layout", archive(t, layout(config("s390y", ""))...), "linux/s390y"},
		{"damaged", archive(t, damaged...), "is damaged"},
		{"manifest of something else", archive(t, file{"manifest.json", `{"name":"app"}`}), "manifest.json"},
	} {
		if _, err := Open(put(t, c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("none: %v", err)
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "without a Dockerfile") {
		t.Errorf("a directory: %v", err)
	}
}

func FuzzTarball(f *testing.F) {
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, content []byte) {
		name := put(t, content)
		if s, err := Open(name); err == nil {
			_ = s.Write(io.Discard, "x:y")
		}
	})
}

// TestDirectory: its name is that of what an engine would get of it.
func TestDirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	name := func() string {
		t.Helper()
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		name, err := s.Name()
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("Dockerfile", "FROM scratch\nCOPY . /\n", 0o644)
	write("a/b.txt", "b", 0o644)
	write(".dockerignore", "# not these\n*.log\nDockerfile\n", 0o644)
	first := name()
	write("x.log", "left out", 0o644)
	if err := os.Chtimes(filepath.Join(dir, "a/b.txt"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if name() != first {
		t.Error("what is left out, or a time, makes another image")
	}
	seen := map[string]bool{first: true}
	for _, c := range []struct {
		what   string
		change func()
	}{
		{"a content", func() { write("a/b.txt", "c", 0o644) }},
		{"a mode", func() { write("a/b.txt", "c", 0o755) }},
		{"that it runs as its owner", func() { write("a/b.txt", "c", 0o755|os.ModeSetuid) }},
		{"a file", func() { write("new", "", 0o644) }},
		{"the building", func() { write("Dockerfile", "FROM scratch\n", 0o644) }},
		{"a link", func() { _ = os.Symlink("b.txt", filepath.Join(dir, "a/link")) }},
	} {
		c.change()
		if n := name(); seen[n] {
			t.Errorf("%s makes no other image", c.what)
		} else {
			seen[n] = true
		}
	}
	var all bytes.Buffer
	if s, err := Open(dir); err != nil || s.Write(&all, name()) != nil {
		t.Fatal(err)
	}
	if mode := modes(t, all.Bytes())["a/b.txt"]; mode != 0o4755 {
		t.Errorf("an engine gets it with mode %o", mode)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	linked, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := linked.Name(); n != name() || err != nil {
		t.Errorf("by a link it is %s, error %v, and %s without", n, err, name())
	}
	var whole, part bytes.Buffer
	if err := linked.Write(&whole, name()); err != nil || !bytes.HasSuffix(whole.Bytes(), make([]byte, 1024)) {
		t.Errorf("it is not written to its end, error %v", err)
	}
	if err := linked.Write(&part, first); err == nil || !strings.Contains(err.Error(), "changed") || part.Len() != whole.Len()-1024 {
		t.Errorf("what has changed since it had a name is written, %d of %d bytes, error %v", part.Len(), whole.Len(), err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "fifo: is neither a file") {
		t.Errorf("a pipe: %v", err)
	}
}

// TestIgnored holds the patterns to what Docker documents of them.
func TestIgnored(t *testing.T) {
	all := []string{"a", "a/b", "a/b/c.log", "c.log", "d/c.log", "x1", "keep.log", "d/e/f"}
	for text, want := range map[string][]string{
		"":                      {},
		"*.log":                 {"c.log", "keep.log"},
		"**/*.log":              {"a/b/c.log", "c.log", "d/c.log", "keep.log"},
		"*.log\n!keep.log":      {"c.log"},
		"a":                     {"a", "a/b", "a/b/c.log"},
		"/a/":                   {"a", "a/b", "a/b/c.log"},
		"a\n!a/b":               {"a"},
		"*/c.log":               {"d/c.log"},
		"x?":                    {"x1"},
		"x[0-9]":                {"x1"},
		"d/**":                  {"d/c.log", "d/e/f"},
		"# a\n\n  c.log  \n":    {"c.log"},
		"*\n!d/e/f":             {"a", "a/b", "a/b/c.log", "c.log", "d/c.log", "x1", "keep.log"},
		".\n":                   {},
		"a.b\n(\n+\nx1|\n$^d/e": {},
	} {
		g, err := parseIgnored(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got := []string{}
		for _, name := range all {
			if g.has(name) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q leaves out %v; want %v", text, got, want)
		}
	}
	if _, err := parseIgnored("a\n[b\n"); err == nil || !strings.Contains(err.Error(), ".dockerignore:2") {
		t.Errorf("a bracket that is open: %v", err)
	}
}

// TestCopy: a directory that is built is copied without what is left out, and as it was when it was named.
func TestCopy(t *testing.T) {
	dir, into := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"Dockerfile": "FROM scratch\n", ".dockerignore": "*.log\n", "x.log": "left out", ".wh.a": "no whiteout", "a": "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	name, err := s.Name()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(t.Context(), into, name); err != nil {
		t.Fatal(err)
	}
	var got []string
	entries, err := os.ReadDir(into)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if want := []string{".dockerignore", ".wh.a", "Dockerfile", "a"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Copy(t.Context(), t.TempDir(), name); !errors.Is(err, errChanged) {
		t.Errorf("of what has changed: %v", err)
	}
}
