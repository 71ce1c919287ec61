package run_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
)

// program is a chain of one function with a program and its options, in YAML.
func program(options string) string {
	return "functions:\n- {name: prog, kind: command, command: {" + options + "}}\n"
}

func TestWait(t *testing.T) {
	for name, c := range map[string]struct{ options, want string }{
		"ready":         {"args: [sleep, '1000']", ""},
		"ready command": {"args: [sleep, '1000'], ready: {command: ['true']}", ""},
		"exits":         {"args: [sh, -c, 'echo no luck; exit 4'], ready: {command: ['false']}", `function prog is not ready: its program ended with exit code 4; its log ends with "no luck"`},
		"exits, stays":  {"args: ['true'], restart: never, ready: {command: ['false']}", "its program ended with exit code 0; its log is empty"},
		"missing":       {"args: [no-such-program], ready: {command: ['false']}", "no-such-program"},
		"no port":       {"args: [sleep, '1000'], ready: {tcp_port: 80, timeout: 300ms}", "its program is not ready after 300ms: nothing listens on TCP port 80"},
		"command fails": {"args: [sleep, '1000'], ready: {command: ['false'], timeout: 300ms}", "its ready command fails (exit status 1)"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, program(c.options))
			t.Cleanup(b.down)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // not for ever
			defer cancel()
			_, _, err := b.edit(ctx, run.UpOptions{Wait: true})
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestWaitInterrupted(t *testing.T) {
	b := newBed(t, program("args: [sleep, '1000'], ready: {tcp_port: 80, timeout: 1m}"))
	t.Cleanup(b.down)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // in which its program has begun
	defer cancel()
	if _, _, err := b.edit(ctx, run.UpOptions{Wait: true}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

// TestNames checks that a chain's nodes are known by name in it.
func TestNames(t *testing.T) {
	b := newBed(t, plantest.Forwards(1)+"- {name: prog, kind: command, command: {args: [sh, -c, 'getent ahosts server client f0; echo done; exec sleep 1000']}}\n")
	b.up(run.UpOptions{Wait: true})
	var log []byte
	b.until("the program has looked all names up", func() (all bool) {
		log, _ = os.ReadFile(deploy.LogFile(b.name(), "prog"))
		return bytes.Contains(log, []byte("done\n"))
	})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p.Nodes {
		facing := n.East // as those before prog face it
		if facing == nil {
			facing = n.West
		}
		if a := facing.Addresses; n.Name != "prog" && !strings.Contains(string(log), a[0].String()) {
			t.Errorf("%s at %v does not resolve: %q", n.Name, a, log)
		}
	}
	path, err := run.HostsFile(p, "client")
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.HostsFile(p, "client")
	text, _ := os.ReadFile(path)
	if err != nil || again != path || !strings.Contains(string(text), " server\n") || !strings.HasPrefix(string(text), "127.0.0.1 localhost\n") {
		t.Errorf("%s, %s: %q, error %v", path, again, text, err)
	}
}

// TestList tells whole chains from partial ones.
func TestList(t *testing.T) {
	b := newBed(t, plantest.Forwards(2))
	if l, there := b.live(); there {
		t.Errorf("%+v", l)
	}
	b.up(run.UpOptions{})
	if l, _ := b.live(); l.State != "up" || l.Kind != "chain" || l.Wiring != "veth" || l.Functions != 2 || l.Namespaces != 4 || l.Temporary {
		t.Errorf("%+v", l)
	}
	if err := netns.Remove(namespace.Name(b.name(), "f0")); err != nil {
		t.Fatal(err)
	}
	if l, _ := b.live(); l.State != "partial" || l.Namespaces != 3 {
		t.Errorf("%+v", l)
	}
	if err := os.Remove(deploy.StateDir(b.name()) + "/source"); err != nil {
		t.Fatal(err)
	}
	if l, _ := b.live(); l.State != "partial" || l.Namespaces != 3 || !strings.Contains(l.Problem, "nfchain down "+b.name()) {
		t.Errorf("without its file: %+v", l)
	}
	if _, err := b.host.Chain(b.name()); !errors.Is(err, run.ErrUnknown) {
		t.Errorf("recalled: %v", err)
	}
}

// TestInspect reads a chain that is up, with its program and rules.
func TestInspect(t *testing.T) {
	b := newBed(t, program("args: [sleep, '1000']")+"- {name: fw, kind: firewall, firewall: {rules: {list: [{protocol: tcp, action: drop}]}}}\n")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Plan(b.chain, nil, planOptions)
	if err != nil {
		t.Fatal(err)
	}
	s, err := run.Inspect(context.Background(), p)
	if err != nil || len(s.Nodes) != 4 {
		t.Fatalf("%+v, error %v", s, err)
	}
	prog, fw := s.Nodes[1], s.Nodes[2]
	if prog.Program == nil || prog.Program.State != process.Running || len(prog.Interfaces) != 2 || len(prog.Addresses) != 4 || prog.State != "up" {
		t.Errorf("%+v", prog)
	}
	if len(fw.Rules) == 0 || fw.Program != nil {
		t.Errorf("%+v", fw)
	}
	b.down()
	s, err = run.Inspect(context.Background(), p)
	if err != nil || s.Nodes[1].State != "missing" || s.Nodes[1].Interfaces == nil {
		t.Errorf("%+v, error %v", s, err)
	}
}

// TestTwoAreMadeAtOnce: while one chain is being made, which may take as long as its images do, another is, at other addresses.
func TestTwoAreMadeAtOnce(t *testing.T) {
	if !nstest.Alone(t) { // others hold what this one is to find free
		return
	}
	b := newBed(t, plantest.Forwards(1))
	t.Cleanup(b.down)
	other, second := b.chain, newHost()
	other.Metadata.Name += "-other"
	t.Cleanup(func() { _, _ = second.Down(context.Background(), other.Metadata.Name) })
	var meanwhile *plan.Plan
	var failed error
	var once sync.Once
	b.host.Progress = func(string, int, int) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			meanwhile, _, failed = second.Up(ctx, other, run.UpOptions{})
		})
	}
	p, _, err := b.edit(context.Background(), run.UpOptions{})
	if err != nil || failed != nil || meanwhile == nil {
		t.Fatalf("%v, and the other: %v", err, failed)
	}
	for _, block := range p.Blocks {
		if slices.ContainsFunc(meanwhile.Blocks, block.Overlaps) {
			t.Errorf("both have %s: %v and %v", block, p.Blocks, meanwhile.Blocks)
		}
	}
}

// TestParentIsHeld: while the devices of a chain over an interface of the host's are being made, no other chain is, which could take
// that interface.
func TestParentIsHeld(t *testing.T) {
	nstest.Require(t, feature.Macvlan)
	if !nstest.Alone(t) {
		return
	}
	const wire = "ip link add card type veth peer name wire && ip link set card up && ip link set wire up"
	if out, err := exec.Command("sh", "-c", wire).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b := newBed(t, "wiring: macvlan\nmacvlan: {parent: card}\n"+plantest.Forwards(1))
	t.Cleanup(b.down)
	other, second := b.chain, newHost()
	other.Metadata.Name += "-other"
	t.Cleanup(func() { _, _ = second.Down(context.Background(), other.Metadata.Name) })
	var meanwhile error
	var once sync.Once
	b.host.Progress = func(string, int, int) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			_, _, meanwhile = second.Up(ctx, other, run.UpOptions{})
		})
	}
	if _, _, err := b.edit(context.Background(), run.UpOptions{}); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(meanwhile, context.DeadlineExceeded) {
		t.Errorf("the other chain: %v, want it to wait", meanwhile)
	}
	if _, _, err := second.Up(context.Background(), other, run.UpOptions{}); err != nil {
		t.Error(err)
	}
}
