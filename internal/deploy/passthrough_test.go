package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/link"
	"nfchain.dev/nfchain/internal/resource/steer"
)

func through(name string) string { return fmt.Sprintf("{name: %s, kind: passthrough}", name) }

// overPairs are the wirings over which packets pass through a function, and xdp the one over which
// they do in the driver.
var overPairs = map[string]string{"veth": "wiring: veth\n", "ebpf": forwarders["tcx"], "clsact": forwarders["clsact"], "xdp": "wiring: veth\n"}

// passing is a spec in which packets pass in that wiring's mode.
func passing(wiring string, functions ...string) string {
	all := spec(functions...)
	if wiring == "xdp" {
		all = strings.ReplaceAll(all, "kind: passthrough", "kind: passthrough, passthrough: {mode: xdp}")
	}
	return overPairs[wiring] + all
}

func needsPassthrough(t *testing.T) {
	t.Helper()
	needsForwarder(t)
	nstest.Require(t, feature.BPFXDP)
}

// TestPassthrough passes packets on both ways, alone, between others and several in a row, without
// an address and without being a hop.
func TestPassthrough(t *testing.T) {
	needsPassthrough(t)
	nstest.Require(t, feature.Bridge)
	const nat = "{name: nat, kind: nat, nat: {source: {addresses: [203.0.113.1]}, destination: {addresses: [203.0.113.2]}}}"
	for wiring := range overPairs {
		for name, functions := range map[string][]string{
			"alone": {through("p")}, "between": {forward("f"), through("p"), forward("g")}, "three": {through("p"), through("q"), through("r")},
			"beside a bridge": {"{name: b, kind: bridge}", through("p"), "{name: c, kind: bridge}"}, "beside a firewall": {firewall, through("p"), shaper},
			"beside a nat": {through("p"), nat, through("q")},
		} {
			t.Run(wiring+"/"+name, func(t *testing.T) {
				p := planned(t, nstest.Owner(t), passing(wiring, functions...))
				downAfter(t, p.Chain)
				up(t, p)
				unchanged(t, p)
				crosses(t, p)
				hops := hopsOf(t, p)
				for _, to := range addresses(p, "client", "server") {
					if !within(t, p.Client().Namespace, to.String(), hops+1) || hops > 0 && within(t, p.Client().Namespace, to.String(), hops) {
						t.Errorf("%s is not %d hops away", to, hops)
					}
				}
			})
		}
	}
}

// hopsOf a plan are the functions that are some; the others have no addresses.
func hopsOf(t *testing.T, p *plan.Plan) (n int) {
	t.Helper()
	for _, f := range p.Functions() {
		if !f.Transparent {
			n++
			continue
		}
		if out := sh(t, "ip -n "+f.Namespace+" -o address show | grep -v ' lo ' || true"); out != "" {
			t.Errorf("%s has addresses: %s", f.Name, out)
		}
	}
	return n
}

// TestPassthroughCarriesBytes of TCP unharmed through five of them, whatever segments are made of
// it, and however long packets are.
func TestPassthroughCarriesBytes(t *testing.T) {
	t.Parallel()
	needsPassthrough(t)
	for wiring := range overPairs {
		for name, settings := range map[string]string{
			"as the kernel has it": "", "long packets": withMTU(jumbo), "no offloads": "tuning: {tso: false, gso: false, gro: false, checksum: false}\n",
			"joined again": "tuning: {gro: true, threaded_napi: true}\n",
		} {
			t.Run(wiring+"/"+name, func(t *testing.T) {
				if wiring == "xdp" { // there is no other way with that
					settings = strings.ReplaceAll(settings, "gro: false, ", "")
				}
				p := planned(t, nstest.Owner(t), settings+passing(wiring, through("a"), through("b"), forward("f"), through("c"), through("d")))
				downAfter(t, p.Chain)
				up(t, p)
				unchanged(t, p)
				for _, to := range addresses(p, p.Client().Name, p.Server().Name) {
					carries(t, p, to)
				}
			})
		}
	}
}

// TestPassthroughHeals: what somebody takes away is seen and mended, and nothing else touched.
func TestPassthroughHeals(t *testing.T) {
	needsPassthrough(t)
	nstest.Require(t, feature.ToolIP)
	for wiring := range overPairs {
		t.Run(wiring, func(t *testing.T) {
			p := planned(t, nstest.Owner(t), passing(wiring, forward("a"), through("p"), forward("b")))
			downAfter(t, p.Chain)
			up(t, p)
			crosses(t, p)
			node := p.Functions()[1].Namespace
			heals(t, p, "ip -n "+node+" link del eth1", []string{"link", "address", "neighbour", "route", "steer", "through", "tuning"})
			// The kernel keeps one, and its ends of links, for as long as somebody has it open.
			nstest.Open(t, node)
			heals(t, p, "ip netns del "+node, []string{"namespace", "link", "address", "neighbour", "route", "steer", "through", "tuning"})
		})
	}
}

// TestPassthroughChanges into functions with addresses and back, over one wiring and another.
func TestPassthroughChanges(t *testing.T) {
	needsPassthrough(t)
	nstest.Require(t, feature.Bridge)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, wiring := range []string{"veth", "xdp", "ebpf", "xdp", "veth"} {
		for _, kind := range []string{"passthrough", "forward", "passthrough", "bridge", "passthrough"} {
			p := planned(t, owner, passing(wiring, forward("a"), "{name: b, kind: "+kind+"}"))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
		}
	}
}

// TestPassthroughUpdatesLoseNothing: they are put in, taken out and change places while packets
// pass, and none goes round between them, where no hop limit would end that.
func TestPassthroughUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	needsPassthrough(t)
	for name, wiring := range updated {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			first := planned(t, owner, wiring+spec(forward("a"), forward("c")))
			up(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, functions := range [][]string{
				{forward("a"), through("p"), forward("c")}, {through("p"), forward("a"), through("q"), forward("c")},
				{through("p"), through("q")}, {through("q"), through("p")}, {through("q")}, {}, {forward("a"), through("r"), forward("c")},
			} {
				s.more(t, 100)
				p := planned(t, owner, wiring+spec(functions...))
				up(t, p)
				unchanged(t, p)
				crosses(t, p)
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// TestPortsAreTurnedFromTheEnd of each way, so that nothing goes round between functions that change
// places.
func TestPortsAreTurnedFromTheEnd(t *testing.T) {
	needsPassthrough(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	up(t, planned(t, owner, forwarders["tcx"]+spec(through("p"), through("q"), through("r"))))
	p := planned(t, owner, forwarders["tcx"]+spec(through("r"), through("q"), through("p")))
	behind := map[string]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(link.Spec); is {
			behind[s.B.Device] = s.A.Node + " " + s.A.Device
		}
	}
	changes, err := (&deploy.Deployer{}).Up(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var turned []string
	for _, c := range changes {
		if c.Kind == steer.KindName {
			turned = append(turned, behind[c.Key])
		}
	}
	if want := []string{"p eth1", "q eth1", "r eth1", "client eth0", "r eth0", "q eth0", "p eth0", "server eth0"}; !slices.Equal(turned, want) {
		t.Errorf("turned %q, want %q", turned, want)
	}
	crosses(t, p)
}

// TestXDPIsPutBack: what it needs of the interfaces beside is as it was when it has gone.
func TestXDPIsPutBack(t *testing.T) {
	needsPassthrough(t)
	nstest.Require(t, feature.ToolEthtool)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	var offloads []string
	for _, wiring := range []string{"veth", "xdp", "veth"} {
		p := planned(t, owner, passing(wiring, forward("a"), through("p")))
		up(t, p)
		crosses(t, p)
		for _, n := range []plan.Node{p.Functions()[0], p.Server()} {
			device := "eth0"
			if n.East != nil {
				device = n.East.Device
			}
			offloads = append(offloads, sh(t, "ip netns exec "+n.Namespace+" ethtool -k "+device))
		}
	}
	for i := range 2 {
		if offloads[i] != offloads[i+4] || offloads[i] == offloads[i+2] {
			t.Errorf("before, meanwhile and after:\n%s\n%s\n%s", offloads[i], offloads[i+2], offloads[i+4])
		}
	}
}
