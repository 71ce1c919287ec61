package published_test

import (
	"math"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/experiment"
	"nfchain.dev/nfchain/internal/registry"
	"nfchain.dev/nfchain/internal/trial"
)

// machine of a simulation: what it measures of a point on an instance of its chain.
type machineOf func(p experiment.Point, instance int) float64

// told decodes a published experiment, measures it on a simulated machine, and gives the
// verdict on each claim. Values of the load's first protocol are stored under every metric
// that a claim names.
func told(t *testing.T, id string, machine machineOf, has ...string) map[string]string {
	t.Helper()
	spec := specOf(t, id)
	points, err := experiment.Points(spec, registry.Words())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	run := trial.Run{Repeats: spec.Load.Repeats, Redeploy: spec.Load.Redeploy, State: trial.Done, Environment: trial.Environment{CPUs: 16}}
	for _, p := range points {
		if p.Infeasible != "" {
			t.Fatalf("%s: %v: %s", id, p.Factors, p.Infeasible)
		}
		run.Conditions = append(run.Conditions, trial.Condition{Path: trial.PathChain, Length: p.Chain.Length(), Factors: p.Factors})
		each := p.Load.Repeats / max(1, p.Load.Redeploy)
		for k := range p.Load.Repeats {
			instance := k/each + 1
			value := machine(p, instance) * (1 + 0.005*r.NormFloat64())
			x := trial.Trial{Condition: len(run.Conditions) - 1, Repeat: k + 1, Instance: 1000*len(run.Conditions) + instance, Metrics: map[string]float64{
				"goodput_bps": value, "packet_rate_pps": value, "forwarding_rate_pps": value, "transactions_per_second": value,
			}}
			if k%each == 0 { // how long it takes to come up differs by more than what it carries
				x.Made = []trial.Making{{MakeS: 0.02 * math.Pow(machine(p, instance)/1e9, 10)}}
			}
			run.Trials = append(run.Trials, x)
		}
	}
	verdicts := map[string]string{}
	for _, v := range experiment.Judge(spec, run, func(f string) bool { return slices.Contains(has, f) }) {
		verdicts[v.ID] = v.Verdict
		t.Logf("%s: %s: %s", v.ID, v.Verdict, v.Reason)
	}
	return verdicts
}

func factor(p experiment.Point, field string) float64 {
	n, is := p.Factors[field].(int)
	if !is {
		return 1
	}
	return float64(n)
}

// engines of containers that a machine may have.
var engines = []string{"tool.docker", "tool.containerd", "tool.lxc"}

// engineClaims of livi2016/engine by what each comes back as: "docker ovs constant", or else what is said of "docker constant",
// "docker ovs" or "docker".
func engineClaims(by map[string]string) map[string]string {
	all := map[string]string{}
	for engine, prefix := range map[string]string{"docker": "", "containerd": "containerd", "lxc": "lxc"} {
		for _, where := range []string{"", "copying", "ovs"} {
			for _, constant := range []string{"", "constant"} {
				part := strings.Join(slices.DeleteFunc([]string{prefix, where, constant}, func(s string) bool { return s == "" }), "-")
				for _, said := range []string{engine, engine + " " + where, engine + " " + constant} {
					if verdict, is := by[said]; is {
						all[strings.TrimSuffix("engine:"+part, ":")] = verdict
					}
				}
			}
		}
	}
	return all
}

// TestDraftsOnKnownMachines has the drafts' experiments, and what Livi et al. left for later, on a machine of which its claims are
// true, and on one of which they are not.
func TestDraftsOnKnownMachines(t *testing.T) {
	power := func(share, k float64) float64 { return 1e9 * math.Pow(1-share, k) }
	is := func(p experiment.Point, field string, value any) bool { return p.Factors[field] == value }
	gain := func(yes bool, by float64) float64 {
		if yes {
			return 1 + by
		}
		return 1
	}
	for _, c := range []struct {
		id      string
		machine machineOf
		has     []string
		want    map[string]string
	}{
		{"konstantynowicz2019/density", func(p experiment.Point, _ int) float64 { // hops cost, and cores are shared
			k := factor(p, "copies")
			if is(p, "chain.bridge.per", "ends") {
				k *= 0.7
			}
			return power(0.1, k)
		}, nil, map[string]string{"snake-pipeline": holds, "functions": holds, "services": holds, "switch-alone": holds}},
		{"konstantynowicz2019/density", func(p experiment.Point, _ int) float64 { // functions are free, and so are cores
			return 1e9 * factor(p, "active_chains") * gain(is(p, "chain.bridge.per", "chain"), 0.1) * gain(true, 0.01*factor(p, "copies"))
		}, nil, map[string]string{"snake-pipeline": fails, "functions": fails, "services": fails, "switch-alone": fails}},
		{"konstantynowicz2019/one-port", func(p experiment.Point, _ int) float64 {
			k := factor(p, "copies")
			if is(p, "chain.functions[nf].group", "box") {
				k = 1
			}
			return power(0.1, k) / gain(is(p, "chain.outside", true), 0.3)
		}, nil, map[string]string{"one-port": holds, "north-south": holds}},
		{"konstantynowicz2019/one-port", func(p experiment.Point, _ int) float64 {
			return 1e9 * gain(is(p, "chain.functions[nf].group", ""), 0.1) * gain(is(p, "chain.outside", true), 0.3)
		}, nil, map[string]string{"one-port": fails, "north-south": fails}},
		{"dcn05/multiqueue", func(p experiment.Point, _ int) float64 { // as many packets as flows that have a queue
			return 1e5 * min(factor(p, "flows"), factor(p, "chain.tuning.rx_queues"))
		}, nil, map[string]string{"multiqueue": holds, "multiqueue:grows": holds, "multiqueue:one-flow": holds}},
		{"dcn05/multiqueue", func(p experiment.Point, _ int) float64 { // queues only cost
			return 1e5 / (0.8 + 0.2*factor(p, "chain.tuning.rx_queues"))
		}, nil, map[string]string{"multiqueue": fails, "multiqueue:grows": fails, "multiqueue:one-flow": fails}},
		{"dcn05/instantiation", func(p experiment.Point, instance int) float64 {
			return 1e9 * (1 + 0.05*float64(instance*7%20)/20)
		}, nil, map[string]string{"instantiation": holds, "instantiation:bridge": holds, "instantiation:macvlan": holds, "instantiation:ovs": untold,
			"instantiation:setup": holds, "instantiation:setup-bridge": holds, "instantiation:setup-macvlan": holds, "instantiation:setup-ovs": untold}},
		{"dcn05/instantiation", func(experiment.Point, int) float64 { return 1e9 }, []string{"tool.ovs"}, map[string]string{
			"instantiation": fails, "instantiation:bridge": undecided, "instantiation:macvlan": undecided, "instantiation:ovs": undecided,
			"instantiation:setup": fails, "instantiation:setup-bridge": fails, "instantiation:setup-macvlan": fails, "instantiation:setup-ovs": fails}},
		{"dcn05/direction", func(p experiment.Point, _ int) float64 { // a card is faster from outside alone
			return 1e9 * gain(!is(p, "wiring", "bridge"), map[bool]float64{true: 0.5, false: -0.2}[is(p, "chain.outside", true)])
		}, []string{"tool.ovs"}, map[string]string{"direction": holds, "direction:functions": holds, "direction:ovs": holds, "direction:ovs-functions": holds}},
		{"dcn05/direction", func(p experiment.Point, _ int) float64 { return 1e9 * gain(is(p, "wiring", "macvlan"), 0.3) },
			nil, map[string]string{"direction": fails, "direction:functions": fails, "direction:ovs": untold, "direction:ovs-functions": untold}},
		{"dcn05/fig12", func(p experiment.Point, _ int) float64 { // the figure's own values
			return 1e9 * map[string]float64{
				"0 none ": 3.1, "0 exclusive same": 9.8, "1 none ": 1.5, "1 exclusive ": 4.7, "1 shared: 0-1 ": 3.5,
				"1 exclusive same": 4.7, "1 exclusive different": 3.1, "1 shared: 0-1 same": 3.5, "1 shared: 0-1 different": 2.3,
			}[map[bool]string{true: "0 ", false: "1 "}[factor(p, "copies") == 0]+p.Factors["chain.placement.load"].(string)+" "+p.Factors["chain.placement.numa"].(string)]
		}, []string{"numa"}, map[string]string{"fig12-exclusive": holds, "fig12-exclusive:one-node": holds, "fig12-exclusive:ends": holds,
			"fig12-numa": holds, "fig12-numa:unpinned": holds, "fig12-numa:one-node": holds, "fig12-switch-pod": holds, "fig12-switch-pod:unpinned": holds}},
		{"dcn05/fig12", func(experiment.Point, int) float64 { return 1e9 }, nil,
			map[string]string{"fig12-exclusive": untold, "fig12-exclusive:one-node": undecided, "fig12-exclusive:ends": undecided,
				"fig12-numa": untold, "fig12-numa:unpinned": untold, "fig12-numa:one-node": undecided, "fig12-switch-pod": untold, "fig12-switch-pod:unpinned": fails}},
		{"dcn05/containers", func(p experiment.Point, _ int) float64 { // pinning gains, and containers are slower
			return 1e9 * map[string]float64{"none": 0.5, "shared: 0-1": 1, "exclusive": 1.5}[p.Factors["chain.placement.load"].(string)] * gain(is(p, "chain.runtime", "docker"), -0.2)
		}, []string{"tool.docker"}, map[string]string{"fig12-exclusive:containers": holds, "fig12-numa:containers": holds, "fig12-exclusive:runtime": holds}},
		{"dcn05/containers", func(p experiment.Point, _ int) float64 { // it costs, in containers alone
			if is(p, "chain.runtime", "netns") {
				return 1e9
			}
			return 1e9 * map[string]float64{"none": 1.5, "shared: 0-1": 1, "exclusive": 0.5}[p.Factors["chain.placement.load"].(string)]
		}, []string{"tool.docker"}, map[string]string{"fig12-exclusive:containers": fails, "fig12-numa:containers": fails, "fig12-exclusive:runtime": fails}},
		{"dcn05/functions", func(p experiment.Point, _ int) float64 { // a CPU of one's own gains
			return 1e9 * map[string]float64{"none": 0.5, "shared: 0-1": 1, "exclusive": 1.5}[p.Factors["chain.placement.functions"].(string)]
		}, []string{"tool.docker"}, map[string]string{"fig12-exclusive:functions": holds, "fig12-exclusive:functions-rr": holds, "fig12-numa:functions": holds}},
		{"dcn05/functions", func(p experiment.Point, _ int) float64 { // it costs
			return 1e9 * map[string]float64{"none": 1.5, "shared: 0-1": 1, "exclusive": 0.5}[p.Factors["chain.placement.functions"].(string)]
		}, []string{"tool.docker"}, map[string]string{"fig12-exclusive:functions": fails, "fig12-exclusive:functions-rr": fails, "fig12-numa:functions": fails}},
		{"dcn05/hugepages", func(p experiment.Point, _ int) float64 { // many flows gain
			return 1e9 * gain(is(p, "mix", "hugepages"), map[bool]float64{true: 0.3, false: -0.3}[factor(p, "flows") == 64])
		}, []string{"tool.docker", "hugepages.limits"}, map[string]string{"hugepages": holds, "hugepages:one-flow": fails}},
		{"dcn05/hugepages", func(p experiment.Point, _ int) float64 { return 1e9 * gain(is(p, "mix", "hugepages"), 0.3) },
			nil, map[string]string{"hugepages": untold, "hugepages:one-flow": untold}},
		{"dcn05/dpdk", func(p experiment.Point, _ int) float64 { // a CPU of its own gains, and so do hugepages
			return 1e9 * gain(is(p, "mix", "hugepages"), 0.3) * map[string]float64{"none": 0.5, "shared: 0-1": 1, "exclusive": 1.5}[p.Factors["chain.placement.functions"].(string)]
		}, []string{"tool.docker", "hugepages.limits"}, map[string]string{"fig12-exclusive:dpdk": holds, "fig12-exclusive:dpdk-packets": holds, "fig12-numa:dpdk": holds,
			"hugepages:dpdk": holds, "hugepages:dpdk-packets": holds}},
		{"dcn05/dpdk", func(p experiment.Point, _ int) float64 { // both cost
			return 1e9 * gain(is(p, "mix", "hugepages"), -0.3) * map[string]float64{"none": 1.5, "shared: 0-1": 1, "exclusive": 0.5}[p.Factors["chain.placement.functions"].(string)]
		}, []string{"tool.docker", "hugepages.limits"}, map[string]string{"fig12-exclusive:dpdk": fails, "fig12-exclusive:dpdk-packets": fails, "fig12-numa:dpdk": fails,
			"hugepages:dpdk": fails, "hugepages:dpdk-packets": fails}},
		{"dcn05/pod", func(p experiment.Point, _ int) float64 { // within a pod nothing is between
			return 1e9 * gain(is(p, "wiring", "pod"), 0.5)
		}, []string{"tool.docker"}, map[string]string{"one-pod": holds, "one-pod:rr": holds, "network-models": holds, "network-models:rr": holds}},
		{"dcn05/pod", func(p experiment.Point, _ int) float64 { // an engine's network is the fastest
			return 1e9 * gain(is(p, "wiring", "engine"), 0.5)
		}, []string{"tool.docker"}, map[string]string{"one-pod": fails, "one-pod:rr": fails, "network-models": fails, "network-models:rr": fails}},
		{"livi2016/future-active", func(p experiment.Point, _ int) float64 {
			return 1e9 * min(4, factor(p, "active_chains")*factor(p, "flows")) / 4
		},
			nil, map[string]string{"future-active": fails, "future-active:flows": holds}},
		{"livi2016/future-active", func(p experiment.Point, _ int) float64 { return 1e9 / factor(p, "active_chains") },
			nil, map[string]string{"future-active": holds, "future-active:flows": fails}},
		{"livi2016/future-mix", func(p experiment.Point, _ int) float64 {
			return 1e9 * map[string]float64{"forward-forward": 1, "firewall-forward": 0.7, "forward-shaper": 0.9, "firewall-shaper": 0.63, "shaper-firewall": 0.63,
				"firewall-firewall": 0.49, "shaper-shaper": 0.81}[p.Factors["mix"].(string)]
		}, nil, map[string]string{"future-mix": holds, "future-mix:product": holds, "future-mix:order": holds}},
		{"livi2016/future-mix", func(p experiment.Point, _ int) float64 { // the shaper costs more
			return 1e9 * map[string]float64{"forward-forward": 1, "firewall-forward": 0.9, "forward-shaper": 0.7, "firewall-shaper": 0.63, "shaper-firewall": 0.63,
				"firewall-firewall": 0.81, "shaper-shaper": 0.49}[p.Factors["mix"].(string)]
		}, nil, map[string]string{"future-mix": holds, "future-mix:product": holds, "future-mix:order": holds}},
		{"livi2016/future-mix", func(p experiment.Point, _ int) float64 { // both cost as much
			return 1e9 * map[string]float64{"forward-forward": 1, "firewall-forward": 0.8, "forward-shaper": 0.8, "firewall-shaper": 0.4, "shaper-firewall": 0.64,
				"firewall-firewall": 0.64, "shaper-shaper": 0.64}[p.Factors["mix"].(string)]
		}, nil, map[string]string{"future-mix": fails, "future-mix:product": fails, "future-mix:order": fails}},
		{"livi2016/future-group", func(p experiment.Point, _ int) float64 {
			k := factor(p, "copies.fw")
			if is(p, "chain.functions[fw].group", "box") {
				return power(0.05, k)
			}
			return power(0.15, k)
		}, nil, map[string]string{"group": holds, "group:gain": holds}},
		{"livi2016/future-group", func(p experiment.Point, _ int) float64 {
			return power(0.05, factor(p, "copies.fw")*gain(is(p, "chain.functions[fw].group", "box"), 0.5))
		}, nil, map[string]string{"group": fails, "group:gain": fails}},
		{"livi2016/engine", func(p experiment.Point, _ int) float64 { // one engine costs next to nothing, one more the longer the chain is, and LXC nothing
			if is(p, "chain.runtime", "containerd") {
				return power(0.1, 1.3*factor(p, "length"))
			}
			return power(0.1, factor(p, "length")) * gain(is(p, "chain.runtime", "docker"), -0.02)
		}, engines, engineClaims(map[string]string{"docker": holds, "containerd": fails, "lxc": holds})},
		{"livi2016/engine", func(p experiment.Point, _ int) float64 { // the others do
			if is(p, "chain.runtime", "docker") || is(p, "chain.runtime", "lxc") {
				return power(0.1, 1.3*factor(p, "length"))
			}
			return power(0.1, factor(p, "length"))
		}, engines, engineClaims(map[string]string{"docker": fails, "containerd": holds, "lxc": fails})},
		{"livi2016/engine", func(p experiment.Point, _ int) float64 { // one costs over switches alone, another where sends are copied, and the third elsewhere
			copying, switches := is(p, "zerocopy", false), is(p, "wiring", "ovs")
			if is(p, "chain.runtime", "docker") && switches || is(p, "chain.runtime", "containerd") && copying || is(p, "chain.runtime", "lxc") && !switches && !copying {
				return power(0.1, 1.3*factor(p, "length"))
			}
			return power(0.1, factor(p, "length"))
		}, engines, engineClaims(map[string]string{"docker": holds, "docker ovs": fails, "containerd": holds, "containerd copying": fails,
			"lxc": fails, "lxc copying": holds, "lxc ovs": holds})},
		{"livi2016/engine", func(p experiment.Point, _ int) float64 { // a cost that is not small, but constant
			return 1e9 * gain(!is(p, "chain.runtime", "netns"), -0.2)
		}, []string{"tool.docker"}, engineClaims(map[string]string{"docker": fails, "docker constant": holds, "containerd": untold, "lxc": untold})},
		{"livi2016/future-shared", func(experiment.Point, int) float64 { return 1e9 },
			nil, map[string]string{"future-shared": holds, "future-shared:alone": holds}},
		{"livi2016/future-shared", func(p experiment.Point, _ int) float64 { return 1e9 / gain(is(p, "mix", "shared"), 0.5) },
			nil, map[string]string{"future-shared": fails, "future-shared:alone": fails}},
	} {
		got := told(t, c.id, c.machine, c.has...)
		source := path.Dir(c.id) + "/"
		for id, want := range c.want {
			if got[source+id] != want {
				t.Errorf("%s: %s%s: %q, want %q", c.id, source, id, got[source+id], want)
			}
			delete(got, source+id)
		}
		if len(got) > 0 {
			t.Errorf("%s: and verdicts on %v", c.id, got)
		}
	}
}
