package proof_test

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/traffic"
	"nfchain.dev/nfchain/internal/traffic/proof"
	"nfchain.dev/nfchain/internal/trial"
)

// up brings a chain up for the rest of the test.
func up(tb testing.TB, spec string) *plan.Plan {
	tb.Helper()
	nstest.Root(tb)
	chain := plantest.Chain(tb, nstest.Owner(tb), spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		tb.Fatal(err)
	}
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{Direct: true})
	if err != nil {
		tb.Fatal(err)
	}
	var d deploy.Deployer
	tb.Cleanup(func() {
		if _, err := d.Down(context.Background(), p.Chain); err != nil {
			tb.Error(err)
		}
	})
	if _, err := d.Up(context.Background(), p); err != nil {
		tb.Fatal(err)
	}
	return p
}

// path is the path of a chain for each protocol.
func path(p *plan.Plan, protocol string) proof.Path {
	s := p.Reached()
	to, at := cmp.Or(s.FirstPort, 5201), cmp.Or(s.ToPort, s.FirstPort, 5201)
	path := proof.Path{ClientNetns: p.Client().Namespace, ServerNetns: p.Server().Namespace, Source: s.Source[0], Protocol: protocol,
		To: netip.AddrPortFrom(s.Addresses[0], to), At: netip.AddrPortFrom(s.Served[0], at)}
	for _, n := range p.Functions() {
		path.Functions = append(path.Functions, proof.Function{Name: n.Name, Netns: n.Namespace, West: n.West.Device, East: n.East.Device, Transparent: n.Transparent})
	}
	return path
}

// oneArm gives functions one interface for both sides.
const oneArm = "wiring: bridge\nbridge: {per: chain, arms: 1}\n"

var protocols = []string{trial.TCP, trial.UDP}

func TestProven(t *testing.T) {
	for name, spec := range map[string]string{
		"one":    plantest.Forwards(1),
		"three":  plantest.Forwards(3),
		"ipv4":   plantest.Forwards(2) + "addresses: {ipv6: none}\n",
		"ipv6":   plantest.Forwards(2) + "addresses: {ipv4: none}\n",
		"filter": "functions:\n- {name: fw, kind: firewall, firewall: {rules: {generate: 10, stateful: true}}}\n- {name: shape, kind: shaper, shaper: {rate: 10Mbit}}\n",
		"long":   plantest.Forwards(70),
		"armed":  oneArm + plantest.Forwards(3),
		"large":  plantest.Forwards(2) + "mtu: 9000\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := up(t, spec)
			for _, protocol := range protocols {
				seen, err := proof.Check(context.Background(), path(p, protocol))
				if err != nil || len(seen) != len(p.Functions()) {
					t.Errorf("%s: %v, error %v", protocol, seen, err)
				}
			}
		})
	}
}

// TestBypass leads the traffic past the chain, in both directions and in one.
func TestBypass(t *testing.T) {
	p := up(t, plantest.Forwards(2))
	there, back := p.Server().West.Addresses[0], p.Client().East.Addresses[0]
	route(t, p.Client(), there, back, "ethd0", p.Direct.Server.Addresses[0])
	for _, protocol := range protocols {
		refused(t, path(p, protocol), "does not pass f0, f1 (of 8 marked packets there and back, f0 passed 0 and 8 on")
	}
	route(t, p.Server(), back, there, "ethd1", p.Direct.Client.Addresses[0])
	for _, protocol := range protocols {
		refused(t, path(p, protocol), "does not pass f0, f1 (of 8 marked packets there and back, f0 passed 0 and 0 on")
	}
}

func TestOrder(t *testing.T) {
	p := up(t, plantest.Forwards(3))
	for _, protocol := range protocols {
		swapped := path(p, protocol)
		swapped.Functions[1], swapped.Functions[2] = swapped.Functions[2], swapped.Functions[1]
		refused(t, swapped, "not visit the functions in order: f2, f1")
	}
}

// TestDropped names the function that drops the traffic, or where it gets lost.
func TestDropped(t *testing.T) {
	for _, wiring := range []string{"", oneArm} {
		p := up(t, wiring+plantest.Forwards(1)+"- {name: fw, kind: firewall, firewall: {policy: drop}}\n- {name: last, kind: forward}\n")
		for _, protocol := range protocols {
			refused(t, path(p, protocol), "packets to the server reach fw and do not leave it: it drops them")
		}
	}
}

func TestNoRoute(t *testing.T) {
	p := up(t, plantest.Forwards(2))
	h := nstest.Open(t, p.Functions()[0].Namespace)
	l, err := h.LinkByName(p.Functions()[0].East.Device)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.LinkSetDown(l); err != nil {
		t.Fatal(err)
	}
	for _, protocol := range protocols {
		refused(t, path(p, protocol), "packets to the server reach f0 and do not leave it")
	}
}

func TestPortTaken(t *testing.T) {
	p := up(t, plantest.Forwards(1))
	nstest.Require(t, "tool.iperf3")
	job := traffic.Job{Ends: traffic.Ends{ServerNetns: p.Server().Namespace}, FirstPort: 5201, Condition: trial.Condition{Flows: 1}}
	s, err := job.StartServer(context.Background(), "iperf3", "--server", "--port", "5201")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	// To bind the port meanwhile, as PortsFree does, would take it from the server.
	if err := s.Until(context.Background(), func() bool { return netns.Listens(s.PID(), 5201) }, "it does not listen"); err != nil {
		t.Fatal(err)
	}
	refused(t, path(p, trial.TCP), "cannot listen")
}

func TestInterrupted(t *testing.T) {
	p := up(t, "functions:\n- {name: fw, kind: firewall, firewall: {policy: drop}}\n")
	for _, protocol := range protocols {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(200*time.Millisecond, cancel)
		patient := path(p, protocol)
		patient.Delay = time.Hour // which nobody waits for who is interrupted
		if _, err := proof.Check(ctx, patient); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", protocol, err)
		}
	}
}

// TestUnderLoad proves the path of a chain that is full of traffic, of large
// packets and of packets as long as the marked ones.
func TestUnderLoad(t *testing.T) {
	p := up(t, plantest.Forwards(3))
	nstest.Require(t, "tool.iperf3")
	job := traffic.Job{Ends: traffic.Ends{ClientNetns: p.Client().Namespace, ServerNetns: p.Server().Namespace}}
	address := p.Server().West.Addresses[0].String()
	// Of small packets as many as the proof has to tell its own from, 10,000 a second: without a limit they would flood the cores that
	// tests beside this one send by.
	for port, load := range map[string][]string{"5301": {"--parallel", "4"}, "5302": {"--udp", "--bitrate", "16M", "--length", "200"}} {
		s, err := job.StartServer(context.Background(), "iperf3", "--server", "--port", port)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Kill()
		number, _ := strconv.Atoi(port)
		if err := s.Until(context.Background(), func() bool { return netns.Listens(s.PID(), number) }, "it does not listen"); err != nil {
			t.Fatal(err)
		}
		c, err := job.StartClient(context.Background(), append([]string{"iperf3", "--client", address, "--port", port, "--time", "60"}, load...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Kill()
	}
	carried(t, p.Server(), 10_000)
	for range 3 {
		for _, protocol := range protocols {
			if _, err := proof.Check(context.Background(), path(p, protocol)); err != nil {
				t.Errorf("%s: %v", protocol, err)
			}
		}
	}
}

// carried waits until a node has got so many packets.
func carried(t *testing.T, n plan.Node, packets uint64) {
	t.Helper()
	h := nstest.Open(t, n.Namespace)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		l, err := h.LinkByName(n.West.Device)
		if err != nil {
			t.Fatal(err)
		}
		if l.Attrs().Statistics.RxPackets >= packets {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s got %d packets", n.Name, l.Attrs().Statistics.RxPackets)
		}
	}
}

func refused(t *testing.T, p proof.Path, want string) {
	t.Helper()
	_, err := proof.Check(context.Background(), p)
	var refusal *proof.Error
	if !errors.As(err, &refusal) || refusal.Protocol != p.Protocol || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: error %v, want %q", p.Protocol, err, want)
	}
}

// route leads traffic to one address past the chain.
func route(t *testing.T, n plan.Node, to, from netip.Addr, device string, via netip.Addr) {
	t.Helper()
	h := nstest.Open(t, n.Namespace)
	l, err := h.LinkByName(device)
	if err != nil {
		t.Fatal(err)
	}
	r := &netlink.Route{LinkIndex: l.Attrs().Index, Gw: via.AsSlice(), Src: from.AsSlice(),
		Dst: &net.IPNet{IP: to.AsSlice(), Mask: net.CIDRMask(to.BitLen(), to.BitLen())}}
	if err := h.RouteReplace(r); err != nil {
		t.Fatal(err)
	}
}
