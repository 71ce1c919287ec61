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

// podman stands in for one in which a container is process pid, was made with 64 MiB, and is limited as update says.
func podman(t *testing.T, pid *int, update http.HandlerFunc) Engine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("what is noted of containers is root's")
	}
	owner := fmt.Sprintf("podman-%d", os.Getpid())
	t.Cleanup(func() { _ = os.RemoveAll(rundir.Of(owner)) })
	return standInOf(t, asPodman, map[string]http.HandlerFunc{
		"/c/json": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"Id": "c", "HostConfig": {"NetworkMode": "none", "Memory": %d}, "State": {"Running": %v, "Pid": %d}, "Config": {"Entrypoint": %s,
				"Labels": {"nfchain.owner": %q, "nfchain.node": "f", "nfchain.machine": %q}}}`, 64<<20, *pid != 0, *pid, marshalled(t, Wanted{}.entry()), owner, machine())
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
	if m := asked[0].Memory; *m.Limit != 128<<20 || *m.Swap != 256<<20 {
		t.Errorf("memory %d, with swap %d", *m.Limit, *m.Swap)
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
	if m := asked[1].Memory; *m.Limit != -1 || *m.Swap != -1 {
		t.Errorf("memory %d, with swap %d", *m.Limit, *m.Swap)
	}
}

// TestPodmanThatDoesNotLimit says why, and what it was is told of its container.
func TestPodmanThatDoesNotLimit(t *testing.T) {
	for answer, want := range map[string]string{
		"Not Found": "a Podman before 4.3 does not change that",
		`{"cause": "no such container", "message": "no container with name or ID c found", "response": 404}`: "no container with name or ID c found",
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
		if c, err := e.Inspect(t.Context(), "c"); err != nil || c.Limits.MemoryBytes != 64<<20 {
			t.Errorf("%+v, %v", c, err)
		}
	}
}
