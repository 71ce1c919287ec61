package deploy_test

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
)

const onEngine = "wiring: engine\nendpoints: [{name: client, runtime: docker}, {name: server, runtime: docker, container: {image: box}, command: {args: [sleep, inf]}}]\n"

// TestNetworkOfAnotherEngine: where a chain's containers are of an engine that listens elsewhere, no network is made of this one.
func TestNetworkOfAnotherEngine(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	at := filepath.Join(t.TempDir(), "d.sock")
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Bool
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "1.41")
		made.Store(made.Load() || r.Method == http.MethodPost)
		switch {
		case strings.HasSuffix(r.URL.Path, "/networks/create"):
			_, _ = fmt.Fprint(w, `{"Id": "1"}`)
		case strings.Contains(r.URL.Path, "/networks/"):
			w.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprint(w, `{"message": "no such network"}`)
		case !strings.HasSuffix(r.URL.Path, "/_ping"):
			_, _ = fmt.Fprint(w, `[]`)
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	t.Setenv("DOCKER_HOST", "unix://"+at)
	if err := rundir.Keep(filepath.Join(deploy.StateDir(owner), "containers"), []byte("docker unix:///run/another.sock\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = rundir.Keep(filepath.Join(deploy.StateDir(owner), "containers"), nil, 0o644) // that engine is not there to be asked
		down(t, owner)
	})
	_, err = (&deploy.Deployer{}).Up(t.Context(), planned(t, owner, onEngine))
	if err == nil || !strings.Contains(err.Error(), "are of the engine at unix:///run/another.sock") || made.Load() {
		t.Errorf("made %t, %v", made.Load(), err)
	}
}

// TestHarmOfForeignInterfaces is refused: what others made does not come back as it was.
func TestHarmOfForeignInterfaces(t *testing.T) {
	p := planned(t, "edge", onEngine)
	if err := deploy.Harmable(p, api.Harm{What: api.HarmProgram, Node: "server"}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"client", "server"} {
		if err := deploy.Harmable(p, api.Harm{What: api.HarmInterface, Node: name}); err == nil || !strings.Contains(err.Error(), "the interface of "+name+" is the network's") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
