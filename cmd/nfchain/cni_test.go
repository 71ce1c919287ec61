package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/containernetworking/cni/libcni"
	cni "github.com/containernetworking/cni/pkg/types/100"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
)

// brought is a chain whose ends and one of whose functions are places for containers.
const brought = `
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: %s}
spec:
  wiring: %s
  endpoints: [{name: client, runtime: cni}, {name: server, runtime: cni}]
  functions: [{name: ids, kind: forward, runtime: cni}, {name: fw, kind: firewall, firewall: {rules: {generate: 5}}}]
`

// bringer is a runtime that puts containers into that chain.
type bringer struct {
	cli
	chain, file string
	namespaces  map[string]string
}

func newBringer(t *testing.T, chain, wiring string) bringer {
	t.Helper()
	nstest.Root(t)
	r := bringer{cli{t, built(t), t.TempDir()}, owned(chain), "", map[string]string{}}
	r.file = filepath.Join(r.dir, "chain.yaml")
	if err := os.WriteFile(r.file, fmt.Appendf(nil, brought, r.chain, wiring), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"client", "ids", "server"} {
		r.namespaces[role] = nstest.Namespace(t)
	}
	t.Cleanup(func() { r.must("down", r.chain) })
	return r
}

// call is the plugin, asked for something about the container for a role.
func (r bringer) call(command, role string) (cmd *exec.Cmd, out *bytes.Buffer) {
	cmd, out = r.command(), new(bytes.Buffer)
	cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "places", "type": "nfchain", "chain": %q, "role": %q}`, r.file, role))
	cmd.Env = append(cmd.Env, "CNI_COMMAND="+command, "CNI_CONTAINERID="+role, "CNI_NETNS="+netns.Path(r.namespaces[role]), "CNI_IFNAME=eth0", "CNI_PATH="+r.dir)
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, out
}

func (r bringer) asks(command, role string) {
	r.t.Helper()
	if cmd, out := r.call(command, role); cmd.Run() != nil {
		r.t.Fatalf("%s %s: %s", command, role, out)
	}
}

// killed asks for something and kills the plugin after a while.
func (r bringer) killed(wait time.Duration, command, role string) {
	r.t.Helper()
	cmd, _ := r.call(command, role)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	time.Sleep(wait)
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait()
}

// clean checks that nothing is left of the chain, nor in a container.
func (r bringer) clean(when string) {
	r.t.Helper()
	if left := leftovers(r.chain); left != "" {
		r.t.Fatalf("%s: left behind:\n%s", when, left)
	}
	for role := range r.namespaces {
		r.bare(when, role)
	}
}

// bare checks that a container has no interface but its loopback.
func (r bringer) bare(when, role string) {
	r.t.Helper()
	h := nstest.Open(r.t, r.namespaces[role])
	links, err := h.LinkList()
	if err != nil || len(links) != 1 {
		r.t.Fatalf("%s: %s has %d interfaces, %v", when, role, len(links), err)
	}
}

// reach pings the server from the client, both ways.
func (r bringer) reach() {
	r.t.Helper()
	r.must("exec", r.chain, "client", "--", "ping", "-c", "1", "-w", "20", "server")
	r.must("exec", r.chain, "server", "--", "ping", "-4", "-c", "1", "-w", "20", "client")
}

// TestContainersAtOnce: a runtime puts all of a chain's containers in at one time, and takes them out at one.
func TestContainersAtOnce(t *testing.T) {
	for _, wiring := range []string{"veth", "bridge", "ebpf", "macvlan"} {
		t.Run(wiring, func(t *testing.T) {
			r := newBringer(t, "e2e-brought-"+wiring, wiring)
			for _, command := range []string{"ADD", "CHECK", "DEL"} {
				var calls []*exec.Cmd
				var outs []*bytes.Buffer
				for role := range r.namespaces {
					cmd, out := r.call(command, role)
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					calls, outs = append(calls, cmd), append(outs, out)
				}
				for i, cmd := range calls {
					if err := cmd.Wait(); err != nil {
						t.Errorf("%s: %v\n%s", command, err, outs[i])
					}
				}
				if t.Failed() {
					return
				}
				if command == "ADD" {
					r.reach()
				}
			}
			r.clean("after all had gone")
		})
	}
}

// TestKilledWhileContainersCome: a plugin that is killed leaves nothing that the runtime's DEL does not take away, and what was
// there before stays.
func TestKilledWhileContainersCome(t *testing.T) {
	r := newBringer(t, "e2e-brought-killed", "veth")
	moments := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	within := func(d time.Duration) time.Duration { return time.Duration(moments.Int64N(int64(d))) }
	for round := range 12 {
		when := fmt.Sprintf("round %d", round)
		r.killed(within(200*time.Millisecond), "ADD", "client")
		if round%3 == 0 { // the runtime may be killed with it, and ask for it twice
			r.killed(within(100*time.Millisecond), "DEL", "client")
		}
		r.asks("DEL", "client")
		r.clean(when + ", of the first")

		for _, role := range []string{"client", "server"} {
			r.asks("ADD", role)
		}
		r.killed(within(150*time.Millisecond), "ADD", "ids")
		r.asks("DEL", "ids")
		r.bare(when+", of another", "ids")
		for _, role := range []string{"client", "server"} {
			r.asks("CHECK", role)
		}
		if out := r.must("show", r.chain); !strings.Contains(out, ": waiting\n") {
			t.Fatalf("%s: what stays is not as planned:\n%s", when, out)
		}
		r.asks("ADD", "ids")
		r.reach()
		for _, role := range []string{"client", "ids", "server"} {
			r.killed(within(100*time.Millisecond), "DEL", role)
			r.asks("DEL", role)
		}
		r.clean(when)
	}
}

// plugins is where Debian has those that others wrote.
const plugins = "/usr/lib/cni"

// amongOthers is a network of the host's, a place in a chain besides, and settings of the container's.
const amongOthers = `{"cniVersion": "%s", "name": "among", "plugins": [
	{"type": "bridge", "bridge": "br0", "ipam": {"type": "static", "addresses": [{"address": "10.99.0.2/24"}]}},
	{"type": "nfchain", "chain": %q, "role": "client", "interfaces": ["chain0"]},
	{"type": "tuning", "sysctl": {"net.ipv4.conf.chain0.log_martians": "1"}}]}`

// TestAmongOtherPlugins: a container has a network of another plugin's and a place in a chain, and a third plugin sees what
// both gave, in each version of CNI. A namespace stands for the host.
func TestAmongOtherPlugins(t *testing.T) {
	for _, name := range []string{"bridge", "static", "tuning"} {
		if _, err := os.Stat(filepath.Join(plugins, name)); err != nil {
			t.Skipf("the plugins that others wrote are not installed: %v", err)
		}
	}
	r, host := newBringer(t, "e2e-brought-among", "veth"), nstest.Namespace(t)
	rt := &libcni.RuntimeConf{ContainerID: "client", NetNS: netns.Path(r.namespaces["client"]), IfName: "eth0"}
	for _, version := range []string{"0.3.1", "0.4.0", "1.0.0"} {
		list, err := libcni.NetworkConfFromBytes(fmt.Appendf(nil, amongOthers, version, r.file))
		if err != nil {
			t.Fatal(err)
		}
		runtime := libcni.NewCNIConfigWithCacheDir([]string{filepath.Dir(r.path), plugins}, t.TempDir(), nil)
		err = netns.Do(host, func() error { // plugins start in the namespace of the thread
			given, err := runtime.AddNetworkList(context.Background(), list, rt)
			if err != nil {
				return err
			}
			result, err := cni.NewResultFromResult(given)
			if err != nil {
				return err
			}
			var inside []string
			for _, i := range result.Interfaces {
				if i.Sandbox == rt.NetNS {
					inside = append(inside, i.Name)
				}
			}
			if len(result.IPs) != 3 || strings.Join(inside, " ") != "eth0 chain0" || result.Interfaces[*result.IPs[2].Interface].Name != "chain0" {
				t.Errorf("%s: %v", version, result)
			}
			return runtime.DelNetworkList(context.Background(), list, rt)
		})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		r.clean("version " + version)
	}
}

// only is a chain all of whose nodes are places for containers.
const only = `
apiVersion: nfchain.dev/v1alpha1
kind: NetworkServiceChain
metadata: {name: %s}
spec:
  wiring: veth
  endpoints: [{name: client, runtime: cni}, {name: server, runtime: cni}]
  functions: [{name: ids, kind: %s, runtime: cni}]
`

// TestContainersAreAll: where containers have all of a chain's places nothing else of it is there, and it is up all the same:
// neither a file that is refused nor a container that goes takes it down.
func TestContainersAreAll(t *testing.T) {
	r := newBringer(t, "e2e-brought-all", "veth")
	for path, kind := range map[string]string{r.file: "forward", filepath.Join(r.dir, "wrong.yaml"): "firewall"} {
		if err := os.WriteFile(path, fmt.Appendf(nil, only, r.chain, kind), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.must("up", r.file)
	for _, role := range []string{"client", "ids", "server"} {
		r.asks("ADD", role)
	}
	if out := r.must("up", r.file); !strings.Contains(out, "nothing changed") {
		t.Fatalf("what is as it should be changes:\n%s", out)
	}
	if out, err := r.command("up", "wrong.yaml").CombinedOutput(); err == nil {
		t.Fatalf("%s", out)
	}
	for _, role := range []string{"client", "ids", "server"} {
		r.asks("CHECK", role)
	}
	r.reach()
	for _, role := range []string{"client", "ids", "server"} {
		for other := range r.namespaces { // as if nothing could stand in
			if err := netns.Remove("nfchain." + r.chain + "." + other); err != nil {
				t.Fatal(err)
			}
		}
		r.asks("DEL", role)
	}
	if out := r.must("show", r.chain); !strings.Contains(out, "chain "+r.chain) {
		t.Fatalf("who brought it up did not take it down:\n%s", out)
	}
	r.must("up", r.file)
	r.must("down", r.chain)
	r.clean("after it was taken down")
}

// TestWhatHindersContainers: an ADD that fails leaves all as it was, and what is wrong with another chain hinders no DEL.
func TestWhatHindersContainers(t *testing.T) {
	if !nstest.Alone(t) { // nothing is spoilt for other tests
		return
	}
	r := newBringer(t, "e2e-brought-hindered", "veth")
	deaf, err := os.Open(os.DevNull) // nothing can be written to it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = deaf.Close() }()
	cmd, _ := r.call("ADD", "client")
	cmd.Stdout, cmd.Stderr = deaf, nil
	if cmd.Run() == nil {
		t.Error("a result that nobody reads is told")
	}
	r.clean("after a result was not told")

	r.asks("ADD", "client")
	if err := netns.Remove(r.namespaces["client"]); err != nil {
		t.Fatal(err)
	}
	r.namespaces["client"] = nstest.Namespace(t)
	if err := netns.Do(r.namespaces["client"], func() error {
		return exec.Command("ip", "link", "add", "eth0", "type", "veth", "peer", "name", "other").Run()
	}); err != nil {
		t.Fatal(err)
	}
	if cmd, out := r.call("ADD", "client"); cmd.Run() == nil || !strings.Contains(out.String(), "has an interface eth0 already") {
		t.Errorf("%s", out)
	}
	if place := "nfchain-cni." + r.chain + ".client"; !netns.Exists(place) {
		t.Error("who is refused takes the place from another")
	}

	spoilt := filepath.Join("/run/nfchain", r.chain+"-other", "brought")
	if err := os.MkdirAll(spoilt, 0o755); err != nil {
		t.Fatal(err)
	}
	defer r.must("down", r.chain+"-other")
	if err := os.WriteFile(filepath.Join(spoilt, "ids"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.asks("DEL", "client")
	if cmd, out := r.call("DEL", "client"); cmd.Run() == nil || !strings.Contains(out.String(), "read which container has the place of ids") {
		t.Errorf("what may be it is taken for another: %s", out)
	}
	if left := leftovers(r.chain); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
}
