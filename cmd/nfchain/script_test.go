package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"

	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/link"
)

// own begins the name of everything that these tests make: e2e and this process's
// id, so that tests of two checkouts at once on one machine do not share a name.
var own = "e2e" + strconv.Itoa(os.Getpid())

// owned is a text of the tests, where names begin with e2e, with names of this
// process's own.
func owned(text string) string { return strings.ReplaceAll(text, "e2e", own) }

func TestMain(m *testing.M) {
	// testscript.Main exits, so leaks are looked for in the tests' own clean-up.
	testscript.Main(m, map[string]func(){"nfchain": main})
}

// TestScripts runs the command as a user does. The name of every script is the
// name of its chains, after e2e and a dash.
func TestScripts(t *testing.T) {
	nstest.Root(t) // TestWithoutRoot covers the rest
	testscript.Run(t, scriptParams(t, ownedScripts(t)...))
}

// scriptParams is how scripts are run.
func scriptParams(t *testing.T, files ...string) testscript.Params {
	return testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			e.Setenv("NFCHAIN_RESULTS", filepath.Join(e.WorkDir, "results.db"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("PID", strconv.Itoa(os.Getpid()))
			e.Setenv("GORACE", os.Getenv("GORACE")) // of which testscript tells commands nothing
			nfchain := filepath.Join(strings.SplitN(e.Getenv("PATH"), ":", 2)[0], "nfchain")
			e.Setenv("NFCHAIN", nfchain)
			tree, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("TREE", tree)
			engines := enginesIn(e.WorkDir)
			e.Vars = append(e.Vars, engines...)
			// A script that fails leaves its chain; the next run must not find it. Its engines run until this has been done.
			chain := own + "-" + strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")
			e.Defer(func() {
				down(nfchain, engines, chain, chain+"-2")
				down(nfchain, engines, chain+"-fw")
				if shared, err := os.ReadFile(filepath.Join(e.WorkDir, "shared")); err == nil {
					down(nfchain, engines, strings.Fields(string(shared))...)
				}
				// With the interface whose peer is in it. The name is the script's own: scripts run at once.
				_ = exec.Command("ip", "netns", "del", chain+"-outside").Run()
			})
			return nil
		},
		// A script that needs a feature begins with [!feature] skip. What changes the machine for all who are on it is run where the
		// tests are said to be alone there.
		Condition: func(feature string) (bool, error) {
			if feature == "alone" {
				return os.Getenv("NFCHAIN_TEST_ALONE") != "", nil
			}
			return nstest.Has(feature), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonPath, "gone": gone, "interrupt": interrupt, "linked": linkedOnce(t.TempDir()), "compiled": compiled, "cni": callCNI,
			"registry": serveImages,
		},
	}
}

// slowly is an answer given at 4 MB/s, so that who gets it can tell how far it is.
type slowly struct{ http.ResponseWriter }

func (w slowly) Write(data []byte) (n int, err error) {
	for part := range slices.Chunk(data, 200_000) {
		time.Sleep(50 * time.Millisecond)
		wrote, err := w.ResponseWriter.Write(part)
		if n += wrote; err != nil {
			return n, err
		}
	}
	return n, nil
}

// putForeign puts an image of another architecture there, box:far, which has no layers.
func putForeign(ts *testscript.TestScript, images http.Handler) {
	put := func(method, where, kind, content string) {
		request, err := http.NewRequest(method, where, strings.NewReader(content))
		ts.Check(err)
		request.Header.Set("Content-Type", kind)
		answer := httptest.NewRecorder()
		if images.ServeHTTP(answer, request); answer.Code >= http.StatusBadRequest {
			ts.Fatalf("%s: %d %s", where, answer.Code, answer.Body)
		}
	}
	config := `{"architecture":"s390x","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":[]}}`
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(config)))
	put(http.MethodPost, "/v2/box/blobs/uploads/?digest="+digest, "application/octet-stream", config)
	const kind = "application/vnd.docker.distribution.manifest.v2+json"
	put(http.MethodPut, "/v2/box/manifests/far", kind, fmt.Sprintf(
		`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":"application/vnd.docker.container.image.v1+json","size":%d,"digest":%q},"layers":[]}`, kind, len(config), digest))
}

// serveImages has a registry of images at an address of its own, without TLS, which the script finds in REGISTRY, or in the variable that it
// names, with who is let in. What it is told to let somebody in is written to a file of the variable's name. It ends with the script.
func serveImages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 && len(args) != 3 {
		ts.Fatalf("usage: registry [VARIABLE USER PASSWORD]")
	}
	if len(args) == 0 {
		args = []string{"REGISTRY", "", ""}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	told, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	putForeign(ts, images)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if said := r.Header.Get("Authorization"); said != "" {
			_, _ = fmt.Fprintln(told, said)
		}
		if user, password, _ := r.BasicAuth(); user != args[1] || password != args[2] {
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(slowly{w}, r)
	})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	ts.Defer(func() {
		_ = server.Close()
		<-ended
		_ = told.Close()
	})
	ts.Setenv(args[0], listener.Addr().String())
}

// enginesIn are the variables by which the engines of a script, which it starts by itself, listen in its directory.
// What takes its chains down asks the same ones, and none of the machine's.
func enginesIn(dir string) []string {
	at := func(name, format, file string) string {
		return engine.Variable(name) + "=" + fmt.Sprintf(format, filepath.Join(dir, file))
	}
	return []string{
		at(engine.Docker, "unix://%s", "d.sock"), at(engine.Podman, "unix://%s", "p.sock"),
		at(engine.Containerd, "%s", "c.sock"), at(engine.LXC, "%s", "lxc"),
	}
}

// down takes chains down that a script has left. Where there are none it does nothing, which is no error here.
func down(nfchain string, engines []string, chains ...string) {
	cmd := exec.Command(nfchain, append([]string{"down"}, chains...)...)
	cmd.Env = append(os.Environ(), engines...)
	_ = cmd.Run()
}

// ownedScripts are copies of the scripts with names of this process's own.
func ownedScripts(t *testing.T) (copies []string) {
	t.Helper()
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	dir := t.TempDir()
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(copied, []byte(owned(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, copied)
	}
	return copies
}

// exits CODE COMMAND... runs a command and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if neg == (got == want) {
		ts.Fatalf("exit code %d of %v\n%s%s", got, args[1:], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// json FILE PATH [WANT] finds a value by its path (a.0.b) and compares it.
func jsonPath(ts *testscript.TestScript, neg bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	found := true
	for _, step := range strings.Split(args[1], ".") {
		v, found = descend(v, step)
		if !found {
			break
		}
	}
	matches := found && (len(args) < 3 || fmt.Sprint(v) == args[2])
	if matches == neg {
		ts.Fatalf("%s is %v (found: %t), checked: %v", args[1], v, found, args[2:])
	}
}

func descend(v any, step string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		x, ok := v[step]
		return x, ok
	case []any:
		if step == "len" {
			return len(v), true
		}
		i, err := strconv.Atoi(step)
		if err != nil || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// linkedOnce is a command that gives a script a binary that needs no library, as releases are, for containers to begin with. It is made in a
// directory by the first that asks.
func linkedOnce(dir string) func(*testscript.TestScript, bool, []string) {
	program := filepath.Join(dir, "linked")
	once := sync.OnceValue(func() error { return build(program, ".") })
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		ts.Check(once())
		its := ts.MkAbs("linked")
		ts.Check(os.Link(program, its)) // a copy that this process writes is busy as long as what another test begins then has it open
		ts.Setenv(engine.ProgramVariable, its)
	}
}

// compiled FILE PROGRAM makes a program of one file, which needs no library either.
func compiled(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(build(ts.MkAbs(args[1]), ts.MkAbs(args[0])))
}

func build(program, of string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, of)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", of, err, out)
	}
	return nil
}

// callCNI COMMAND NETWORK CONTAINER NETNS [ROLE] calls nfchain as a runtime does, with a network's configuration from a file.
func callCNI(ts *testscript.TestScript, neg bool, args []string) {
	network := ts.ReadFile(args[1])
	network = strings.ReplaceAll(network, "$WORK", ts.MkAbs("."))
	path := args[3]
	if !strings.HasPrefix(path, "/") {
		path = netns.Path(path)
	}
	cmd := exec.Command(ts.Getenv("NFCHAIN"))
	cmd.Dir, cmd.Stdin = ts.MkAbs("."), strings.NewReader(network)
	cmd.Env = append(os.Environ(), "CNI_COMMAND="+args[0], "CNI_CONTAINERID="+args[2], "CNI_NETNS="+path, "CNI_IFNAME=eth0", "CNI_PATH=/opt/cni/bin")
	if len(args) > 4 {
		cmd.Env = append(cmd.Env, "CNI_ARGS=IgnoreUnknown=1;NFCHAIN_ROLE="+args[4])
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	ts.Check(os.WriteFile(ts.MkAbs("answer"), out.Bytes(), 0o600))
	if (err == nil) == neg || said.Len() > 0 {
		ts.Fatalf("%v: %v\n%s%s", args, err, out.String(), said.String())
	}
}

// gone NAME checks that nothing is left of a chain.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	if left := leftovers(args[0]); left != "" {
		ts.Fatalf("left behind: %s", left)
	}
}

// interrupt COMMAND... runs a command that measures, interrupts it when it has stored a
// trial and waits for it.
func interrupt(ts *testscript.TestScript, _ bool, args []string) {
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(ts.Getenv("NFCHAIN"), args...)
		cmd.Dir = ts.MkAbs(".")
		cmd.Env = append(os.Environ(), "NFCHAIN_RESULTS="+ts.Getenv("NFCHAIN_RESULTS"))
		return cmd
	}
	cmd := command(args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ts.Check(cmd.Start())
	stored := regexp.MustCompile(`"trials": [1-9]`)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if runs, _ := command("runs", "ls", "-o", "json").Output(); stored.Match(runs) || time.Now().After(deadline) {
			break
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	ts.Logf("%s", out.String())
}

// leftovers of a chain on this machine: namespaces, state, processes, mounts, and
// interfaces of the host.
func leftovers(name string) string {
	var left []string
	for _, pattern := range []string{"/run/netns/nfchain." + name, "/run/netns/nfchain." + name + ".*", "/run/netns/nfchain-cni." + name + ".*", "/run/nfchain/" + name, "/run/nfchain/.locks/" + name + ".lock", "/run/nfchain/.locks/" + name + ".supervisors"} {
		found, _ := filepath.Glob(pattern)
		left = append(left, found...)
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for _, line := range strings.Split(string(mounts), "\n") {
		if strings.Contains(line, "nfchain."+name+".") || strings.Contains(line, "nfchain-cni."+name+".") {
			left = append(left, line)
		}
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, c := range commands {
		text, _ := os.ReadFile(c)
		if strings.Contains(string(text), "supervise\x00"+name+"\x00") || strings.Contains(string(text), "nfchain."+name+".") ||
			strings.Contains(string(text), "/run/nfchain/"+name+"/") {
			left = append(left, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return strings.Join(append(left, interfacesOf(name)...), "\n")
}

// interfacesOf a chain in the host's own namespace.
func interfacesOf(name string) (left []string) {
	h, err := netns.Open(netns.Host)
	if err != nil {
		return []string{err.Error()}
	}
	defer h.Close()
	mine, err := link.Mine(h, name)
	if err != nil {
		return []string{err.Error()}
	}
	for _, device := range mine {
		left = append(left, "interface "+device)
	}
	return left
}
