package deploy_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/resource/ovs"
)

// switched is the plan of a chain on this machine, wired by switches.
func switched(tb testing.TB, owner, spec, options string) *plan.Plan {
	tb.Helper()
	chain := plantest.Chain(tb, owner, "wiring: ovs\n"+options+spec)
	facts, err := deploy.Facts(chain)
	if err != nil {
		tb.Fatal(err)
	}
	facts.Has = nstest.Has
	p, err := plan.Make(chain, plantest.Catalogue(), facts, plan.Options{Direct: true})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// possible are the fabrics that this machine can have.
func possible() map[string]string {
	all := maps.Clone(fabrics)
	if nstest.Has(feature.OVSKernel) { // in user space such a port loses long packets
		all["internal, long packets"] = "ovs: {ports: internal}\nmtu: 9000\n"
	}
	return all
}

func needsSwitches(tb testing.TB) {
	tb.Helper()
	nstest.Root(tb)
	nstest.Require(tb, feature.ToolOVS, feature.Tun, feature.ToolPing)
}

// fabrics are the options of the wiring, by what they make.
var fabrics = map[string]string{
	"default":         "",
	"internal":        "ovs: {ports: internal}\n",
	"one":             "ovs: {per: chain}\n",
	"one, internal":   "ovs: {per: chain, ports: internal}\n",
	"three, patched":  "ovs: {switches: 3}\n",
	"three, paired":   "ovs: {switches: 3, switch_to_switch: veth, ports: internal}\n",
	"learning":        "ovs: {forwarding: learning}\n",
	"one that learns": "ovs: {forwarding: learning, per: chain}\n",
	"in user space":   "ovs: {datapath: netdev}\n",
	"long packets":    "ovs: {datapath: netdev}\nmtu: 9000\n",
	"bound":           "placement: {softirqs: {shared: 0}}\n",
}

// TestSwitches brings up a chain over each fabric, edits it, and finds nothing left when
// it is down. Packets cross at once and in TCP, of which the checksums must be right.
func TestSwitches(t *testing.T) {
	t.Parallel()
	needsSwitches(t)
	for name, options := range possible() {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			for _, functions := range [][]string{{forward("a"), forward("b")}, {forward("a"), forward("new"), forward("b")}, {forward("b")}, {}} {
				p := switched(t, owner, spec(functions...), options)
				if changes := up(t, p); len(changes) == 0 {
					t.Error("nothing changed")
				}
				unchanged(t, p)
				crosses(t, p)
				connects(t, p)
			}
			gone(t, owner)
		})
	}
}

// connects opens a TCP connection over the chain.
func connects(t *testing.T, p *plan.Plan) {
	t.Helper()
	to := addresses(p, p.Client().Name, p.Server().Name)[0]
	if !reaches(t, "tcp", p.Client().Namespace, p.Server().Namespace, to, 7007, long) {
		t.Errorf("no connection to %s", to)
	}
}

// gone takes a chain down and looks for what is left.
func gone(t *testing.T, owner string) {
	t.Helper()
	own := namespace.Name(owner, plan.WiringNode)
	living, err := netns.Processes([]string{own})
	if err != nil || len(living[own]) != 2 {
		t.Errorf("processes %v, error %v", living, err)
	}
	down(t, owner)
	for _, pid := range living[own] {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(text), ovs.Dir(owner)) {
			t.Errorf("process %d is left", pid)
		}
	}
	names, err := netns.List()
	if err != nil || slices.ContainsFunc(names, func(name string) bool { return namespace.Owns(owner, name) }) {
		t.Errorf("namespaces %v, error %v", names, err)
	}
	if _, err := os.Stat(deploy.StateDir(owner)); err == nil {
		t.Error("the directory is left")
	}
}

// TestSwitchesScript makes the same with the commands of a plan's script.
func TestSwitchesScript(t *testing.T) {
	needsSwitches(t)
	nstest.Require(t, feature.ToolIP, feature.ToolEthtool)
	for name, options := range possible() {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := switched(t, owner, spec(forward("a")), options)
			runScript(t, p)
			unchanged(t, p)
			crosses(t, p)
		})
	}
}

// TestRewired has one chain change from pairs to switches of every kind and back.
func TestRewired(t *testing.T) {
	needsSwitches(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, name := range []string{"", "internal", "default", "", "one, internal", "three, paired", "one", ""} {
		p := planned(t, owner, spec(forward("a")))
		if name != "" {
			p = switched(t, owner, spec(forward("a")), fabrics[name])
		}
		up(t, p)
		unchanged(t, p)
		crosses(t, p)
	}
	if living, err := netns.Processes([]string{namespace.Name(owner, plan.WiringNode)}); err != nil || len(living) > 0 {
		t.Errorf("left %v, error %v", living, err)
	}
	if _, err := os.Stat(ovs.Dir(owner)); err == nil {
		t.Error("the files are left")
	}
}

// TestSwitchDies: it is said, the next up mends it, and down finds nothing in its way.
func TestSwitchDies(t *testing.T) {
	needsSwitches(t)
	for _, program := range []string{"ovs-vswitchd", "ovsdb-server"} {
		for _, name := range []string{"default", "internal"} {
			t.Run(program+" "+name, func(t *testing.T) {
				owner := nstest.Owner(t)
				downAfter(t, owner)
				p := switched(t, owner, spec(forward("a")), fabrics[name])
				up(t, p)
				if err := deploy.Alive(p); err != nil {
					t.Error(err)
				}
				kill := "kill -9 $(cat " + ovs.Dir(owner) + "/" + program + ".pid)"
				sh(t, kill)
				for deploy.Alive(p) == nil {
					time.Sleep(time.Millisecond)
				}
				if err := deploy.Alive(p); !strings.Contains(err.Error(), program) {
					t.Errorf("it does not say what died: %v", err)
				}
				up(t, p)
				unchanged(t, p)
				crosses(t, p)
				sh(t, kill)
				down(t, owner)
			})
		}
	}
}

// TestSwitchesOfALostNamespace: where somebody takes the name of the switches' namespace away,
// the daemons live on in it. The next up, or down, ends them.
func TestSwitchesOfALostNamespace(t *testing.T) {
	needsSwitches(t)
	for _, name := range []string{"default", "internal"} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := switched(t, owner, spec(forward("a")), fabrics[name])
			for _, after := range []func(){
				func() { up(t, p); unchanged(t, p); crosses(t, p) },
				func() { up(t, planned(t, owner, spec(forward("a")))); down(t, owner) },
				func() { down(t, owner) },
			} {
				up(t, p)
				own := wiringOf(p)
				living, err := netns.Processes([]string{own})
				if err != nil || len(living[own]) != 2 {
					t.Fatalf("processes %v, error %v", living, err)
				}
				sh(t, "ip netns delete "+own)
				after()
				for _, pid := range living[own] {
					if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(text), ovs.Dir(owner)) {
						t.Errorf("process %d is left", pid)
					}
				}
			}
		})
	}
}

// TestSwitchesToOthers join namespaces that are not the chain's, and leave them as they
// were.
func TestSwitchesToOthers(t *testing.T) {
	needsSwitches(t)
	for _, name := range []string{"default", "internal", "one, internal"} {
		t.Run(name, func(t *testing.T) {
			owner, left, right := nstest.Owner(t), nstest.Namespace(t), nstest.Namespace(t)
			downAfter(t, owner)
			p := switched(t, owner, "endpoints: [{name: l, namespace: "+left+"}, {name: r, namespace: "+right+"}]\n"+spec(forward("a")), fabrics[name])
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			down(t, owner)
			for _, ns := range []string{left, right} {
				if links := strings.TrimSpace(sh(t, "ip -n "+ns+" -o link")); strings.Contains(links, "\n") {
					t.Errorf("left in %s:\n%s", ns, links)
				}
			}
		})
	}
}

// BenchmarkSwitches makes and removes chains of many switches: in a row between two
// ends, one for each of as many pairs of neighbours, and one with many ports.
func BenchmarkSwitches(b *testing.B) {
	needsSwitches(b)
	for _, c := range []struct{ name, spec, options string }{
		{"20 in a row", spec(), "ovs: {switches: 20}\n"},
		{"20 in a row, paired", spec(), "ovs: {switches: 20, switch_to_switch: veth}\n"},
		{"20 neighbours", plantest.Forwards(19), ""},
		{"20 neighbours, internal", plantest.Forwards(19), "ovs: {ports: internal}\n"},
		{"20 neighbours of 20", plantest.Forwards(19), "ovs: {switches: 20}\n"},
		{"1 of 400 ports", plantest.Forwards(198), "ovs: {per: chain}\n"},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := switched(b, nstest.Owner(b), c.spec, c.options)
			var up, again, down []time.Duration
			for b.Loop() {
				d := &deploy.Deployer{}
				up = append(up, timed(b, func() error { _, err := d.Up(b.Context(), p); return err }))
				again = append(again, timed(b, func() error { _, err := d.Up(b.Context(), p); return err }))
				down = append(down, timed(b, func() error { _, err := d.Down(context.Background(), p.Chain); return err }))
				settle(b, p.Chain)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(up), "up-s")
			b.ReportMetric(median(again), "up-again-s")
			b.ReportMetric(median(down), "down-s")
		})
	}
}

func median(d []time.Duration) float64 {
	slices.Sort(d)
	return d[len(d)/2].Seconds()
}
