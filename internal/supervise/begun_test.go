package supervise

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestAskedThoughAnotherEngineIsGone: a program is asked though its function was in another engine before that is gone, of whose command nobody
// knows whether it has ended; what an engine is yet to end in the container that the program is in is ended first.
func TestAskedThoughAnotherEngineIsGone(t *testing.T) {
	const owner = "begun-test"
	dir := t.TempDir()
	t.Setenv("CONTAINERD_ADDRESS", filepath.Join(dir, "gone.sock"))
	listener, err := net.Listen("unix", filepath.Join(dir, "d.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DOCKER_HOST", "unix://"+listener.Addr().String())
	asked := make(chan string, 10)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "1.41")
		switch {
		case strings.HasSuffix(r.URL.Path, "/exec/before/json"):
			asked <- "end"
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message": "No such exec instance"}`)
		case strings.HasSuffix(r.URL.Path, "/containers/c/exec"):
			asked <- "run"
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"message": "it is paused"}`)
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	file := rundir.Asking(owner, "a")
	t.Cleanup(func() { _ = os.RemoveAll(rundir.Of(owner)) })
	p := &program{config: Config{Owner: owner}, spec: process.Spec{Node: "a", Container: &process.Container{Engine: engine.Docker, Name: "c"}}}
	for _, c := range []struct {
		noted, want string
		remains     bool
	}{
		{"containerd\nc\nbefore\n", "run", true},
		{"docker\nother\nbefore\n", "run", true},
		{"docker\nc\nbefore\n", "end run", false},
	} {
		if err := rundir.Keep(file, []byte(c.noted), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := p.askContained(t.Context(), []string{"true"}); err == nil || !strings.Contains(err.Error(), "it is paused") {
			t.Errorf("noted %q: %v", c.noted, err)
		}
		var did []string
		for len(asked) > 0 {
			did = append(did, <-asked)
		}
		if strings.Join(did, " ") != c.want {
			t.Errorf("noted %q: the engine was asked to %q, want %s", c.noted, did, c.want)
		}
		if now, err := p.begunBefore(); err != nil || (now != "") != c.remains {
			t.Errorf("noted %q: %q remains, %v", c.noted, now, err)
		}
	}
	// What an engine of before is yet to end, it does when it is back, whatever was noted since, which remains.
	noted := "docker\nc\nnow\n"
	if err := rundir.Keep(file, []byte(noted), 0o644); err != nil {
		t.Fatal(err)
	}
	p.endLeftBegun(t.Context(), "docker\nother\nbefore\n")
	if len(asked) != 1 {
		t.Errorf("the engine was asked %d times", len(asked))
	}
	if now, err := p.begunBefore(); now != noted || err != nil {
		t.Errorf("%q is noted, %v", now, err)
	}
}
