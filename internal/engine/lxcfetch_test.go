package engine

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/containerd/containerd/v2/core/images"
	"github.com/google/go-containerregistry/pkg/registry"
	imagespec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sys/unix"
)

// registryOf images, at an address of its own, which counts what it is asked for.
type registryOf struct {
	address string
	mu      sync.Mutex
	asked   int
	layer   string // the digest of that of the last image
	damaged string // the digest of what is another than it says
}

func serveRegistry(t *testing.T) *registryOf {
	t.Helper()
	r := &registryOf{}
	all := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		r.asked++
		damaged := r.damaged != "" && request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/blobs/"+r.damaged)
		r.mu.Unlock()
		if damaged {
			w = spoiled{w}
		}
		all.ServeHTTP(w, request)
	}))
	t.Cleanup(s.Close)
	r.address = strings.TrimPrefix(s.URL, "http://")
	loggedIn(t, "{}")
	return r
}

// spoiled is an answer that is another.
type spoiled struct{ http.ResponseWriter }

func (s spoiled) Write(text []byte) (int, error) {
	other := slices.Clone(text)
	other[0] ^= 1
	return s.ResponseWriter.Write(other)
}

func (r *registryOf) was() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// put something there, and give its descriptor.
func (r *registryOf) put(t *testing.T, method, where, kind, text string) string {
	t.Helper()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	request, err := http.NewRequest(method, "http://"+r.address+"/v2/box/"+strings.ReplaceAll(where, "DIGEST", digest), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _ = answer.Body.Close(); answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %s", where, answer.Status)
	}
	return fmt.Sprintf(`"mediaType":%q,"size":%d,"digest":%q`, kind, len(text), digest)
}

// push an image with a file of this text, for an architecture, as Docker's older tools do or as OCI has it, and give its descriptor.
func (r *registryOf) push(t *testing.T, tag, text, architecture string, ofOCI bool) string {
	t.Helper()
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	err := archive.WriteHeader(&tar.Header{Name: "text", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = archive.Write([]byte(text))
	}
	if err = errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	kinds := [3]string{"application/vnd.docker.image.rootfs.diff.tar", "application/vnd.docker.container.image.v1+json", images.MediaTypeDockerSchema2Manifest}
	if ofOCI {
		kinds = [3]string{imagespec.MediaTypeImageLayer, imagespec.MediaTypeImageConfig, imagespec.MediaTypeImageManifest}
	}
	sums := fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))
	if text == "another" { // than its configuration says
		sums = "sha256:" + strings.Repeat("0", 64)
	}
	config := fmt.Sprintf(`{"architecture":%q,"os":"linux","config":{"Cmd":["run",%q]},"rootfs":{"type":"layers","diff_ids":[%q]}}`, architecture, text, sums)
	r.layer = fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))
	const blob = "blobs/uploads/?digest=DIGEST"
	return r.put(t, http.MethodPut, "manifests/"+tag, kinds[2], fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{%s},"layers":[{%s}]}`,
		kinds[2], r.put(t, http.MethodPost, blob, kinds[1], config), r.put(t, http.MethodPost, blob, kinds[0], layer.String())))
}

// pushAll as one, each for its architecture.
func (r *registryOf) pushAll(t *testing.T, tag string, each map[string]string) string {
	t.Helper()
	var all []string
	for architecture, one := range each {
		all = append(all, fmt.Sprintf(`{%s,"platform":{"os":"linux","architecture":%q}}`, one, architecture))
	}
	return r.put(t, http.MethodPut, "manifests/"+tag, imagespec.MediaTypeImageIndex, fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"manifests":[%s]}`, imagespec.MediaTypeImageIndex, strings.Join(all, ",")))
}

// digestIn a descriptor.
func digestIn(descriptor string) string {
	_, digest, _ := strings.Cut(descriptor, `"digest":"`)
	return strings.TrimSuffix(digest, `"`)
}

// textOf an image that LXC has.
func textOf(t *testing.T, u unpacked) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.files(), "text"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLXCFetches an image by its name and by its digest, once, and again where it is always to be fetched and another has the name.
func TestLXCFetches(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root may give files to others")
	}
	r, l := serveRegistry(t), lxc{t.TempDir()}
	for _, left := range []string{"sha256-" + strings.Repeat("0", 64), "0123"} { // by who was killed amid it
		if err := os.MkdirAll(filepath.Join(l.images(), left+asideEnd, "files"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	first := digestIn(r.push(t, "1", "first", runtime.GOARCH, false))
	get := func(image, pull string, asks bool, want string) string {
		t.Helper()
		var told []string
		was := r.was()
		u, err := l.image(t.Context(), Wanted{Image: r.address + "/" + image, Pull: pull}, func(text string) { told = append(told, text) })
		if err != nil {
			t.Fatalf("%s, %s: %v", image, pull, err)
		}
		if textOf(t, u) != want || !slices.Equal(u.config.Cmd, []string{"run", want}) {
			t.Errorf("%s, %s: is %s and runs %v, want %s", image, pull, textOf(t, u), u.config.Cmd, want)
		}
		if asked := r.was() > was; asked != asks || asks && told[0] != "fetching image "+r.address+"/"+image {
			t.Errorf("%s, %s: asked %v, told %q", image, pull, asked, told)
		}
		return u.called
	}
	if is := get("box:1", "", true, "first"); is != first {
		t.Errorf("it is called %s, want %s", is, first)
	}
	get("box:1", "missing", false, "first")
	get("box:1", "never", false, "first")
	get("box@"+first, "never", false, "first")
	get("box:1@"+first, "missing", false, "first")
	second := digestIn(r.pushAll(t, "1", map[string]string{"far": r.push(t, "far", "other", "far", true), runtime.GOARCH: r.push(t, "near", "second", runtime.GOARCH, true)}))
	get("box:1", "missing", false, "first")
	if is := get("box:1", "always", true, "second"); is != second {
		t.Errorf("it is called %s, want %s", is, second)
	}
	get("box:1", "never", false, "second")
	get("box@"+first, "never", false, "first")
	get("box@"+second, "always", true, "second")
	if err := os.RemoveAll(l.fetched(second).dir); err != nil { // as somebody does who wants it gone
		t.Fatal(err)
	}
	get("box:1", "missing", true, "second")
	if entries, err := os.ReadDir(l.images()); err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	var all sync.WaitGroup
	for _, tag := range []string{"3", "4"} {
		r.push(t, tag, "third", runtime.GOARCH, true)
	}
	for i := range 8 {
		all.Add(1)
		go func() { // which are several chains, or functions of one
			defer all.Done()
			if _, err := l.image(t.Context(), Wanted{Image: fmt.Sprintf("%s/box:%d", r.address, 3+i%2)}, nil); err != nil {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	get("box:3", "never", false, "third")
}

// TestLXCFetchesNot what is not there, what is for another architecture, and what is damaged: it says so, and leaves nothing.
func TestLXCFetchesNot(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root may give files to others")
	}
	r, l := serveRegistry(t), lxc{t.TempDir()}
	far := r.push(t, "far", "far", "far", false)
	r.pushAll(t, "fars", map[string]string{"far": far, "farther": r.push(t, "farther", "farther", "farther", false)})
	r.push(t, "2", "another", runtime.GOARCH, false)
	r.push(t, "1", "near", runtime.GOARCH, false)
	for image, want := range map[string]string{
		"box:far": "is for far, and this machine is " + runtime.GOARCH, "box:fars": "is for far, farther, and this machine is " + runtime.GOARCH,
		"box:9": "fetch image ", "box@sha256:" + strings.Repeat("0", 64): "fetch image ", "box:1": "unexpected commit digest ", "box:2": "is not what the image says",
	} {
		r.mu.Lock()
		r.damaged = map[string]string{"box:1": r.layer}[image]
		r.mu.Unlock()
		_, err := l.image(t.Context(), Wanted{Image: r.address + "/" + image}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), r.address+"/"+image) {
			t.Errorf("%s: %v, want %s", image, err, want)
		}
	}
	if entries, err := os.ReadDir(l.images()); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}
