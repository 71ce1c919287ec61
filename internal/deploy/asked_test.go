package deploy_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/container"
)

// standIn is an engine with Docker's API that has one container of the owner's at most, and no image.
type standIn struct {
	at string
	// node whose container it has; "" where it has none.
	node string

	mu     sync.Mutex
	listed int
	labels map[string]string
	gone   bool
}

// listen at a socket that the environment tells of.
func (s *standIn) listen(t *testing.T, name string) {
	t.Helper()
	at := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	s.at = "unix://" + at
	t.Setenv(engine.Variable(name), s.at)
}

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("API-Version", "1.41")
	answer := func(is any) { _ = json.NewEncoder(w).Encode(is) }
	switch is := r.URL.Path; {
	case strings.HasSuffix(is, "/_ping"):
	case strings.HasSuffix(is, "/containers/json"):
		s.listed++
		if s.node == "" || s.gone {
			answer([]any{})
			return
		}
		var filters struct{ Label map[string]bool }
		_ = json.Unmarshal([]byte(r.URL.Query().Get("filters")), &filters)
		s.labels = map[string]string{"nfchain.node": s.node}
		for label := range filters.Label {
			name, value, _ := strings.Cut(label, "=")
			s.labels[name] = value
		}
		answer([]any{map[string]any{"Id": "1"}})
	case strings.HasSuffix(is, "/containers/1/json") && !s.gone:
		answer(map[string]any{
			"Id": "1", "Name": "/nfchain." + s.labels["nfchain.owner"] + "." + s.node, "State": map[string]any{"Status": "exited"},
			"Config":     map[string]any{"Labels": s.labels, "Entrypoint": []string{"/.nfchain", engine.EnterCommand, "--"}},
			"HostConfig": map[string]any{"NetworkMode": "none"},
		})
	case r.Method == http.MethodDelete:
		s.gone = true
	case strings.HasSuffix(is, "/networks"):
		answer([]any{})
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = fmt.Fprint(w, `{"message": "no such thing"}`)
	}
}

// times that it was asked for containers since it was last told.
func (s *standIn) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.listed = 0 }()
	return s.listed
}

const inContainer = "functions: [{name: web, kind: command, runtime: docker, container: {image: box}, command: {args: [sleep, inf]}}]\n"

// TestAsked: a chain's containers are looked for by the engines that had some of them, and by those of its plan; by all where it is not known which
// had some; and of a chain that has none each is asked once.
func TestAsked(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	var docker, podman standIn
	docker.listen(t, engine.Docker)
	podman.listen(t, engine.Podman)
	downAfter(t, owner)
	p := planned(t, owner, inContainer)
	for _, c := range []struct {
		noted string
		other bool
	}{{"", true}, {"docker " + docker.at + "\n", false}, {"docker " + docker.at + "\npodman " + podman.at + "\n", true}, {"podman " + podman.at + "\n", true}} {
		if err := rundir.Keep(filepath.Join(deploy.StateDir(owner), "containers"), []byte(c.noted), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := (&deploy.Deployer{DryRun: true}).Up(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		if own, other := docker.times(), podman.times(); own != 1 || (other == 1) != c.other || other > 1 {
			t.Errorf("noted %q: the plan's engine was asked %d times, and another %d times", c.noted, own, other)
		}
	}
	bare := nstest.Owner(t)
	downAfter(t, bare)
	for up := range 3 {
		if _, err := (&deploy.Deployer{}).Up(t.Context(), planned(t, bare, "functions: [{name: a, kind: forward}]\n")); err != nil {
			t.Fatal(err)
		}
		want := 1
		if up > 0 {
			want = 0
		}
		if d, p := docker.times(), podman.times(); d != want || p != want {
			t.Errorf("when a chain without containers is brought up for the %d. time engines are asked for them %d and %d times", up+1, d, p)
		}
	}
}

// TestLostMemoryWithoutContainers: so it is where the chain is to have no container any more, and where one engine does not answer.
func TestLostMemoryWithoutContainers(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	docker := standIn{node: "web"}
	docker.listen(t, engine.Docker)
	t.Setenv(engine.Variable(engine.Podman), "unix:///run/nosuch.sock")
	downAfter(t, owner)
	p := planned(t, owner, "functions: [{name: web, kind: forward}]\n")
	dry, err := (&deploy.Deployer{DryRun: true}).Up(t.Context(), p)
	if err != nil || docker.gone {
		t.Fatalf("it is gone before: %v, %v", docker.gone, err)
	}
	name := "container/nfchain." + owner + ".web"
	is := func(c resource.Change) bool { return c.Op == resource.Delete && c.Kind == container.KindName }
	if !slices.ContainsFunc(dry, is) {
		t.Errorf("that %s goes is not told", name)
	}
	done, err := (&deploy.Deployer{}).Up(t.Context(), p)
	if err != nil || !slices.ContainsFunc(done, is) {
		t.Errorf("%v; that %s goes is not told", err, name)
	}
	docker.mu.Lock()
	defer docker.mu.Unlock()
	if !docker.gone {
		t.Error("it is left")
	}
}

// TestLostMemory: of a chain of which nothing is known any more, a container of an engine that it no longer names is found when it is brought up, and
// removed.
func TestLostMemory(t *testing.T) {
	nstest.Root(t)
	owner := nstest.Owner(t)
	var docker standIn
	podman := standIn{node: "old"}
	docker.listen(t, engine.Docker)
	podman.listen(t, engine.Podman)
	t.Setenv(engine.ProgramVariable, "/nosuch") // nothing is started
	downAfter(t, owner)
	_, err := (&deploy.Deployer{}).Up(t.Context(), planned(t, owner, inContainer))
	if err == nil || !strings.Contains(err.Error(), "image box") {
		t.Error(err)
	}
	podman.mu.Lock()
	defer podman.mu.Unlock()
	if !podman.gone {
		t.Error("it is left")
	}
}
