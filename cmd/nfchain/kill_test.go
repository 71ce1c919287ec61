package main

import (
	"bytes"
	"errors"
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
` + impairing)

// impairing is the chain's function by a program that reads a tun device.
const impairing = "  - {name: far, kind: impair, impair: {delay: 1ms}}\n"

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

// kills are how many rounds of them there are, and within which time of its beginning an
// up and a down are killed in each.
type kills struct {
	rounds   int
	up, down time.Duration
}

// most of what a chain is made of is there within this time.
func soon(rounds int) kills { return kills{rounds, 80 * time.Millisecond, 60 * time.Millisecond} }

// TestKilledAnywhere kills up, bench and down at random moments, over and over.
// Whatever is left then: ls finds it, up makes it whole, and down leaves nothing.
func TestKilledAnywhere(t *testing.T) {
	nstest.Root(t)
	c, file := killedAnywhere(t, owned("e2e-killed"), killedChain, soon(15))
	c.must("bench", file, "--duration", "1s", "--repeats", "1") // perhaps the first that came to store anything
	if out := c.must("runs", "ls"); strings.Contains(out, "running") {
		t.Errorf("a killed run is said to be running:\n%s", out)
	}
}

// TestKilledAsSupervisorStarts kills up when it has just started the chain's supervisor, which
// nobody finds by its socket before it listens.
func TestKilledAsSupervisorStarts(t *testing.T) {
	nstest.Root(t)
	name := owned("e2e-killed")
	c := cli{t, built(t), t.TempDir()}
	file := filepath.Join(c.dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(killedChain), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.must("down", name) })
	for round := range 5 {
		up := c.command("up", file)
		if err := up.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			_ = up.Wait()
			close(ended)
		}()
		awaitSupervisor(up.Process.Pid, ended)
		time.Sleep(time.Duration(round) * 4 * time.Millisecond) // another moment each time
		_ = up.Process.Kill()
		<-ended
		c.must("down", name)
		if left := leftovers(name); left != "" {
			t.Fatalf("round %d: left behind:\n%s", round, left)
		}
	}
}

// awaitSupervisor waits until a process has started a supervisor, or, on a machine too busy to
// see that, has ended.
func awaitSupervisor(pid int, ended chan struct{}) {
	for !supervises(pid) {
		select {
		case <-ended:
			return
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// supervises tells whether a process has a child that is a supervisor.
func supervises(pid int) bool {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			command, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if strings.Contains(string(command), "\x00supervise\x00") {
				return true
			}
		}
	}
	return false
}

// wired is the chain over another wiring.
func wired(wiring string) string {
	return strings.Replace(killedChain, "spec:\n", "spec:\n  wiring: "+wiring+"\n", 1)
}

// TestKilledAnywhereWithBridges has more to make: a namespace of the wiring's own, and in
// it what no function's namespace takes along.
func TestKilledAnywhereWithBridges(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Bridge)
	killedAnywhere(t, owned("e2e-killed"), wired("bridge"), soon(3))
}

// TestKilledAnywhereWithOneArm has functions of one interface on one bridge.
func TestKilledAnywhereWithOneArm(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Bridge)
	chain := strings.NewReplacer("kind: shaper, shaper: {rate: 1Gbit}", "kind: forward", "kind: impair, impair: {delay: 1ms}", "kind: forward").
		Replace(wired("bridge\n  bridge: {per: chain, arms: 1}"))
	killedAnywhere(t, owned("e2e-killed"), chain, soon(3))
}

// TestKilledAnywhereWithMacvlan has devices over parents that are elsewhere, and whose
// addresses the kernel keeps taken for a while after their namespaces are gone. A parent of
// the host's is after all of it as it was.
func TestKilledAnywhereWithMacvlan(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.Macvlan, feature.ToolIP)
	killedAnywhere(t, owned("e2e-killed"), wired("macvlan"), soon(2))
	card := newCard(t)
	before := card.looks()
	killedAnywhere(t, owned("e2e-killed"), wired("macvlan\n  macvlan: {parent: "+card.name+"}"), soon(2))
	if after := card.looks(); after != before {
		t.Errorf("the parent was\n%sand is\n%s", before, after)
	}
}

// TestKilledAnywhereWithInterface takes an interface of the host into the chain. It is put
// back as it was, whatever was killed between.
func TestKilledAnywhereWithInterface(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.ToolIP)
	card := newCard(t)
	net := ownNet()
	card.ip("address add " + net + "1/25 dev " + card.name)
	card.ip("route add " + net + "128/25 via " + net + "2 dev " + card.name)
	before := card.looks()
	chain := strings.Replace(killedChain, "spec:\n", "spec:\n  endpoints: [{name: client, interface: "+card.name+"}, {name: server}]\n", 1)
	killedAnywhere(t, owned("e2e-killed"), chain, soon(2))
	if after := card.looks(); after != before {
		t.Errorf("the interface was\n%sand is\n%s", before, after)
	}
}

// ownNet begins the addresses of a network of 256 that is this process's own: others test at the
// same time.
func ownNet() string {
	return fmt.Sprintf("240.%d.%d.", 78+os.Getpid()/256%128, os.Getpid()%256)
}

// card is an interface that stands for a network card of the host.
type card struct {
	*testing.T
	name string
}

func newCard(t *testing.T) card {
	t.Helper()
	c := card{t, nstest.Device(t)}
	c.ip("link add " + c.name + " type veth peer name " + c.name + "p")
	t.Cleanup(func() { c.ip("link del " + c.name) })
	for _, end := range []string{c.name + "p", c.name} {
		c.ip("link set " + end + " addrgenmode none")
		c.ip("link set " + end + " up")
	}
	nstest.Carries(t, nstest.Open(t, netns.Host), c.name)
	return c
}

// looks is how the interface is set.
func (c card) looks() string {
	c.Helper()
	nstest.Carries(c.T, nstest.Open(c.T, netns.Host), c.name)
	return c.ip("-br -d link show "+c.name) + c.ip("-br address show "+c.name) + c.ip("route show dev "+c.name)
}

func (c card) ip(line string) string {
	c.Helper()
	out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput()
	if err != nil {
		c.Fatalf("ip %s: %v\n%s", line, err, out)
	}
	return string(out)
}

// TestKilledAnywhereWithPrograms has programs at ports, which go with these and are nowhere else.
func TestKilledAnywhereWithPrograms(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	killedAnywhere(t, owned("e2e-killed"), wired("ebpf"), soon(3))
}

// TestKilledAnywhereWithSwitches has daemons of its own, which outlive whoever started them,
// and their files; and ports that a switch makes in its own namespace and that are moved.
func TestKilledAnywhereWithSwitches(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.ToolOVS, feature.Tun)
	for ports, options := range map[string]string{"veth": "{}", "internal": "{per: chain, ports: internal}"} {
		t.Run(ports, func(t *testing.T) {
			killedAnywhere(t, owned("e2e-killed"), wired("ovs\n  ovs: "+options), kills{2, 700 * time.Millisecond, 200 * time.Millisecond})
		})
	}
}

func killedAnywhere(t *testing.T, name, chain string, k kills) (c cli, file string) {
	t.Helper()
	c = cli{t, built(t), t.TempDir()}
	file = filepath.Join(c.dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(chain), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.must("down", name) })
	moments := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	within := func(d time.Duration) time.Duration { return time.Duration(moments.Int64N(int64(d))) }

	for round := range k.rounds {
		c.killAfter(within(k.up), "up", file, "--wait")
		if nodes, _ := filepath.Glob("/run/netns/nfchain." + name + ".*"); len(nodes) > 0 {
			if out := c.must("ls"); !strings.Contains(out, name) {
				t.Fatalf("round %d: ls does not find %v:\n%s", round, nodes, out)
			}
		}
		if round%2 == 0 { // else up goes on from where it was killed
			c.killAfter(within(k.down), "down", name)
		}
		c.killAfter(within(time.Second), "bench", file, "--duration", "1s", "--repeats", "1")
		c.must("up", file, "--wait")
		if out := c.must("up", file); !strings.Contains(out, "nothing changed") {
			t.Fatalf("round %d: up after a kill did not converge:\n%s", round, out)
		}
		c.must("exec", name, "client", "--", "ping", "-c", "1", "-w", "20", "server")
		c.must("exec", name, "server", "--", "ping", "-4", "-c", "1", "-w", "20", "client")
		c.killAfter(within(k.down), "down", name)
		c.must("down", name)
		if left := leftovers(name); left != "" {
			t.Fatalf("round %d: left behind:\n%s", round, left)
		}
		c.killAfter(within(k.up), "up", file) // and what is begun goes by one down
		c.must("down", name)
		if left := leftovers(name); left != "" {
			t.Fatalf("round %d: left behind of what was begun:\n%s", round, left)
		}
	}
	return c, file
}

// TestKilledBenchWithoutContainers: where both ends are in the host's own namespace, which
// another stands for here, what a killed bench had started there is gone with it.
func TestKilledBenchWithoutContainers(t *testing.T) {
	nstest.Root(t)
	nstest.Require(t, feature.ToolIperf3, feature.ToolIP)
	name, host := owned("e2e-killed"), nstest.Namespace(t)
	if err := netns.Do(host, func() error { return exec.Command("ip", "link", "set", "lo", "up").Run() }); err != nil {
		t.Fatal(err)
	}
	c := cli{t, built(t), t.TempDir()}
	file := filepath.Join(c.dir, "chain.yaml")
	if err := os.WriteFile(file, []byte("apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: "+name+"}\nspec: {wiring: host}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.must("down", name) })
	for range 3 {
		bench := c.command("bench", file, "--traffic", "iperf3", "--duration", "20s", "--repeats", "1")
		if err := netns.Start(host, bench); err != nil {
			t.Fatal(err)
		}
		awaitIn(t, host, func(pids []int) bool { return len(pids) > 2 }) // itself, and both ends of the load
		_ = bench.Process.Kill()
		_ = bench.Wait()
		awaitIn(t, host, func(pids []int) bool { return len(pids) == 0 })
		c.must("down", name)
		if left := leftovers(name); left != "" {
			t.Fatalf("left behind:\n%s", left)
		}
	}
}

// awaitIn waits until the processes in a namespace are as they should be.
func awaitIn(t *testing.T, ns string, right func(pids []int) bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		found, err := netns.Processes([]string{ns})
		if err != nil {
			t.Fatal(err)
		}
		if right(found[ns]) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("in %s there are the processes %v", ns, found[ns])
		}
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
	plain, text := plainUser(), strings.ReplaceAll(killedChain, owned("e2e-killed"), name)
	if !opensTun(plain) {
		t.Log("a plain user may not open /dev/net/tun: without the function that needs it")
		text = strings.Replace(text, impairing, "", 1)
	}
	file := filepath.Join(dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(dir, "of-root") // as root's containers of LXC are, where it has some
	if err := os.MkdirAll(filepath.Join(theirs, "containers"), 0o700); err != nil {
		t.Fatal(err)
	}
	as := func(args ...string) (string, error) {
		cmd := exec.Command(path, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+dir, "NFCHAIN_RESULTS="+filepath.Join(dir, "results.db"), "NFCHAIN_LXC="+theirs)
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
	contained := filepath.Join(dir, "contained.yaml")
	if err := os.WriteFile(contained, []byte(strings.Replace(text, "functions:", "functions:\n  - {name: box, kind: command, runtime: docker, container: {image: nowhere, pull: never}}", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := &exec.ExitError{}
	if out, err := as("up", contained); !errors.As(err, &ended) || ended.ExitCode() != exitMachine || !strings.Contains(out, "for the machine's root alone") {
		t.Errorf("a container of a user: %v\n%s", err, out)
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

// opensTun tells whether a process like that may open what makes tun devices: some machines leave
// it to root, whoever is root of a namespace.
func opensTun(as *syscall.SysProcAttr) bool {
	cmd := exec.Command("sh", "-c", ": <>/dev/net/tun")
	cmd.Dir, cmd.SysProcAttr = "/", as
	return cmd.Run() == nil
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
