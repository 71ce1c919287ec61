package engine

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// toBuild is a directory with a Dockerfile whose image has a name of its own.
func toBuild(t *testing.T) (image.Source, Wanted) {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, image.Dockerfile), fmt.Sprintf("FROM scratch\n# %d\n", time.Now().UnixNano()))
	s, err := image.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	name, err := s.Name()
	if err != nil {
		t.Fatal(err)
	}
	return s, Wanted{Image: name, From: dir}
}

// savedText is a tarball of an image without files, as an engine saves it.
func savedText(t *testing.T) []byte {
	t.Helper()
	layer := make([]byte, 1024)
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct{ name, text string }{
		{"c.json", fmt.Sprintf(`{"os":"linux","architecture":%q,"config":{"Cmd":["x"]},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`, runtime.GOARCH, sha256.Sum256(layer))},
		{"manifest.json", `[{"Config":"c.json","RepoTags":["other:1"],"Layers":["layer.tar"]}]`}, {"layer.tar", string(layer)},
	} {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(f.text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// nobodyBuilds has nothing that builds be here, and images be built in a directory of the test's.
func nobodyBuilds(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, of := range []speaker{asDocker, asPodman} {
		t.Setenv(of.variable, "unix://"+filepath.Join(dir, "nowhere.sock"))
	}
	t.Setenv("PATH", dir)
	t.Setenv(buildVariable, filepath.Join(dir, "build"))
	return filepath.Join(dir, "build")
}

// TestNobodyBuilds: where nothing builds that is said with what would.
func TestNobodyBuilds(t *testing.T) {
	dir := nobodyBuilds(t)
	s, w := toBuild(t)
	err := built(t.Context(), LXC, w, s, nil, nil)
	if err == nil || !strings.Contains(err.Error(), s.Path+": nothing that builds is here; start Docker") || !strings.Contains(err.Error(), "apt-get install buildah") {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestBuiltByDocker: an image that Docker has, or builds, comes to LXC as a tarball, of which nothing is left.
func TestBuiltByDocker(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("locks lie where only root writes")
	}
	dir := nobodyBuilds(t)
	s, w := toBuild(t)
	var builds int
	missing := func(answer http.ResponseWriter) {
		answer.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(answer, `{"message": "no such image"}`)
	}
	saves := http.StatusOK
	_ = standIn(t, map[string]http.HandlerFunc{
		w.Image + "/json": func(answer http.ResponseWriter, r *http.Request) {
			if builds == 0 {
				missing(answer)
				return
			}
			of(runtime.GOARCH)(answer, r)
		},
		"/build": func(answer http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			builds++
			_, _ = io.WriteString(answer, `{"stream": "Step 1/1 : FROM scratch"}`)
		},
		"/images/get": func(answer http.ResponseWriter, r *http.Request) {
			if name := r.URL.Query().Get("names"); name != w.Image {
				t.Errorf("asked for %s", name)
			}
			answer.WriteHeader(saves)
			_, _ = answer.Write(savedText(t))
		},
	})
	killed := filepath.Join(dir, LXC+"-0123.part")
	put(t, filepath.Join(killed, "image.tar"), "half")
	busy := filepath.Join(dir, LXC+"-4567.part")
	put(t, filepath.Join(busy, "image.tar"), "half")
	other, err := rundir.Take(makingFile(LXC + " " + image.Repository + ":4567"))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Release()
	var told []string
	l := lxc{t.TempDir()}
	for range 2 {
		u, err := l.image(t.Context(), w, func(what string) { told = append(told, what) })
		if err != nil || len(u.config.Cmd) != 1 {
			t.Fatalf("%+v, %v", u.config, err)
		}
	}
	if want := "looking for logins to registries, building an image from " + s.Path + ": Step 1/1 : FROM scratch, unpacking an image from " + s.Path; builds != 1 || strings.Join(told, ", ") != want {
		t.Errorf("built %d times, told %q", builds, told)
	}
	if exists(killed) || !exists(busy) {
		t.Error("what was left by one that was killed is there, or what another is at is not")
	}
	if err := os.RemoveAll(filepath.Join(l.dir, "images")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.image(t.Context(), w, nil); err != nil || builds != 1 {
		t.Errorf("%v, built %d times, though the engine that builds has it", err, builds)
	}
	saves = http.StatusInternalServerError
	if _, err := (lxc{t.TempDir()}).image(t.Context(), w, nil); err == nil || !strings.Contains(err.Error(), "save image "+w.Image+" of Docker") {
		t.Error(err)
	}
	stop := errors.New("no room")
	saves = http.StatusOK
	if err := built(t.Context(), LXC, w, s, nil, func(image.Source) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 { // the one that is busy
		t.Errorf("left: %v, %v", left, err)
	}
}
