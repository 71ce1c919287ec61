package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/engine/image"
	"nfchain.dev/nfchain/internal/netns/rundir"
)

// standIn is a Docker engine that answers as it is told.
func standIn(t *testing.T, answers map[string]http.HandlerFunc) Engine {
	t.Helper()
	return standInOf(t, asDocker, answers)
}

// standInOf one that speaks so.
func standInOf(t *testing.T, s speaker, answers map[string]http.HandlerFunc) Engine {
	t.Helper()
	at := filepath.Join(t.TempDir(), "d.sock")
	listener, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "1.41")
		for path, answer := range answers {
			if strings.HasSuffix(r.URL.Path, path) {
				answer(w, r)
			}
		}
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	t.Setenv(s.variable, "unix://"+at)
	e, err := Open(t.Context(), s.name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestOldAPI: an engine whose API is too old, or that is to be spoken to by one, is not taken for one that is there, and what is needed is told.
func TestOldAPI(t *testing.T) {
	const since = ": one of 1.41, as Docker 20.10 has it, is not there"
	for _, c := range []struct{ speaks, asked, want string }{
		{"1.24", "", "speaks no newer API than 1.24" + since}, {"1.40", "", "speaks no newer API than 1.40" + since},
		{"1.41", "", ""}, {"1.99", "", ""}, {"1.45", "1.40", "unset DOCKER_API_VERSION"}, {"1.45", "1.43", ""},
	} {
		t.Run(c.speaks+" "+c.asked, func(t *testing.T) {
			at := filepath.Join(t.TempDir(), "d.sock")
			listener, err := net.Listen("unix", at)
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("API-Version", c.speaks) })}
			go func() { _ = server.Serve(listener) }()
			t.Cleanup(func() { _ = server.Close() })
			t.Setenv("DOCKER_HOST", "unix://"+at)
			t.Setenv("DOCKER_API_VERSION", c.asked)
			e, err := Open(t.Context(), Docker)
			switch {
			case c.want == "" && err != nil, c.want != "" && (!errors.Is(err, ErrNotThere) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v", err)
			case err == nil:
				_ = e.Close()
			}
		})
	}
}

// of tells of an image that it is for an architecture.
func of(architecture string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"Id": "sha256:1", "Architecture": %q, "Config": {"Cmd": ["x"]}}`, architecture)
	}
}

// TestFetched: an image that is always to be fetched is, and how much of it has come is told; one that is there else is not.
func TestFetched(t *testing.T) {
	var fetched int
	e := standIn(t, map[string]http.HandlerFunc{
		"/images/create": func(w http.ResponseWriter, _ *http.Request) {
			fetched++
			_, _ = io.WriteString(w, `{"id": "a", "progressDetail": {"current": 1, "total": 4}}{"id": "b", "progressDetail": {"current": 3, "total": 4}}`)
		},
		"/box:1/json": of(runtime.GOARCH),
	})
	const fetching = "fetching image box:1"
	for pull, want := range map[string][]string{"missing": nil, "never": nil, "always": {fetching, fetching + ": 25%", fetching + ": 50%"}} {
		var told []string
		fetched = 0
		got, err := e.Prepare(t.Context(), Wanted{Image: "box:1", Pull: pull}, func(what string) { told = append(told, what) })
		if err != nil || got != "sha256:1" || !slices.Equal(told, want) || (fetched > 0) != (pull == "always") {
			t.Errorf("pull: %s: %q, %v, told %v", pull, got, err, told)
		}
	}
}

// TestFetchingEnds: who no longer wants an image does not wait for it.
func TestFetchingEnds(t *testing.T) {
	over := make(chan bool)
	defer close(over)
	e := standIn(t, map[string]http.HandlerFunc{"/images/create": func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-over
	}})
	ctx, stop := context.WithCancel(t.Context())
	if _, err := e.Prepare(ctx, Wanted{Image: "box:1", Pull: "always"}, func(string) { time.AfterFunc(50*time.Millisecond, stop) }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestMadeOnce: an image that another process makes is waited for, and not made again.
func TestMadeOnce(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("locks lie where only root writes")
	}
	name := fmt.Sprintf("%s:%016x", image.Repository, time.Now().UnixNano()) // the lock is the machine's
	var made atomic.Bool
	e := standIn(t, map[string]http.HandlerFunc{
		name + "/json": func(w http.ResponseWriter, r *http.Request) {
			if made.Load() {
				of(runtime.GOARCH)(w, r)
				return
			}
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message": "no such image"}`)
		},
	})
	other, err := rundir.Take(makingFile(name))
	if err != nil {
		t.Fatal(err)
	}
	waits := func(what string) {
		if what == "waiting until another has made image "+name {
			made.Store(true)
			other.Release()
		}
	}
	if got, err := e.Prepare(t.Context(), Wanted{Image: name, From: t.TempDir()}, waits); err != nil || got != "sha256:1" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestForeign: an image for another machine is refused before a container is made of it.
func TestForeign(t *testing.T) {
	e := standIn(t, map[string]http.HandlerFunc{"/box:1/json": of("pdp11")})
	if _, err := e.Prepare(t.Context(), Wanted{Image: "box:1"}, nil); err == nil || !strings.Contains(err.Error(), "is for pdp11, and this machine is "+runtime.GOARCH) {
		t.Errorf("%v", err)
	}
}

// TestOfThisMachine: a container of another machine that has the same engine is nobody's here.
func TestOfThisMachine(t *testing.T) {
	for of, want := range map[string]string{machine(): "edge", "another": ""} {
		e := standIn(t, map[string]http.HandlerFunc{"/c/json": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"Id": "c", "HostConfig": {"NetworkMode": "none"}, "Config": {"Entrypoint": %s, "Labels": {"nfchain.owner": "edge", "nfchain.machine": %q}}}`, marshalled(t, Wanted{}.entry()), of)
		}})
		if c, err := e.Inspect(t.Context(), "c"); err != nil || c.Owner != want {
			t.Errorf("%+v, %v", c, err)
		}
	}
}

// TestOfAnImageOfOurs: a container that somebody made of an image of one of nfchain's has its labels, and is nobody's here, whatever its name.
func TestOfAnImageOfOurs(t *testing.T) {
	e := standIn(t, map[string]http.HandlerFunc{"/c/json": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"Id": "c", "HostConfig": {"NetworkMode": "none"}, "Config": {"Entrypoint": ["/bin/sh"], "Labels": {"nfchain.owner": "edge", "nfchain.machine": %q}}}`, machine())
	}})
	if c, err := e.Inspect(t.Context(), "c"); err != nil || c.Owner != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestOffItsNetwork: a container that somebody took off the network that it was made on is nfchain's still, and not as it was made; one on
// another, of an image that somebody made of it, is not nfchain's.
func TestOffItsNetwork(t *testing.T) {
	for _, c := range []struct {
		made, on, digest string
		ours             bool
	}{{"lab", "lab", "d", true}, {"lab", "bridge", "", true}, {"bridge", "lab", "d", true}, {"bridge", "bridge", "d", false}} {
		e := standIn(t, map[string]http.HandlerFunc{
			"/containers/json": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[{"Id": "c"}]`) },
			"/c/json": func(w http.ResponseWriter, _ *http.Request) {
				_, _ = fmt.Fprintf(w, `{"Id": "c", "HostConfig": {"NetworkMode": %q}, "NetworkSettings": {"Networks": {%q: {}}}, "Config": {"Entrypoint": %s,
					"Labels": {"nfchain.owner": "edge", "nfchain.machine": %q, "nfchain.network": "lab", "nfchain.spec": "d"}}}`, c.made, c.on, marshalled(t, Wanted{}.entry()), machine())
			},
		})
		all, err := e.List(t.Context(), "edge")
		if err != nil || len(all) == 1 != c.ours || c.ours && all[0].Digest != c.digest {
			t.Errorf("%+v: %+v, %v", c, all, err)
		}
	}
}

// TestNetworkByID is asked for by its name: by that a container tells which it is on.
func TestNetworkByID(t *testing.T) {
	e := standIn(t, map[string]http.HandlerFunc{"": func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"Id": "0123456789ab", "Name": "lab", "Driver": "bridge"}`)
	}}).(Networking)
	if driver, err := e.NetworkDriver(t.Context(), "lab"); err != nil || driver != "bridge" {
		t.Errorf("%q, %v", driver, err)
	}
	if _, err := e.NetworkDriver(t.Context(), "0123"); err == nil || !strings.Contains(err.Error(), "write its name, lab") {
		t.Errorf("%v", err)
	}
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLogs: each piece of what a container wrote comes with its time.
func TestLogs(t *testing.T) {
	var asked string
	e := standIn(t, map[string]http.HandlerFunc{"/c/logs": func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Query().Get("since")
		for _, line := range []string{"2026-01-02T03:04:05.000000006Z one two\n", "2026-01-02T03:04:05.000000007Z \n"} {
			var head [8]byte
			head[0] = 2
			binary.BigEndian.PutUint32(head[4:], uint32(len(line)))
			_, _ = w.Write(append(head[:], line...))
		}
	}})
	first := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	var text bytes.Buffer
	var times []time.Time
	err := e.Logs(t.Context(), "c", first, func(at time.Time, piece []byte) error {
		times = append(times, at)
		text.Write(piece)
		return nil
	})
	if err != nil || text.String() != "one two\n\n" || len(times) != 2 || !times[0].Equal(first) || !times[1].Equal(first.Add(1)) {
		t.Errorf("%q at %v, %v", text.String(), times, err)
	}
	if asked != "1767323045.000000006" {
		t.Errorf("asked for what was written since %s", asked)
	}
}

// TestEndOfNoGroup: a process of a container that leads no group is ended with what it and its children have started.
func TestEndOfNoGroup(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sh -c 'sleep 1000 & echo begun; wait' & wait")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var word string
	if _, err := fmt.Fscan(out, &word); err != nil {
		t.Fatal(err)
	}
	all, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(all), "/") // as TestEnd has it
	end(cmd.Process.Pid, line)
	if _, err := io.ReadAll(out); err != nil { // which the others hold open
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not ended")
	}
}

// TestEnd: a process of a container is ended with what it has started, and one that is of none is not.
func TestEnd(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	end(cmd.Process.Pid, "no container at all")
	if err := unix.Kill(cmd.Process.Pid, 0); err != nil {
		t.Errorf("a process of no container: %v", err)
	}
	all, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(all), "/") // what begins the first of its control groups passes for a container's
	end(cmd.Process.Pid, line)
	if _, err := io.ReadAll(out); err != nil { // which the child holds open
		t.Error(err)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("%v", err)
	}
}

// TestBegun: a command has what it is given in its environment, and of a command that the engine is slow to start is told that it has begun when it has, and not when it is attached to.
func TestBegun(t *testing.T) {
	var looks, after atomic.Int64
	over := make(chan struct{})
	e := standIn(t, map[string]http.HandlerFunc{
		"/containers/c/exec": func(w http.ResponseWriter, r *http.Request) {
			if text, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(text), `"Env":["WHOSE=its"]`) {
				t.Errorf("asked for %s, %v", text, err)
			}
			_, _ = io.WriteString(w, `{"Id": "x"}`)
		},
		"/exec/x/start": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
			<-over
			_ = c.Close()
		},
		"/exec/x/json": func(w http.ResponseWriter, _ *http.Request) {
			pid := 0
			if looks.Add(1) > 3 {
				pid = 7
			}
			running, code := true, 0
			select {
			case <-over: // what it writes to is closed, and it ends a little later
				if after.Add(1) > 2 {
					running, code = false, 3
				}
			default:
			}
			_, _ = fmt.Fprintf(w, `{"ID": "x", "Running": %t, "Pid": %d, "ExitCode": %d}`, running, pid, code)
		},
	})
	var before atomic.Int64
	code, err := e.Exec(t.Context(), "c", []string{"x"}, Streams{Out: io.Discard, Env: []string{"WHOSE=its"}, Begun: func() {
		before.Store(looks.Load())
		close(over)
	}})
	if at := before.Load(); code != 3 || err != nil || at != 4 {
		t.Errorf("%d, %v, seen at look %d", code, err, at)
	}
}

// TestHowItEnded: one that was killed and has a limit of memory may have needed more, though the engine was not told of that.
func TestHowItEnded(t *testing.T) {
	some := Limits{MemoryBytes: 64 << 20}
	for _, c := range []struct {
		state container.State
		Limits
		how string
	}{
		{container.State{Running: true}, some, ""},
		{container.State{OOMKilled: true, ExitCode: 137}, some, "ended: it needed more memory than it may have"},
		{container.State{ExitCode: 137}, some, "ended with exit code 137: somebody killed it, or it needed more memory than it may have (64MiB)"},
		{container.State{ExitCode: 137}, Limits{}, "ended with exit code 137"},
		{container.State{ExitCode: 7}, some, "ended with exit code 7"},
	} {
		if how := ended(&c.state, c.Limits); how != c.how {
			t.Errorf("%+v, %s: %q, want %q", c.state, c.Limits, how, c.how)
		}
	}
}
