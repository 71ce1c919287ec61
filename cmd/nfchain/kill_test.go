package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

var killedChain = owned(`
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: e2e-killed}
spec:
  functions:
  - {name: fw, kind: firewall, firewall: {rules: {generate: 20}}}
  - {name: prog, kind: command, command: {args: [sleep, "1000"]}}
  - {name: shape, kind: shaper, shaper: {rate: 1Gbit}}
  - {name: far, kind: impair, impair: {delay: 1ms}}
`)

// built builds the command as a user gets it.
func built(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nfchain")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

type cli struct {
	t    *testing.T
	path string
	dir  string
}

func (c cli) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.path, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "NFCHAIN_RESULTS="+filepath.Join(c.dir, "results.db"))
	return cmd
}

// must runs a command that has to succeed and gives what it printed.
func (c cli) must(args ...string) string {
	c.t.Helper()
	out, err := c.command(args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("nfchain %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// killAfter starts a command and kills it after a while, with no chance to clean
// up; it may have ended by itself.
func (c cli) killAfter(wait time.Duration, args ...string) {
	c.t.Helper()
	cmd := c.command(args...)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(wait)
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
}

// TestKilledAnywhere kills up, bench and down at random moments, over and over.
// Whatever is left then: ls finds it, up makes it whole, and down leaves nothing.
func TestKilledAnywhere(t *testing.T) {
	nstest.Root(t)
	killedAnywhere(t, owned("e2e-killed"), killedChain, 15)
}

// TestKilledAnywhereWithBridges has more to make: a namespace of the wiring's own, and in
// it what no function's namespace takes along.
func TestKilledAnywhereWithBridges(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Bridge)
	killedAnywhere(t, owned("e2e-killed"), strings.Replace(killedChain, "spec:\n", "spec:\n  wiring: bridge\n", 1), 5)
}

// TestKilledAnywhereWithOneArm has functions of one interface on one bridge.
func TestKilledAnywhereWithOneArm(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Bridge)
	chain := strings.NewReplacer("spec:\n", "spec:\n  wiring: bridge\n  bridge: {per: chain, arms: 1}\n",
		"kind: shaper, shaper: {rate: 1Gbit}", "kind: forward", "kind: impair, impair: {delay: 1ms}", "kind: forward").Replace(killedChain)
	killedAnywhere(t, owned("e2e-killed"), chain, 5)
}

// TestKilledAnywhereWithMacvlan has devices over parents that are elsewhere, and whose
// addresses the kernel keeps taken for a while after their namespaces are gone.
func TestKilledAnywhereWithMacvlan(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Macvlan)
	killedAnywhere(t, owned("e2e-killed"), strings.Replace(killedChain, "spec:\n", "spec:\n  wiring: macvlan\n", 1), 5)
}

func killedAnywhere(t *testing.T, name, chain string, rounds int) {
	t.Helper()
	c := cli{t, built(t), t.TempDir()}
	file := filepath.Join(c.dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(chain), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.must("down", name) })
	moments := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	within := func(d time.Duration) time.Duration { return time.Duration(moments.Int64N(int64(d))) }

	for round := range rounds {
		c.killAfter(within(80*time.Millisecond), "up", file, "--wait")
		if nodes, _ := filepath.Glob("/run/netns/nfchain." + name + ".*"); len(nodes) > 0 {
			if out := c.must("ls"); !strings.Contains(out, name) {
				t.Fatalf("round %d: ls does not find %v:\n%s", round, nodes, out)
			}
		}
		c.killAfter(within(40*time.Millisecond), "down", name)
		c.killAfter(within(time.Second), "bench", file, "--duration", "1s", "--repeats", "1")
		c.must("up", file, "--wait")
		if out := c.must("up", file); !strings.Contains(out, "nothing changed") {
			t.Fatalf("round %d: up after a kill did not converge:\n%s", round, out)
		}
		c.must("exec", name, "client", "--", "ping", "-c", "1", "-W", "20", "server")
		c.must("exec", name, "server", "--", "ping", "-4", "-c", "1", "-W", "20", "client")
		c.killAfter(within(60*time.Millisecond), "down", name)
		c.must("down", name)
		if left := leftovers(name); left != "" {
			t.Fatalf("round %d: left behind:\n%s", round, left)
		}
	}
	c.must("bench", file, "--duration", "1s", "--repeats", "1") // perhaps the first that came to store anything
	if out := c.must("runs", "ls"); strings.Contains(out, "running") {
		t.Errorf("a killed run is said to be running:\n%s", out)
	}
}

var lentFunction = owned(`
apiVersion: nfchain.dev/v1alpha1
kind: ServiceFunction
metadata: {name: e2e-lent-fw}
spec: {kind: firewall, firewall: {rules: {generate: 20}}}
---
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: e2e-lent}
spec:
  functions:
  - {name: fw, ref: e2e-lent-fw}
  - {name: prog, kind: command, command: {args: [sleep, "1000"]}}
`)

// TestKilledBenchOfFunction kills a bench that brings a standalone function up for
// itself. What is left says that it is a bench's; the next bench takes it over and
// removes it, and so does down.
func TestKilledBenchOfFunction(t *testing.T) {
	nstest.Root(t)
	chain, function := owned("e2e-lent"), owned("e2e-lent-fw")
	c := cli{t, built(t), t.TempDir()}
	file := filepath.Join(c.dir, "files.yaml")
	if err := os.WriteFile(file, []byte(lentFunction), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.must("down", function, chain) })
	bench := []string{"bench", file, "--duration", "1s", "--repeats", "1", "--direct=false"}
	listed := regexp.MustCompile(`(?m)^` + function + ` .*`)
	moments := rand.New(rand.NewPCG(2, uint64(time.Now().UnixNano())))
	for round := range 6 {
		c.killAfter(time.Duration(moments.Int64N(int64(time.Second))), bench...)
		there := netns.Exists("nfchain." + function)
		if line := listed.FindString(c.must("ls")); there && !strings.Contains(line, "(of a bench)") {
			t.Fatalf("round %d: ls says %q", round, line)
		}
		if round%2 == 0 {
			c.must(bench...)
		} else {
			c.must("down", function, chain)
		}
		if left := leftovers(chain) + leftovers(function); left != "" {
			t.Fatalf("round %d: left behind:\n%s", round, left)
		}
	}
}

// TestTwoAtOnce has several processes work on one chain and on different chains
// at the same time.
func TestTwoAtOnce(t *testing.T) {
	nstest.Root(t)
	c := cli{t, built(t), t.TempDir()}
	atOnce := []string{owned("e2e-at-once-a"), owned("e2e-at-once-b"), owned("e2e-at-once-c")}
	var running []*exec.Cmd
	var outputs []*bytes.Buffer
	for i := range 6 {
		name := atOnce[i%len(atOnce)]
		file := filepath.Join(c.dir, name+".yaml")
		text := strings.ReplaceAll(killedChain, owned("e2e-killed"), name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd, out := c.command("up", file, "--wait"), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running, outputs = append(running, cmd), append(outputs, out)
		t.Cleanup(func() {
			c.must("down", name)
			if left := leftovers(name); left != "" {
				t.Errorf("left behind of %s:\n%s", name, left)
			}
		})
	}
	unchanged := 0
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, outputs[i])
		}
		if strings.Contains(outputs[i].String(), "nothing changed") {
			unchanged++
		}
	}
	if unchanged != 3 {
		t.Errorf("of each two processes with one chain, one should find nothing to change; %d of 3 did", unchanged)
	}
	for _, name := range atOnce {
		c.must("exec", name, "client", "--", "ping", "-c", "1", "-W", "20", "server")
	}
}

// TestWithoutRoot runs a chain as a user without privileges, in a user namespace.
func TestWithoutRoot(t *testing.T) {
	name, path := owned("e2e-rootless"), built(t)
	dir, err := os.MkdirTemp("", "nfchain-rootless-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, p := range []string{dir, filepath.Dir(path), filepath.Dir(filepath.Dir(path))} {
		if err := os.Chmod(p, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(killedChain, owned("e2e-killed"), name)), 0o644); err != nil {
		t.Fatal(err)
	}
	plain := plainUser()
	as := func(args ...string) (string, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "NFCHAIN_RESULTS="+filepath.Join(dir, "results.db"))
		cmd.SysProcAttr = plain
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if refused := userNamespace(t, plain); refused != "" {
		t.Skip("a plain user may make no user namespace: ", refused)
	}
	for _, args := range [][]string{
		{"doctor"}, {"up", filepath.Base(file), "--wait"}, {"ls"}, {"exec", name, "client", "--", "ping", "-c", "1", "-W", "20", "server"},
		{"bench", name, "--duration", "1s", "--repeats", "1", "--protocol", "tcp,udp,latency"}, {"down", name},
	} {
		if out, err := as(args...); err != nil {
			t.Fatalf("nfchain %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	if left := leftovers(name); left != "" {
		t.Errorf("left behind: %s", left)
	}
	awaitNoHolder(t, path)
}

// plainUser has a process run as a user without privileges, which this one may be already.
func plainUser() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

// userNamespace asks util-linux for what nfchain needs without root, and gives why it
// is refused; nothing where it is not.
func userNamespace(t *testing.T, as *syscall.SysProcAttr) string {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal("nothing to witness with: ", err)
	}
	cmd := exec.Command(unshare, "--user", "--map-root-user", "--net", "--mount", "true")
	cmd.Dir, cmd.SysProcAttr = "/", as
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("%v: %s", err, out)
	}
	return ""
}

// awaitNoHolder checks that the process that kept the user namespace ends once
// nothing needs it.
func awaitNoHolder(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		found := ""
		links, _ := filepath.Glob("/proc/[0-9]*/exe")
		for _, l := range links {
			if exe, err := os.Readlink(l); err == nil && exe == path {
				found = l
			}
		}
		if found == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still running", found)
		}
	}
}
