package supervise_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
)

// chain is an owner with a namespace for each of its nodes.
type chain struct {
	testing.TB
	owner string
	nodes []string
}

// newChain makes an owner, which goes with the test. What it left running until
// then fails the test.
func newChain(tb *testing.T, nodes ...string) *chain {
	tb.Helper()
	tb.Parallel()
	nstest.Root(tb)
	c := &chain{tb, nstest.Owner(tb), nodes}
	if err := os.MkdirAll(deploy.StateDir(c.owner), 0o755); err != nil {
		tb.Fatal(err)
	}
	for _, node := range nodes {
		name := namespace.Name(c.owner, node)
		if err := netns.Create(name, func() error { return nil }); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := netns.Remove(name); err != nil {
				tb.Error(err)
			}
		})
	}
	tb.Cleanup(func() {
		if err := process.Stop(c.owner); err != nil {
			tb.Error(err)
		}
		c.noneLeft()
		_ = os.RemoveAll(deploy.StateDir(c.owner))
	})
	return c
}

// spec of a shell script as a node's program.
func (c *chain) spec(node, script string) process.Spec {
	return process.Spec{Node: node, Netns: namespace.Name(c.owner, node), Args: []string{"sh", "-c", script},
		Restart: "always", Ready: process.Ready{TimeoutS: 5}}
}

// up makes these the programs that there are, as a deployment does, and gives
// what that changed.
func (c *chain) up(specs ...process.Spec) int {
	c.Helper()
	at := resource.Place{Owner: c.owner}
	have, err := process.Kind{}.Read(at)
	if err != nil {
		c.Fatal(err)
	}
	was := map[string]string{}
	for _, o := range have {
		was[o.Key] = o.Fingerprint
	}
	var changes []resource.Change
	for _, s := range specs {
		if was[s.Node] != s.Fingerprint() {
			changes = append(changes, resource.Change{Op: resource.Create, Key: s.Node, Spec: s})
		}
		delete(was, s.Node)
	}
	for node := range was {
		changes = append([]resource.Change{{Op: resource.Delete, Key: node}}, changes...)
	}
	if len(changes) == 0 {
		return 0
	}
	if err := (process.Kind{}).Apply(at, changes); err != nil {
		c.Fatal(err)
	}
	return len(changes)
}

// takesOver tells whether a change would give a program that runs to another supervisor.
func (c *chain) takesOver(s process.Spec) bool {
	c.Helper()
	have, err := process.Kind{}.Read(resource.Place{Owner: c.owner})
	if err != nil {
		c.Fatal(err)
	}
	for _, o := range have {
		if o.Key == s.Node {
			return process.TakesOver(resource.Change{Op: resource.Update, Key: s.Node, Was: o.Fingerprint, Spec: s})
		}
	}
	return false
}

// until waits for a node's program to be as asked for.
func (c *chain) until(node, what string, is func(process.Status) bool) (s process.Status) {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		list, err := process.Statuses(c.owner)
		if err != nil {
			c.Fatal(err)
		}
		for _, s = range list {
			if s.Node == node && is(s) {
				return s
			}
		}
	}
	c.Fatalf("%s is never %s: %+v; log %q", node, what, s, c.log(node))
	return s
}

func (c *chain) ready(node string) process.Status {
	c.Helper()
	return c.until(node, "ready", func(s process.Status) bool { return s.State == process.Running })
}

func (c *chain) log(node string) string {
	text, _ := os.ReadFile(deploy.LogFile(c.owner, node))
	return string(text)
}

// alive are the processes in the chain's namespaces.
func (c *chain) alive() (pids []int) {
	c.Helper()
	var refs []string
	for _, node := range c.nodes {
		refs = append(refs, namespace.Name(c.owner, node))
	}
	found, err := netns.Processes(refs)
	if err != nil {
		c.Fatal(err)
	}
	for _, list := range found {
		pids = append(pids, list...)
	}
	return pids
}

// says waits until a node's program has printed a text, and nothing else: it is taken for
// ready a second after its start, in which a busy machine may not let it print.
func (c *chain) says(node, want string) {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); c.log(node) != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("log %q, want %q", c.log(node), want)
		}
	}
}

// living waits until so many processes are in the chain's namespaces: those that are
// started and those that are killed take a moment.
func (c *chain) living(n int) {
	c.Helper()
	for deadline := time.Now().Add(time.Minute); len(c.alive()) != n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.Fatalf("processes %v, want %d", c.alive(), n)
		}
	}
}

func (c *chain) noneLeft() {
	c.Helper()
	pids := c.alive()
	for deadline := time.Now().Add(time.Minute); len(pids) > 0 && time.Now().Before(deadline); pids = c.alive() {
		time.Sleep(5 * time.Millisecond)
	}
	for _, pid := range pids {
		command, _ := os.ReadFile("/proc/" + itoa(pid) + "/cmdline")
		c.Errorf("process %d is left: %q", pid, command)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// supervisor is the process that supervises the chain; 0 for none.
func (c *chain) supervisor() int { return supervisorOf(c.owner) }

func supervisorOf(owner string) int {
	s, err := rundir.Dial(process.Address(owner))
	if err != nil {
		return 0
	}
	_ = s.Close()
	return s.PID
}

// killSupervisor kills it and waits until it is gone.
func (c *chain) killSupervisor() {
	c.Helper()
	killSupervisorOf(c, c.owner)
}

// killSupervisorOf an owner, and wait until it is gone. Nobody's number is 0, to the kernel that of all in this process's own group.
func killSupervisorOf(tb testing.TB, owner string) (pid int) {
	tb.Helper()
	if pid = supervisorOf(owner); pid == 0 {
		tb.Fatal("there is no supervisor to be killed")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		tb.Fatal(err)
	}
	gone(tb, owner)
	return pid
}

func (c *chain) supervisorGone() {
	c.Helper()
	gone(c, c.owner)
}

// gone waits until an owner has no supervisor.
func gone(tb testing.TB, owner string) {
	tb.Helper()
	for deadline := time.Now().Add(time.Minute); supervisorOf(owner) != 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("the supervisor does not end")
		}
	}
}
