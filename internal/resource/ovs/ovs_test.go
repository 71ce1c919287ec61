package ovs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/ovs"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// world is a namespace for switches, and two for nodes.
type world struct {
	owner        string
	home, a, b   resource.Place
	daemons      ovs.Spec
	portA, portB ovs.PortSpec
	between      ovs.SwitchSpec
}

const mtu = 1400

// makeWorld makes the namespaces and says what is to be in them.
func makeWorld(t testing.TB, kind string) *world {
	t.Helper()
	nstest.Require(t, feature.ToolOVS, feature.Tun)
	w := &world{owner: nstest.Owner(t)}
	place := func() resource.Place { return resource.At(nstest.Open(t, nstest.Namespace(t)), w.owner) }
	w.home, w.a, w.b = resource.At(nstest.Open(t, own(t, w.owner)), w.owner), place(), place()
	w.daemons = ovs.Spec{Owner: w.owner}
	w.portA, w.portB = w.port("a", kind, 1), w.port("b", kind, 2)
	w.between = ovs.SwitchSpec{
		Owner: w.owner, Name: ovs.SwitchName(w.owner), Datapath: ovs.Netdev, Joins: "a:eth0=b:eth0",
		Ports: []ovs.Port{w.portA.Port, w.portB.Port},
		Flows: []string{"in_port=1 actions=output:2", "in_port=2 actions=output:1"},
	}
	t.Cleanup(func() { w.do(t, ovs.Kind{}, w.home, resource.Delete, w.daemons) })
	return w
}

// own makes the chain's own namespace for its switches, as a wiring does.
func own(t testing.TB, owner string) string {
	t.Helper()
	name := namespace.Name(owner, "_wiring")
	if err := netns.Create(name, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netns.Remove(name); err != nil {
			t.Error(err)
		}
	})
	return name
}

func (w *world) port(node, kind string, number int) ovs.PortSpec {
	p := ovs.Port{Name: ovs.PortName(node, "eth0"), Number: number, Type: kind}
	s := ovs.PortSpec{Owner: w.owner, Node: node, Device: "eth0", Port: p}
	if kind == ovs.Internal {
		s.Port.MTU, s.From, s.Switch, s.MAC = mtu, w.home.Ref, ovs.SwitchName(w.owner), fmt.Sprintf("02:00:00:00:00:0%d", number)
	}
	return s
}

// pair joins a node to the home of the switches.
func (w *world) pair(s ovs.PortSpec, from resource.Place, number int) link.Spec {
	return link.Spec{
		Owner: w.owner, MTU: mtu,
		A: link.End{Node: s.Node, Namespace: from.Ref, Device: s.Device, MAC: fmt.Sprintf("02:00:00:00:00:0%d", number)},
		B: link.End{Node: "_wiring", Namespace: w.home.Ref, Device: s.Port.Name, MAC: fmt.Sprintf("02:00:00:00:01:0%d", number)},
	}
}

// do makes one change; it must succeed.
func (w *world) do(t testing.TB, k resource.Kind, p resource.Place, op resource.Op, s resource.Spec) {
	t.Helper()
	if err := k.Apply(p, []resource.Change{{Op: op, Key: s.Key(), Spec: s}}); err != nil {
		t.Fatal(err)
	}
}

// up makes all of it, as a deployment would.
func (w *world) up(t testing.TB) {
	t.Helper()
	if w.portA.Port.Type == ovs.Device {
		w.do(t, link.Kind{}, w.a, resource.Create, w.pair(w.portA, w.a, 1))
		w.do(t, link.Kind{}, w.b, resource.Create, w.pair(w.portB, w.b, 2))
	}
	w.do(t, ovs.Kind{}, w.home, resource.Create, w.daemons)
	w.do(t, ovs.SwitchKind{}, w.home, resource.Create, w.between)
	w.do(t, ovs.PortKind{}, fresh(w.a), resource.Create, w.portA)
	w.do(t, ovs.PortKind{}, fresh(w.b), resource.Create, w.portB)
}

// fresh is the place without what was listed there before.
func fresh(p resource.Place) resource.Place { return resource.At(p.Handle, p.Owner) }

// asPlanned fails unless everything reads back as it should be.
func (w *world) asPlanned(t testing.TB) {
	t.Helper()
	for _, want := range []struct {
		k resource.Kind
		p resource.Place
		s resource.Spec
	}{
		{ovs.Kind{}, w.home, w.daemons}, {ovs.SwitchKind{}, w.home, w.between},
		{ovs.PortKind{}, w.a, w.portA}, {ovs.PortKind{}, w.b, w.portB},
	} {
		found := read(t, want.k, want.p)
		if len(found) != 1 || found[want.s.Key()] != want.s.Fingerprint() {
			t.Errorf("%s: found %v\nwant %s: %s", want.s.Kind(), found, want.s.Key(), want.s.Fingerprint())
		}
	}
}

func read(t testing.TB, k resource.Kind, p resource.Place) map[string]string {
	t.Helper()
	list, err := k.Read(fresh(p))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, o := range list {
		found[o.Key] = o.Fingerprint
	}
	return found
}

// address gives both nodes addresses.
func (w *world) address(t testing.TB) {
	t.Helper()
	sh(t, fmt.Sprintf("ip -n %s address replace 10.9.0.1/24 dev eth0; ip -n %s address replace 10.9.0.2/24 dev eth0", w.a.Ref, w.b.Ref))
}

// crosses sends packets of the largest size that must arrive.
func (w *world) crosses(t testing.TB) {
	t.Helper()
	w.address(t)
	sh(t, fmt.Sprintf("ip netns exec %s ping -n -c 1 -w 10 -M do -s %d 10.9.0.2", w.a.Ref, mtu-28))
}

// talks sends a text over TCP, of which the checksums must be right.
func (w *world) talks(t testing.TB) {
	t.Helper()
	w.address(t)
	sh(t, fmt.Sprintf(`d=$(mktemp -d); trap 'rm -rf $d' EXIT
		ip netns exec %s timeout 20 iperf3 -s -1 --forceflush >$d/log & server=$!
		until ip netns exec %s ss -ltn | grep -q :5201; do kill -0 $server; done
		ip netns exec %s timeout 20 iperf3 -c 10.9.0.2 -n 100K --connect-timeout 10000; wait $server`, w.b.Ref, w.b.Ref, w.a.Ref))
}

func sh(t testing.TB, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", line)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

var kinds = []string{ovs.Internal, ovs.Device}

func each(t *testing.T, test func(t *testing.T, w *world)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) { test(t, makeWorld(t, kind)) })
	}
}

// TestReadsBack: made twice it is as when made once, and packets cross.
func TestReadsBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.up(t)
		w.asPlanned(t)
		w.crosses(t)
		w.talks(t)
		w.do(t, ovs.SwitchKind{}, w.home, resource.Create, w.between)
		w.do(t, ovs.PortKind{}, fresh(w.a), resource.Create, w.portA)
		w.asPlanned(t)
		w.crosses(t)
	})
}

// TestIsTheOwnersAlone: nothing of it is among the host's interfaces, and its files are
// in the owner's directory.
func TestIsTheOwnersAlone(t *testing.T) {
	w := makeWorld(t, ovs.Internal)
	w.up(t)
	links := sh(t, "ip -o link")
	for _, name := range []string{w.owner, w.between.Name, w.portA.Port.Name, w.portB.Port.Name} {
		if strings.Contains(links, name) {
			t.Errorf("the host has %s among its interfaces:\n%s", name, links)
		}
	}
	if err := exec.Command("ovs-vsctl", "--db=unix:"+ovs.Dir(w.owner)+"/db.sock", "--timeout=5", "br-exists", w.between.Name).Run(); err != nil {
		t.Errorf("the switch is not in the owner's database: %v", err)
	}
	w.do(t, ovs.Kind{}, w.home, resource.Delete, w.daemons)
	// One that has lost its memory, and with it the mark, may be on its way out still.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		living, err := netns.Processes([]string{w.home.Ref})
		if err == nil && len(living) == 0 {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("left %v, error %v", living, err)
		}
	}
	if _, err := os.Stat(ovs.Dir(w.owner)); err == nil {
		t.Error("the files are left")
	}
}

// TestRemoves: a port that goes is gone in the node too, with the rest as it was.
func TestRemoves(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.up(t)
		w.between.Ports, w.between.Flows = w.between.Ports[:1], nil
		w.do(t, ovs.SwitchKind{}, w.home, resource.Update, w.between)
		w.do(t, ovs.PortKind{}, fresh(w.b), resource.Delete, w.portB)
		if found := read(t, ovs.PortKind{}, w.b); len(found) > 0 {
			t.Errorf("left %v", found)
		}
		if found := read(t, ovs.SwitchKind{}, w.home); found[w.between.Name] != w.between.Fingerprint() {
			t.Errorf("found %v, want %s", found, w.between.Fingerprint())
		}
		w.do(t, ovs.SwitchKind{}, w.home, resource.Delete, w.between)
		if found := read(t, ovs.SwitchKind{}, w.home); len(found) > 0 {
			t.Errorf("left %v", found)
		}
		if kind := w.portA.Port.Type; kind == ovs.Internal && strings.Contains(sh(t, "ip -n "+w.a.Ref+" -o link"), "eth0") {
			t.Error("the switch is gone and its interface is left")
		}
	})
}

// TestSeesWhatDiffers, and mends it.
func TestSeesWhatDiffers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.up(t)
		vsctl := "ovs-vsctl --db=unix:" + ovs.Dir(w.owner) + "/db.sock --timeout=30 "
		ofctl := "ovs-ofctl %s unix:" + ovs.Dir(w.owner) + "/" + w.between.Name + ".mgmt "
		for _, line := range []string{
			fmt.Sprintf(ofctl, "del-flows") + "in_port=1",
			fmt.Sprintf(ofctl, "add-flow") + "priority=7,actions=NORMAL",
			vsctl + "set bridge " + w.between.Name + " fail_mode=standalone",
			vsctl + "set interface " + w.portA.Port.Name + " ofport_request=9",
			vsctl + "del-port " + w.portA.Port.Name,
		} {
			sh(t, line)
			if found := read(t, ovs.SwitchKind{}, w.home); found[w.between.Name] == w.between.Fingerprint() {
				t.Errorf("%s is not seen", line)
			}
			w.do(t, ovs.SwitchKind{}, w.home, resource.Update, w.between)
			w.do(t, ovs.PortKind{}, fresh(w.a), resource.Update, w.portA)
			w.asPlanned(t)
			w.crosses(t)
		}
	})
}

// TestSurvivesDeath: whichever daemon is killed, it is said, and both are made again.
func TestSurvivesDeath(t *testing.T) {
	for _, program := range []string{"ovs-vswitchd", "ovsdb-server"} {
		t.Run(program, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.up(t)
				if err := (ovs.Kind{}).Alive(w.home); err != nil {
					t.Error(err)
				}
				sh(t, "kill -9 $(cat "+ovs.Dir(w.owner)+"/"+program+".pid)")
				for (ovs.Kind{}).Alive(w.home) == nil {
					if t.Context().Err() != nil {
						t.Fatal("its death is not seen")
					}
				}
				if err := (ovs.Kind{}).Alive(w.home); !strings.Contains(err.Error(), program) || !strings.Contains(err.Error(), "nfchain up") {
					t.Errorf("it does not say what died, or what to do: %v", err)
				}
				if found := read(t, ovs.Kind{}, w.home); found[w.daemons.Key()] == w.daemons.Fingerprint() {
					t.Error("a pair of which one is dead passes for whole")
				}
				w.up(t)
				w.asPlanned(t)
				w.crosses(t)
			})
		})
	}
}

// TestNodeMadeAgain: a node's namespace went, with the port's end in it.
func TestNodeMadeAgain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.up(t)
		sh(t, "ip -n "+w.a.Ref+" link del eth0")
		if w.portA.Port.Type == ovs.Device {
			w.do(t, link.Kind{}, w.a, resource.Create, w.pair(w.portA, w.a, 1))
		}
		w.do(t, ovs.SwitchKind{}, w.home, resource.Update, w.between)
		w.do(t, ovs.PortKind{}, fresh(w.a), resource.Create, w.portA)
		w.asPlanned(t)
		w.crosses(t)
	})
}

// TestKilledBetween: whoever moved a switch's own interface was killed before it was marked, or
// before it had its name.
func TestKilledBetween(t *testing.T) {
	w := makeWorld(t, ovs.Internal)
	w.up(t)
	for _, left := range []string{"alias ''", "down name " + w.portA.Port.Name, "down name " + w.portA.Port.Name + " alias ''"} {
		sh(t, "ip -n "+w.a.Ref+" link set eth0 "+left)
		w.do(t, ovs.SwitchKind{}, w.home, resource.Update, w.between)
		w.do(t, ovs.PortKind{}, fresh(w.a), resource.Create, w.portA)
		w.asPlanned(t)
		w.crosses(t)
	}
}

// TestKilledBeforeTheDaemon: whoever put a switch into the database was killed before the daemon
// had made it. It is waited for.
func TestKilledBeforeTheDaemon(t *testing.T) {
	w := makeWorld(t, ovs.Internal)
	w.up(t)
	pid := "$(cat " + ovs.Dir(w.owner) + "/ovs-vswitchd.pid)"
	sh(t, "kill -STOP "+pid+"; ovs-vsctl --db=unix:"+ovs.Dir(w.owner)+"/db.sock --no-wait add-br late")
	time.AfterFunc(200*time.Millisecond, func() { _ = exec.Command("sh", "-c", "kill -CONT "+pid).Run() })
	if found := read(t, ovs.SwitchKind{}, w.home); len(found) != 2 {
		t.Errorf("switches %v", found)
	}
}

// TestTakesNothingOfOthers: an interface of the same name that is not the owner's.
func TestTakesNothingOfOthers(t *testing.T) {
	w := makeWorld(t, ovs.Internal)
	sh(t, "ip -n "+w.a.Ref+" link add eth0 type veth peer name eth9")
	w.do(t, ovs.Kind{}, w.home, resource.Create, w.daemons)
	w.do(t, ovs.SwitchKind{}, w.home, resource.Create, w.between)
	err := (ovs.PortKind{}).Apply(fresh(w.a), []resource.Change{{Op: resource.Create, Key: "eth0", Spec: w.portA}})
	if err == nil || !strings.Contains(err.Error(), "not this chain's") {
		t.Errorf("another's interface was taken: %v", err)
	}
}

// TestSaysWhatFails: a port without its interface.
func TestSaysWhatFails(t *testing.T) {
	w := makeWorld(t, ovs.Device)
	w.do(t, ovs.Kind{}, w.home, resource.Create, w.daemons)
	err := (ovs.SwitchKind{}).Apply(w.home, []resource.Change{{Op: resource.Create, Key: w.between.Name, Spec: w.between}})
	if err == nil || !strings.Contains(err.Error(), "No such device") || !strings.Contains(err.Error(), w.between.Joins) {
		t.Errorf("it does not say what is wrong: %v", err)
	}
}

// TestFullSwitch: the daemon has no more open files for another port, and says so; with
// fewer ports the switch is as it should be.
func TestFullSwitch(t *testing.T) {
	w := makeWorld(t, ovs.Internal)
	w.do(t, ovs.Kind{}, w.home, resource.Create, w.daemons)
	sh(t, "prlimit --nofile=100: --pid $(cat "+ovs.Dir(w.owner)+"/ovs-vswitchd.pid)")
	full := w.between
	for i := range 200 {
		full.Ports = append(full.Ports[:len(full.Ports):len(full.Ports)], w.port(fmt.Sprint("n", i), ovs.Internal, 10+i).Port)
	}
	err := (ovs.SwitchKind{}).Apply(w.home, []resource.Change{{Op: resource.Create, Key: full.Name, Spec: full}})
	if err == nil || !strings.Contains(err.Error(), "of its 202 ports cannot be used") || !strings.Contains(err.Error(), "Too many open files") {
		t.Errorf("it does not say what is wrong: %v", err)
	}
	// A busy machine may have it lose its database meanwhile, for which it then has no open
	// file either. Only the soft limit was lowered: not every root may raise a hard one.
	op := resource.Update
	raise := "prlimit --nofile=1024: --pid $(cat " + ovs.Dir(w.owner) + "/ovs-vswitchd.pid)"
	if exec.Command("sh", "-c", raise).Run() != nil {
		// Where it cannot make even a pipe it ends of itself, and is made again as one that was killed.
		w.do(t, ovs.Kind{}, w.home, resource.Create, w.daemons)
		op = resource.Create
	}
	w.do(t, ovs.SwitchKind{}, w.home, op, w.between)
	w.do(t, ovs.PortKind{}, fresh(w.a), resource.Create, w.portA)
	w.do(t, ovs.PortKind{}, fresh(w.b), resource.Create, w.portB)
	w.asPlanned(t)
	w.crosses(t)
}

// TestCommands make the same.
func TestCommands(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		nstest.Require(t, feature.ToolEthtool, feature.ToolIP)
		run := func(ref string, s resource.Spec) {
			for _, c := range s.Commands(ref) {
				cmd := exec.Command(c.Args[0], c.Args[1:]...)
				cmd.Stdin = strings.NewReader(c.Stdin)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v: %s", c.Args, err, out)
				}
			}
		}
		if w.portA.Port.Type == ovs.Device {
			run("", w.pair(w.portA, w.a, 1))
			run("", w.pair(w.portB, w.b, 2))
		}
		run(w.home.Ref, w.daemons)
		run(w.home.Ref, w.between)
		run(w.a.Ref, w.portA)
		run(w.b.Ref, w.portB)
		w.asPlanned(t)
		w.crosses(t)
	})
}
