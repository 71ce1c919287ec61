package supervise_test

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/health"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// path is a chain over a forwarder that is up, with functions that are watched.
type path struct {
	testing.TB
	owner string
	*plan.Plan
}

func newPath(tb testing.TB, spec string) *path {
	tb.Helper()
	nstest.Root(tb)
	nstest.Require(tb, feature.Veth, feature.BPFPeer, feature.BPFIngress, feature.NFTables, feature.ToolNFT, feature.ToolIP, feature.ToolPing)
	p := &path{TB: tb, owner: nstest.Owner(tb)}
	if err := os.MkdirAll(deploy.StateDir(p.owner), 0o755); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if _, err := (&deploy.Deployer{}).Down(context.Background(), p.owner); err != nil {
			tb.Error(err)
		}
	})
	p.up(spec)
	return p
}

// up makes the chain what a spec says.
func (p *path) up(spec string) {
	p.Helper()
	p.Plan = p.planned(spec)
	if _, err := (&deploy.Deployer{}).Up(p.Context(), p.Plan); err != nil {
		p.Fatal(err)
	}
}

// planned is the chain as a spec says.
func (p *path) planned(spec string) *plan.Plan {
	p.Helper()
	chain := plantest.Chain(p, p.owner, "wiring: ebpf\n"+spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		p.Fatal(err)
	}
	facts.Has = nstest.Has
	made, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		p.Fatal(err)
	}
	return made
}

// node of the chain by its name.
func (p *path) node(name string) plan.Node {
	p.Helper()
	for _, n := range p.Nodes {
		if n.Name == name {
			return n
		}
	}
	p.Fatalf("there is no node %s", name)
	return plan.Node{}
}

// until waits for the health of a function to be as asked for.
func (p *path) until(node, what string, is func(process.Health) bool) (h process.Health) {
	p.Helper()
	pause := 5 * time.Millisecond
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(pause) {
		pause = min(2*pause, 100*time.Millisecond) // who is asked all the time has less for its work
		_, all, err := process.OnWatch(p.owner)
		if err != nil {
			p.Fatal(err)
		}
		for _, h = range all {
			if h.Node == node && is(h) {
				return h
			}
		}
	}
	p.Fatalf("%s is never %s: %+v", node, what, h)
	return h
}

// isWell tells that probes come through in both directions.
func isWell(h process.Health) bool { return h.State == process.Healthy && len(h.Proven) == 2 }

func hasFailed(h process.Health) bool { return h.State == process.Failed }

// well waits until probes come through functions, both ways.
func (p *path) well(nodes ...string) {
	p.Helper()
	for _, n := range nodes {
		p.until(n, "well", isWell)
	}
}

// sends waits until packets that come from a node, eastward, go to another one in place of the
// next; "" is the planned one, "nowhere" none, "replicas" those of a function, and "past" and a node what leads past that beside it.
func (p *path) sends(from, to string) {
	p.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		want, got := p.goal(to), p.instead(p.watched(from).East)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("what comes from %s goes to port %d, not to %d, %q", from, got, want, to)
		}
	}
}

// sendsOn waits until packets of a service path that come in at a port go to a node in place of the
// next one, as sends has it.
func (p *path) sendsOn(port, path, to string) {
	p.Helper()
	number := p.Classifier.Path(path).Number
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var got uint32
		p.port(port, func(open *steer.Port) (err error) { got, err = open.InsteadOn(path, number); return })
		want := p.goal(to)
		if to == "replicas" {
			p.port(port, func(open *steer.Port) error { want, _ = open.Shared("x"); return nil })
		}
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("what is on path %q goes to port %d, not to %d, %q", path, got, want, to)
		}
	}
}

// goal is what stands in a port for a node to which packets go instead.
func (p *path) goal(node string) uint32 {
	p.Helper()
	switch node {
	case "":
		return 0
	case "nowhere":
		return steer.Nowhere
	case "replicas":
		return steer.Replicas
	}
	h, err := netns.Open(p.Between())
	if err != nil {
		p.Fatal(err)
	}
	defer h.Close()
	bit, of := uint32(0), ""
	if name, past := strings.CutPrefix(node, "past "); past {
		bit, of = 1<<31, p.watched(name).PastWest
	} else {
		of = p.watched(node).West
	}
	l, err := h.LinkByName(of)
	if err != nil {
		p.Fatal(err)
	}
	return uint32(l.Attrs().Index) | bit
}

// watched is what the plan says of a node.
func (p *path) watched(node string) process.Watched {
	p.Helper()
	for _, r := range p.Resources {
		s, is := r.Spec.(health.Spec)
		if !is {
			continue
		}
		for _, w := range s.Nodes {
			if w.Node == node {
				return w
			}
		}
	}
	p.Fatalf("%s is on no path that is watched", node)
	return process.Watched{}
}

func (p *path) instead(port string) (to uint32) {
	p.Helper()
	p.port(port, func(open *steer.Port) (err error) { to, err = open.Instead(); return })
	return to
}

// port of the forwarder is held open while do is done with it.
func (p *path) port(name string, do func(*steer.Port) error) {
	p.Helper()
	h, err := netns.Open(p.Between())
	if err != nil {
		p.Fatal(err)
	}
	defer h.Close()
	open, err := steer.OpenPort(resource.At(h, p.owner), name)
	if err != nil {
		p.Fatal(err)
	}
	defer open.Close()
	if err := do(open); err != nil {
		p.Fatal(err)
	}
}

// keeps waits until packets that come from a node, eastward, go to all replicas but those of some numbers. Ones that have been
// taken out, and are gone, are kept from as well.
func (p *path) keeps(from string, replicas ...int) {
	p.Helper()
	of := ""
	for _, r := range p.Resources {
		if s, is := r.Spec.(health.Spec); is {
			for _, n := range s.Nodes {
				if n.Of != "" {
					of = n.Of
				}
			}
		}
	}
	p.keepsAt(p.watched(from).East, of, replicas...)
}

// keepsAt waits until a port keeps its packets away from just these replicas of a function, of those that are on the path.
func (p *path) keepsAt(port, of string, replicas ...int) {
	p.Helper()
	var want, got, there steer.Numbers
	for _, r := range p.Resources {
		if s, is := r.Spec.(health.Spec); is {
			for _, n := range s.Nodes {
				if n.Of == of {
					there |= steer.Number(n.Number)
				}
			}
		}
	}
	for _, n := range replicas {
		want |= steer.Number(n)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		p.port(port, func(open *steer.Port) (err error) { got, err = open.Failing(of); return })
		if got&there == want {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("what comes in at %s keeps away from replicas %b of %s, want %b", port, got, of, want)
		}
	}
}

// crosses sends a ping over the chain from both ends, in every family.
func (p *path) crosses() {
	p.Helper()
	for _, way := range [][2]plan.Node{{p.Client(), p.Server()}, {p.Server(), p.Client()}} {
		for _, to := range p.addresses(way[0], way[1]) {
			ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
			out, err := exec.CommandContext(ctx, "ip", "netns", "exec", way[0].Namespace, "ping", "-n", "-c", "1", "-w", "30", to.String()).CombinedOutput()
			cancel()
			if err != nil {
				p.Errorf("%s does not reach %s: %v\n%s", way[0].Name, to, err, out)
			}
		}
	}
}

func (p *path) addresses(from, to plan.Node) (list []netip.Addr) {
	for _, h := range p.Hosts(from.Name) {
		if h.Name == to.Name {
			list = append(list, h.Address)
		}
	}
	return list
}

// sh runs a line in a node's namespace.
func (p *path) sh(node, line string) {
	p.Helper()
	out, err := exec.Command("ip", "netns", "exec", p.node(node).Namespace, "sh", "-ec", line).CombinedOutput()
	if err != nil {
		p.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// running is the program of a function, when it has a process: one that a busy machine had fail may have none for a moment.
func (p *path) running(node string) process.Status {
	p.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if s := p.program(node); s.PID != 0 {
			return s
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s does not run: %+v", node, p.program(node))
		}
	}
}

// program of a function.
func (p *path) program(node string) process.Status {
	p.Helper()
	all, err := process.Statuses(p.owner)
	if err != nil {
		p.Fatal(err)
	}
	for _, s := range all {
		if s.Node == node {
			return s
		}
	}
	p.Fatalf("%s has no program", node)
	return process.Status{}
}
