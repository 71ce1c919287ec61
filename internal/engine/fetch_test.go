package engine

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"nfchain.dev/nfchain/internal/engine/login"
)

// loggedIn has the user's file keep these logins, and nothing else tell of any.
func loggedIn(t *testing.T, auths string) (file string) {
	t.Helper()
	dir := t.TempDir()
	for _, variable := range []string{"REGISTRY_AUTH_FILE", "XDG_CONFIG_HOME"} {
		t.Setenv(variable, "")
	}
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("HOME", dir)
	t.Setenv("DOCKER_CONFIG", dir)
	file = filepath.Join(dir, "config.json")
	if err := os.WriteFile(file, []byte(auths), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const guestAuth = "Z3Vlc3Q6c2VjcmV0" // guest:secret

// TestTold: an engine is told the login to the registry that an image is from, and none where there is none to that. Podman is told for which it is.
func TestTold(t *testing.T) {
	loggedIn(t, fmt.Sprintf(`{"auths": {"box.test": {"auth": %q}}}`, guestAuth))
	var told atomic.Value
	e := standIn(t, map[string]http.HandlerFunc{
		"/images/create": func(_ http.ResponseWriter, r *http.Request) {
			text, _ := base64.URLEncoding.DecodeString(r.Header.Get("X-Registry-Auth"))
			told.Store(string(text))
		},
		"/json": of(runtime.GOARCH),
	})
	if text, err := (fetching{registry: "box.test", address: "box.test", Login: login.Login{Token: "t", From: "a file"}}).header(true); err != nil || text != base64.URLEncoding.EncodeToString([]byte(`{"serveraddress":"box.test","identitytoken":"t"}`)) {
		t.Errorf("Podman is told a token by %s, %v", text, err)
	}
	const guest = `{"username":"guest","password":"secret","serveraddress":"box.test"}`
	for image, want := range map[string]string{"box.test/a:1": guest, "other.test/a:1": "", "a:1": "", "box.test:5000/a:1": ""} {
		if _, err := e.Prepare(t.Context(), Wanted{Image: image, Pull: "always"}, nil); err != nil || told.Load() != want {
			t.Errorf("%s: told %s, %v", image, told.Load(), err)
		}
		f, err := toFetch(t.Context(), image, login.PodmanFiles(), Podman)
		if err != nil {
			t.Fatal(err)
		}
		header, err := f.header(true)
		text, _ := base64.URLEncoding.DecodeString(header)
		if want != "" {
			want = `{"box.test":` + want + `}`
		}
		if string(text) != want || err != nil {
			t.Errorf("%s: Podman is told %s, %v", image, text, err)
		}
	}
}

// TestRefused: who is not let in is told what to do by what there was to log in with; what else goes wrong is told as it is.
func TestRefused(t *testing.T) {
	none := loggedIn(t, `{}`)
	for _, c := range []struct {
		keeps, said, want string
	}{
		{`{}`, "dial tcp: connection refused", "fetch image box.test/a: dial tcp: connection refused"},
		{`{}`, "open /x: permission denied", "fetch image box.test/a: open /x: permission denied"},
		{`{`, "manifest unknown", "fetch image box.test/a: manifest unknown"},
		{`{}`, "no basic auth credentials", "there is no login to box.test in FILE; if it takes one, log in to it (docker login box.test), as the user who runs nfchain"},
		{`{}`, "pull access denied for a, repository does not exist or may require 'docker login'", "there is no login to box.test in FILE"},
		{`{}`, "pulling from host box.test failed with status code [manifests 1]: 401 Unauthorized", "there is no login to box.test in FILE"},
		{`{}`, "unexpected status from HEAD request to http://box.test/v2/a/manifests/1: 403 Forbidden", "there is no login to box.test in FILE"},
		{fmt.Sprintf(`{"auths": {"box.test": {"auth": %q}}}`, guestAuth), "unauthorized: authentication required", "box.test does not let in who logs in as FILE has it, or not to this image; log in to it again (docker login box.test)"},
		{`{"auths": {"box.test": {"auth": "no"}}}`, "Unauthorized", "what to log in to box.test with was not all read: FILE: it is not as `docker login` writes it"},
	} {
		if err := os.WriteFile(none, []byte(c.keeps), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := toFetch(t.Context(), "box.test/a", login.DockerFiles(), Docker)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.failed(errors.New(c.said)); !strings.Contains(err.Error(), strings.ReplaceAll(c.want, "FILE", none)) || c.want[0] == 'f' && err.Error() != c.want || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s, with %s: %v", c.said, c.keeps, err)
		}
	}
}

// TestResolver: containerd's client logs in to the registry that an image is from, and to no other, whatever that asks for.
func TestResolver(t *testing.T) {
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	var sent atomic.Int64 // how often somebody else was told a login
	locked := func(mine bool) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, password, is := r.BasicAuth()
			if is && !mine {
				sent.Add(1)
			}
			if user != "guest" || password != "secret" {
				w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			images.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	its, other := locked(true), locked(false)
	answer := httptest.NewRecorder()
	put := httptest.NewRequest(http.MethodPut, "/v2/a/manifests/1", strings.NewReader(`{"schemaVersion":2,"manifests":[]}`))
	put.Header.Set("Content-Type", "application/vnd.oci.image.index.v1+json")
	if images.ServeHTTP(answer, put); answer.Code != http.StatusCreated {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	loggedIn(t, fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, its, guestAuth))
	for image, want := range map[string]string{its + "/a:1": "", other + "/a:1": "there is no login to " + other} {
		f, err := toFetch(t.Context(), image, login.DockerFiles(), Docker)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = f.resolver().Resolve(t.Context(), image)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(f.failed(err).Error(), want)) {
			t.Errorf("%s: %v", image, err)
		}
	}
	mine, err := toFetch(t.Context(), its+"/a:1", login.DockerFiles(), Docker)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := mine.resolver().Resolve(t.Context(), other+"/a:1"); err == nil || sent.Load() > 0 {
		t.Errorf("another was told the login %d times: %v", sent.Load(), err)
	}
}

// TestStops: an image says by a signal's name or number how its program is asked to end, or something that is none.
func TestStops(t *testing.T) {
	for by, want := range map[string]int{"": 0, "SIGQUIT": 3, "quit": 3, "3": 3, "SIGRTMIN+3": 37, "SIGNONE": 0, "0": 0, "-9": 0, "65": 0} {
		var c Container
		if c.stops(by); int(c.StopSignal) != want {
			t.Errorf("%q: %d", by, c.StopSignal)
		}
	}
}
