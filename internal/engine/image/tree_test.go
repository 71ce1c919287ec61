package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tree is a directory with these files, each a name and a text; those in bin may be run.
func tree(t *testing.T, files ...file) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		name, mode := filepath.Join(dir, f.name), os.FileMode(0o644)
		if strings.Contains(f.name, "bin/") {
			mode = 0o755
		}
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, []byte(f.text), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTree: a directory that is a root filesystem is an image of one layer, with its links, owners, modes and times, and without what a
// container has of its engine; it has another name when it is another.
func TestTree(t *testing.T) {
	dir := tree(t, file{"bin/box", "box"}, file{"etc/passwd", "root"}, file{"dev/left", "out"}, file{".dockerignore", "etc"})
	at := time.Date(2001, 2, 3, 4, 5, 6, 7, time.UTC)
	own := os.Getuid()
	if own == 0 {
		own = 1234
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := errors.Join(os.Symlink("box", dir+"/bin/sh"), os.Link(dir+"/bin/box", dir+"/bin/too"), os.Chown(dir+"/etc/passwd", own, -1), os.Chtimes(dir+"/etc/passwd", at, at)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil || s.Built {
		t.Fatal(err)
	}
	name, err := s.Name()
	if err != nil {
		t.Fatal(err)
	}
	var out, layer bytes.Buffer
	if err := errors.Join(s.Write(&out, name), writeRoot(&layer, dir)); err != nil {
		t.Fatal(err)
	}
	if text := listed(t, out.Bytes())[layerName]; text != layer.String() {
		t.Error("an engine does not get it as its one layer")
	}
	is := map[string]*tar.Header{}
	for r := tar.NewReader(&layer); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		is[h.Name] = h
	}
	passwd := is["./etc/passwd"]
	if passwd == nil || passwd.Uid != own || !passwd.ModTime.Equal(at.Truncate(time.Second)) || is["./bin/sh"].Linkname != "box" || is["./bin/too"].Linkname != "./bin/box" || is["./bin/box"].Mode != 0o755 {
		t.Errorf("%+v", is)
	}
	if is["./dev/"] == nil || is["./dev/left"] != nil || is["./socket"] != nil {
		t.Error("it has what is a running system's")
	}
	if err := os.WriteFile(dir+"/bin/box", []byte("changed"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(io.Discard, name); !errors.Is(err, errChanged) {
		t.Errorf("its files are others: %v", err)
	}
	if s, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	if another, err := s.Name(); err != nil || another == name {
		t.Errorf("another has the same name, %s: %v", another, err)
	}
}

// TestNoTree: a directory that is not clearly a root filesystem is none, whatever may be run in it.
func TestNoTree(t *testing.T) {
	outside := tree(t, file{"etc/passwd", "root"})
	if err := os.Symlink("/bin", outside+"/bin"); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{
		"a project": tree(t, file{"bin/run", "text"}, file{"main.go", "text"}), "no program": tree(t, file{"etc/passwd", "root"}, file{"bin.text", "text"}),
		"programs outside": outside,
	} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is a directory without a Dockerfile") || !strings.Contains(err.Error(), "etc") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if s, err := Open(tree(t, file{"bin/run", "text"}, file{"etc/passwd", "root"}, file{Dockerfile, "FROM scratch\n"})); err != nil || !s.Built {
		t.Errorf("one with a Dockerfile is built: %v, %v", s.Built, err)
	}
	if s, err := Open(tree(t, file{"usr/bin/run", "text"}, file{"etc/passwd", "root"})); err != nil || s.Built {
		t.Errorf("one with programs in usr/bin: %v", err)
	}
}
