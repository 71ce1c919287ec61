package engine

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"

	"nfchain.dev/nfchain/internal/netns/rundir"
)

// owning is whose containers are here.
var owning = fmt.Sprintf("podman-%d", os.Getpid())

// podman stands in for one in which a container is process pid, was made with 64 MiB, and is limited as update says.
func podman(t *testing.T, pid *int, update http.HandlerFunc) Engine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("what is noted of containers is root's")
	}
	t.Cleanup(func() { _ = os.RemoveAll(rundir.Of(owning)) })
	return standInOf(t, asPodman, map[string]http.HandlerFunc{
		"/c/json": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"Id": "c", "HostConfig": {"NetworkMode": "none", "Memory": %d}, "State": {"Running": %v, "Pid": %d}, "Config": {"Entrypoint": %s,
				"Labels": {"nfchain.owner": %q, "nfchain.node": "f", "nfchain.machine": %q}}}`, 64<<20, *pid != 0, *pid, marshalled(t, Wanted{}.entry()), owning, machine())
		},
		"/libpod/containers/c/update": update,
	})
}

// TestLimitedByPodman: what a container is limited to is told of it as long as it is that, or is to be when it starts, and not what it was made with.
func TestLimitedByPodman(t *testing.T) {
	var asked []specs.LinuxResources
	pid := 7
	e := podman(t, &pid, func(w http.ResponseWriter, r *http.Request) {
		var of specs.LinuxResources
		if err := json.NewDecoder(r.Body).Decode(&of); err != nil {
			t.Error(err)
		}
		asked = append(asked, of)
		w.WriteHeader(http.StatusCreated)
	})
	is := func(when, want string, times int) {
		t.Helper()
		c, err := e.Inspect(t.Context(), "c")
		if err != nil || c.Limits.String() != want || len(asked) != times {
			t.Errorf("%s: it may use %q, want %q, and Podman was asked %d times, want %d; %v", when, c.Limits, want, len(asked), times, err)
		}
	}
	limit := func(l Limits) {
		t.Helper()
		if err := e.Limit(t.Context(), "c", l); err != nil {
			t.Fatal(err)
		}
	}
	is("made", "memory 64MiB", 0)
	limit(Limits{MemoryBytes: 128 << 20, HugepageBytes: 4 << 20, PageBytes: 2 << 20})
	is("limited", "memory 128MiB", 1)
	if m := asked[0].Memory; *m.Limit != 128<<20 || m.Swap != nil { // of which none is counted of a process without a control group of its own
		t.Errorf("memory %+v", m)
	}
	note, err := os.ReadFile(rundir.Limits(owning, "f"))
	if err != nil || strings.Contains(string(note), "page") {
		t.Errorf("noted %s, %v", note, err)
	}
	pid = 8
	is("started by somebody else", "memory 64MiB", 1)
	pid = 0
	is("ended", "memory 128MiB", 1)
	limit(Limits{})
	is("limited while it does not run", "", 1)
	pid = 9
	if c, err := e.Start(t.Context(), "c"); err != nil || c.Limits.String() != "" {
		t.Errorf("started with %q, %v", c.Limits, err)
	}
	is("started", "", 2)
	if m := asked[1].Memory; *m.Limit != -1 {
		t.Errorf("memory %d", *m.Limit)
	}
	// What was noted of another container, or before somebody else has limited this one, is not of this one.
	for _, change := range []func(*given){func(g *given) { g.ID = "d" }, func(g *given) { g.Told = "memory 32MiB" }} {
		limit(Limits{MemoryBytes: 128 << 20})
		var g given
		if text, err := os.ReadFile(rundir.Limits(owning, "f")); err != nil || json.Unmarshal(text, &g) != nil {
			t.Fatal(err)
		}
		change(&g)
		text, err := json.Marshal(g)
		if err == nil {
			err = os.WriteFile(rundir.Limits(owning, "f"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		is(fmt.Sprintf("with %s", text), "memory 64MiB", len(asked))
	}
}

// TestSwap of a container is as much as its memory.
func TestSwap(t *testing.T) {
	if all, none := withSwap(128<<20), withSwap(-1); *all != 256<<20 || *none != -1 {
		t.Errorf("%d and %d", *all, *none)
	}
}

// TestNotedNowhere: what has no name of a chain's and a function's is nobody's to limit, and notes nothing.
func TestNotedNowhere(t *testing.T) {
	for _, c := range []Container{{Node: "f"}, {Owner: "edge"}, {Owner: "..", Node: "f"}, {Owner: "edge", Node: ".."}, {Owner: "edge/f", Node: "f"}, {Owner: "edge", Node: "/"}} {
		if file, err := noteOf(c); err == nil {
			t.Errorf("%+v is noted in %s", c, file)
		}
	}
	if file, err := noteOf(Container{Owner: "edge", Node: "f.2"}); err != nil || file != "/run/nfchain/edge/f.2.limits" {
		t.Errorf("%s, %v", file, err)
	}
}

// TestPodmanThatDoesNotLimit says why, and of what its container may use it is not told that it is what it was, or what it was to be.
func TestPodmanThatDoesNotLimit(t *testing.T) {
	for answer, want := range map[string]string{
		"Not Found": "a Podman before 4.3 does not change that",
		`{"cause": "no such container", "message": "no container with name or ID c found", "response": 404}`: "container c is not there (no container with name or ID c found)",
	} {
		pid := 7
		e := podman(t, &pid, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, answer)
		})
		err := e.Limit(t.Context(), "c", Limits{MemoryBytes: 128 << 20})
		if err == nil || !strings.Contains(err.Error(), "limit container c to memory 128MiB: "+want) {
			t.Errorf("error %v, want %q", err, want)
		}
		if c, err := e.Inspect(t.Context(), "c"); err != nil || c.Limits.String() != "CPUs unknown, memory 128MiB" {
			t.Errorf("%+v, %v", c, err)
		}
	}
}
