package deploy_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/lookup"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// common is an address that the servers of all tenants have.
var common = netip.MustParseAddr("203.0.113.10")

// The addresses are clear of the networks that other packages' tests give the host meanwhile.
const tenantSpec = `
endpoints: [{name: client}, {name: server, addresses: [203.0.113.10]}]
addresses: {ipv4: 240.77.18.0/26, ipv6: "fd77:18::/64"}
functions:
- {name: a, kind: forward}
- {name: fw, ref: SHARED}
- {name: limit, LIMIT}
`

// tenantWirings are those over which tenants are kept apart. Bridges and switches that
// learn flood what they do not know.
var tenantWirings = []struct{ name, wiring, limit string }{
	{"veth", "", shaped},
	{"one bridge", "wiring: bridge\nbridge: {per: chain, forwarding: learning}\n", shaped},
	{"one arm", "wiring: bridge\nbridge: {per: chain, arms: 1}\n", "kind: forward"},
	{"one arm that learns", "wiring: bridge\nbridge: {per: chain, arms: 1, forwarding: learning}\n", "kind: forward"},
	{"forwarder", "wiring: ebpf\n", shaped},
	{"one switch", "wiring: ovs\novs: {per: chain, forwarding: learning}\n", shaped},
}

const shaped = "kind: shaper, shaper: {rate: 10Gbit}"

// tenant is the plan of a tenant's chain through a function, beside another's. Both have
// the same addresses to choose from.
func tenant(t *testing.T, owner, other, spec string, f api.StandaloneFunction) *plan.Plan {
	t.Helper()
	chain := plantest.Chain(t, owner, "tenant: of-"+owner+"\n"+strings.Replace(spec, "SHARED", f.Metadata.Name, 1))
	facts, err := deploy.Facts(chain)
	if err != nil {
		t.Fatal(err)
	}
	facts.Has = nstest.Has
	facts.Functions = map[string]api.FunctionBody{f.Metadata.Name: f.Spec}
	facts.Tenants = map[string]string{owner: "of-" + owner, other: "of-" + other}
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTenantsAreKeptApart in a function that two chains with the same addresses go
// through: what each sends, to its own addresses or the other's, is seen in its own chain
// and at its own interfaces of the function.
func TestTenantsAreKeptApart(t *testing.T) {
	t.Parallel()
	needs(t)
	for _, c := range tenantWirings {
		t.Run(c.name, func(t *testing.T) {
			switch {
			case strings.HasPrefix(c.wiring, "wiring: bridge"):
				needsBridge(t)
			case strings.HasPrefix(c.wiring, "wiring: ebpf"):
				nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
			case c.wiring != "":
				needsSwitches(t)
			}
			keptApart(t, c.wiring+strings.Replace(tenantSpec, "LIMIT", c.limit, 1))
		})
	}
}

func keptApart(t *testing.T, spec string) {
	t.Helper()
	one, two, name := nstest.Owner(t)+"-1", nstest.Owner(t)+"-2", nstest.Owner(t)+"-fw"
	f := plantest.Function(t, name, "kind: firewall\nfirewall: {rules: {generate: 10}}\n")
	own, err := plan.MakeFunction(f, plantest.Catalogue(), plan.Facts{})
	if err != nil {
		t.Fatal(err)
	}
	downAfter(t, name)
	up(t, own)
	downAfter(t, one)
	up(t, tenant(t, one, two, spec, f))
	downAfter(t, two)
	up(t, tenant(t, two, one, spec, f))
	a, b := tenant(t, one, two, spec, f), tenant(t, two, one, spec, f)
	if a.Blocks[0] != b.Blocks[0] || a.Blocks[1] != b.Blocks[1] {
		t.Fatalf("the tenants have the blocks %v and %v, not the same", a.Blocks, b.Blocks)
	}
	for _, p := range []*plan.Plan{a, b} {
		unchanged(t, p)
		crosses(t, p)
	}
	if out := sh(t, "ip -n "+namespace.Alone(name)+" -o address show scope global"); out != "" {
		t.Errorf("the function has addresses of tenants:\n%s", out)
	}
	onlyOwn(t, a, b)
	onlyOwn(t, b, a)
	noneOfOthers(t, name, a, b)
	noneOfOthers(t, name, b, a)
	leave(t, name, a, b)
}

// leave the function, one after the other: what the first had there goes with it, and the
// second is none the worse.
func leave(t *testing.T, function string, first, second *plan.Plan) {
	t.Helper()
	down(t, first.Chain)
	crosses(t, second)
	ns := namespace.Alone(function)
	if rules := sh(t, "ip -n "+ns+" rule; ip -n "+ns+" -6 rule"); strings.Count(rules, second.Nodes[2].West.Device+" ") != 4 || strings.Contains(rules, first.Nodes[2].West.Device) {
		t.Errorf("once one tenant is gone there are the rules\n%s", rules)
	}
	down(t, second.Chain)
	if rules := sh(t, "ip -n "+ns+" rule"); strings.Contains(rules, "iif") {
		t.Errorf("once both are gone there are the rules\n%s", rules)
	}
	if err := lookup.RemoveAll(nstest.Open(t, ns), first.Chain); err != nil {
		t.Error(err)
	}
}

// onlyOwn sends to the address that both servers have, while both listen.
func onlyOwn(t *testing.T, own, other *plan.Plan) {
	t.Helper()
	at := netip.AddrPortFrom(common, 7000).String()
	var mine, theirs net.PacketConn
	inside(t, own.Server().Namespace, func() (err error) { mine, err = net.ListenPacket("udp", at); return })
	defer func() { _ = mine.Close() }()
	inside(t, other.Server().Namespace, func() (err error) { theirs, err = net.ListenPacket("udp", at); return })
	defer func() { _ = theirs.Close() }()
	for _, way := range []struct {
		from *plan.Plan
		to   net.PacketConn
	}{{own, mine}, {other, theirs}} {
		text := make([]byte, 100)
		n, err := 0, os.ErrDeadlineExceeded
		for deadline := time.Now().Add(long); errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(deadline); { // again where the machine is flooded
			sendTo(t, way.from.Client().Namespace, netip.AddrPortFrom(common, 7000), way.from.Chain)
			_ = way.to.SetReadDeadline(time.Now().Add(time.Second))
			n, _, err = way.to.ReadFrom(text)
		}
		// The first that arrives at the other tenant's is its own.
		if err != nil || string(text[:n]) != way.from.Chain {
			t.Errorf("at the server of %s there is %q, %v", way.from.Chain, text[:n], err)
		}
	}
}

func sendTo(t *testing.T, ns string, to netip.AddrPort, text string) {
	t.Helper()
	inside(t, ns, func() error {
		conn, err := net.Dial("udp", to.String())
		if errors.Is(err, unix.ENETUNREACH) { // it does not even lead out of the end
			return nil
		}
		if err != nil {
			return err
		}
		_, err = conn.Write([]byte(text))
		return errors.Join(err, conn.Close())
	})
}

// noneOfOthers sends from one tenant's ends to every address that the other's nodes have,
// and looks at the interfaces of the function and in the other's namespaces.
func noneOfOthers(t *testing.T, function string, from, other *plan.Plan) {
	t.Helper()
	ns := namespace.Alone(function)
	taps := map[string]int{ns: listen(t, ns)}
	for _, n := range other.Nodes {
		taps[n.Namespace] = listen(t, n.Namespace)
	}
	if between := other.Between(); between != "" {
		taps[between] = listen(t, between)
	}
	sent := 0
	for _, n := range other.Nodes {
		for _, port := range []*plan.Interface{n.West, n.East} {
			if port == nil {
				continue
			}
			for _, to := range port.Addresses {
				if has(from, to) {
					continue
				}
				sent++
				sendTo(t, from.Client().Namespace, netip.AddrPortFrom(to, toServer), "cross")
				sendTo(t, from.Server().Namespace, netip.AddrPortFrom(to, toServer), "cross")
			}
		}
	}
	if sent < 4 {
		t.Fatalf("only %d addresses of the other tenant's are not also one's own", sent)
	}
	// Then one of the other tenant's own, behind which nothing comes; again where the machine is flooded.
	text := fmt.Sprint("last ", questions.Add(1))
	last := func() { sendTo(t, other.Client().Namespace, netip.AddrPortFrom(common, toClient), text) }
	last()
	foreign := map[string]bool{from.Nodes[2].West.Device: true, from.Nodes[2].East.Device: true}
	for place, fd := range taps {
		for _, p := range untilLast(t, fd, place, text, last) {
			if place != ns || !foreign[p] {
				t.Errorf("what %s sent is seen in %s at %s", from.Chain, place, p)
			}
		}
	}
	for _, to := range other.Server().West.Addresses {
		if has(from, to) {
			continue
		}
		if out, err := exec.CommandContext(t.Context(), "ip", "netns", "exec", from.Client().Namespace, "ping", "-n", "-c", "1", "-W", "1", to.String()).CombinedOutput(); err == nil {
			t.Errorf("%s reaches the server of %s at %s:\n%s", from.Chain, other.Chain, to, out)
		}
	}
}

func has(p *plan.Plan, a netip.Addr) bool {
	for _, n := range p.Nodes {
		for _, port := range []*plan.Interface{n.West, n.East} {
			if port == nil {
				continue
			}
			for _, own := range port.Addresses {
				if own == a {
					return true
				}
			}
		}
	}
	return false
}

// untilLast gives the interfaces where marked packets are seen, until the last one is, which has a text, and is sent again each second.
func untilLast(t *testing.T, fd int, ns, text string, again func()) (devices []string) {
	t.Helper()
	h, err := netns.Open(ns)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	buffer := make([]byte, 2048)
	tv := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(long); ; {
		n, from, err := receive(fd, buffer)
		if errors.Is(err, unix.EAGAIN) && time.Now().Before(deadline) {
			again()
			continue
		}
		if err != nil {
			t.Fatalf("in %s the last packet is not seen: %v", ns, err)
		}
		switch destinationPort(buffer[:n]) {
		case toClient:
			if bytes.HasSuffix(buffer[:n], []byte(text)) {
				return devices
			}
		case toServer:
			l, err := h.LinkByIndex(from.(*unix.SockaddrLinklayer).Ifindex)
			if err != nil {
				t.Fatal(err)
			}
			devices = append(devices, l.Attrs().Name)
		}
	}
}
