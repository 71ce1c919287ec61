package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/ovs"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/tuning"
)

const (
	proxy = "{name: proxy, kind: command, command: {args: [proxy]}}"
	relay = "{name: relay, kind: forward}"
)

// TestPlacement chooses CPUs, and says why where there are too few.
func TestPlacement(t *testing.T) {
	for _, c := range []struct {
		cpus      int
		functions string
		asked     string
		want      string // the plan's line, or a part of the error
	}{
		{2, proxy, "{functions: {shared: 0}}", "CPUs: proxy on 0"},
		{2, proxy, "{functions: exclusive}", "CPUs: proxy on 1; load on 0 at client and 0 at server"},
		{2, proxy, "{functions: exclusive, load: none}", "CPUs: proxy on 1; load on 0 at client and 0 at server"},
		{2, proxy, "{functions: exclusive, load: {shared: 1}}", "CPUs: proxy on 0; load on 1 at client and 1 at server"},
		{2, proxy, "{load: {shared: 0-1}}", "CPUs: load on 0-1 at client and 0-1 at server"},
		{2, proxy, "{load: exclusive}", "placement.functions: others have every CPU (0-1) to themselves"},
		{2, relay, "{load: exclusive}", "CPUs: load on 0 at client and 1 at server"},
		{2, proxy, "{functions: exclusive, load: {shared: 0-1}}", "placement: exclusive needs 1 CPU, one each for proxy, and of those that nfchain may use (0-1) 0 are"},
		{2, relay, "{softirqs: {shared: 1}}", "CPUs: softirqs of client on 1; softirqs of relay on 1; softirqs of server on 1"},
		{2, relay, "{softirqs: exclusive}", "placement: exclusive needs 3 CPUs, one each for client, relay, server, and of those that nfchain may use (0-1) 2 are"},
		{4, relay, "{softirqs: exclusive}", "CPUs: load on 0 at client and 0 at server; softirqs of client on 1; softirqs of relay on 2; softirqs of server on 3"},
		{4, relay, "{softirqs: exclusive, load: exclusive}", "CPUs: load on 1 at client and 3 at server; softirqs of client on 1; softirqs of relay on 2; softirqs of server on 3"},
		{4, proxy + ", " + relay, "{functions: exclusive, load: exclusive, softirqs: {shared: 0}}",
			"CPUs: proxy on 2; load on 1 at client and 3 at server; softirqs of client on 0; softirqs of proxy on 0; softirqs of relay on 0; softirqs of server on 0"},
		{2, relay, "{functions: {shared: 0}}", "placement.functions: no function of the chain has a program"},
		{2, "{name: proxy, kind: command, command: {args: [proxy]}, resources: {cpus: \"0\"}}", "{functions: exclusive}", "resources.cpus of proxy says the same"},
		{2, "{name: proxy, kind: command, command: {args: [proxy]}, resources: {cpus: \"0\"}}", "{load: exclusive}", "2 CPUs, one each for client, server, and of those that nfchain may use (0-1) 1 are not named"},
		{2, relay, "{load: {shared: 2}}", "placement.load: there is no CPU 2 for nfchain, which may use 0-1"},
		{4, "{name: a, kind: command, group: g, command: {args: [a]}}, {name: b, kind: command, group: g, command: {args: [b]}}", "{functions: exclusive}",
			"CPUs: a on 2; b on 3; load on 0-1 at client and 0-1 at server"},
		{2, relay, "{}", ""},
	} {
		text := "functions: [" + c.functions + "]\nplacement: " + c.asked + "\n"
		p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{CPUs: upTo(c.cpus), Nameable: upTo(c.cpus)}, plan.Options{})
		line := ""
		if err == nil {
			line = cpuLine(p)
		}
		if err == nil && line != c.want || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d CPUs, %s\ngot  %q, error %v\nwant %q", c.cpus, text, line, err, c.want)
		}
	}
}

// TestPlacementAsBefore: a chain is placed on CPUs that are chosen of the same as before, whatever who asks runs on.
func TestPlacementAsBefore(t *testing.T) {
	chain := plantest.Chain(t, "edge", "functions: [{name: proxy, kind: command, command: {args: [proxy]}}]\nplacement: {functions: exclusive, load: exclusive}\n")
	first, err := plan.Make(chain, plantest.Catalogue(), plan.Facts{CPUs: upTo(4)}, plan.Options{})
	if err != nil || !slices.Equal(first.ChosenOf(), upTo(4)) {
		t.Fatalf("chosen of %v, %v", first.ChosenOf(), err)
	}
	few := plan.Facts{CPUs: []int{0}}
	if _, err := plan.Make(chain, plantest.Catalogue(), few, plan.Options{}); err == nil {
		t.Error("one CPU is enough for three")
	}
	again, err := plan.Make(chain, plantest.Catalogue(), few, plan.Options{CPUs: first.ChosenOf()})
	if err != nil || cpuLine(again) != cpuLine(first) {
		t.Errorf("%q, %v, want %q", cpuLine(again), err, cpuLine(first))
	}
	plain, err := plan.Make(plantest.Chain(t, "edge", "functions: [{name: a, kind: forward}]\n"), plantest.Catalogue(), few, plan.Options{})
	if err != nil || plain.ChosenOf() != nil {
		t.Errorf("of a chain without a placement %v are noted, %v", plain.ChosenOf(), err)
	}
}

// TestPlacementOfSwitches: their daemons keep off the CPUs that others have to themselves.
func TestPlacementOfSwitches(t *testing.T) {
	for _, c := range []struct {
		cpus  int
		asked string
		bound string // the daemons' CPUs
		want  string // the plan's line, or a part of the error
	}{
		{4, "{load: exclusive}", "0-1", "CPUs: load on 2 at client and 3 at server; wiring on 0-1"},
		{4, "{load: exclusive, softirqs: {shared: 0}}", "0", "CPUs: load on 2 at client and 3 at server; softirqs of client on 0; softirqs of relay on 0; softirqs of server on 0; wiring on 0"},
		{4, "{softirqs: exclusive}", "0", "CPUs: load on 0 at client and 0 at server; softirqs of client on 1; softirqs of relay on 2; softirqs of server on 3; wiring on 0"},
		{2, "{softirqs: {shared: 1}}", "1", "CPUs: softirqs of client on 1; softirqs of relay on 1; softirqs of server on 1; wiring on 1"},
		{2, "{load: {shared: 1}}", "", "CPUs: load on 1 at client and 1 at server"},
		{2, "{load: exclusive}", "", "placement.softirqs: others have every CPU (0-1) to themselves, and none is left for what the wiring runs between the nodes"},
		{6, "{numa: \"1\", load: exclusive}", "3", "CPUs: load on 5 at client and 4 at server; wiring on 3; memory of client at node 1; memory of relay at node 1; memory of server at node 1"},
		{6, "{numa: different, load: exclusive}", "0,3-5", "CPUs: load on 2 at client and 1 at server; wiring on 0,3-5; memory of client at node 0; memory of relay at node 1; memory of server at node 0"},
	} {
		text := "wiring: ovs\nfunctions: [" + relay + "]\nplacement: " + c.asked + "\n"
		facts := plan.Facts{CPUs: upTo(c.cpus), MemoryNodes: map[int][]int{0: {0, 1, 2}, 1: {3, 4, 5}}}
		p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), facts, plan.Options{})
		if err != nil {
			if !strings.HasPrefix(c.want, "placement") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: error %v", c, err)
			}
			continue
		}
		if line := cpuLine(p); line != c.want {
			t.Errorf("%+v\ngot %q", c, line)
		}
		for _, r := range p.Resources {
			if s, is := r.Spec.(ovs.Spec); is && s.CPUs != c.bound {
				t.Errorf("%+v: the daemons have %q", c, s.CPUs)
			}
		}
	}
}

// TestMemoryNodes: two sockets of three CPUs each.
func TestMemoryNodes(t *testing.T) {
	for _, c := range []struct {
		functions, asked, want string
	}{
		{relay, "{numa: same}", "CPUs: load on 0-2 at client and 0-2 at server; memory of client at node 0; memory of relay at node 0; memory of server at node 0"},
		{relay, "{numa: \"1\", load: exclusive}", "CPUs: load on 5 at client and 4 at server; memory of client at node 1; memory of relay at node 1; memory of server at node 1"},
		{proxy, "{numa: different, functions: exclusive}", "CPUs: proxy on 5; load on 0-2 at client and 0-2 at server; memory of client at node 0; memory of proxy at node 1; memory of server at node 0"},
		{proxy, "{numa: different, functions: {shared: 2-3}}", "CPUs: proxy on 3; load on 0-2 at client and 0-2 at server; memory of client at node 0; memory of proxy at node 1; memory of server at node 0"},
		{proxy, "{numa: different, functions: {shared: 0-2}}", "placement.functions: none of CPUs 0-2 is of memory node 1, where proxy is to be"},
		{relay + ", {name: b, kind: forward}", "{numa: same, softirqs: exclusive}", "exclusive needs another CPU, for server, and memory node 0 has none left"},
		{relay, "{numa: \"2\"}", "placement.numa: there is no memory node 2 with CPUs that nfchain may use; there are 0-1"},
	} {
		text := "functions: [" + c.functions + "]\nplacement: " + c.asked + "\n"
		facts := plan.Facts{CPUs: upTo(6), MemoryNodes: map[int][]int{0: {0, 1, 2}, 1: {3, 4, 5}, 2: {}}}
		p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), facts, plan.Options{})
		line := ""
		if err == nil {
			line = cpuLine(p)
		}
		if err == nil && line != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %q, error %v\nwant %q", text, line, err, c.want)
		}
	}
	for _, nodes := range []map[int][]int{nil, {0: {0, 1}}, {0: {0, 1}, 1: {9}}} {
		_, err := plan.Make(plantest.Chain(t, "edge", "placement: {numa: same}\n"), plantest.Catalogue(), plan.Facts{CPUs: upTo(2), MemoryNodes: nodes}, plan.Options{})
		if err == nil || !strings.Contains(err.Error(), "nothing to choose") {
			t.Errorf("%v: error %v", nodes, err)
		}
	}
}

// TestHugepages are refused where there are too few, and for functions that use none.
func TestHugepages(t *testing.T) {
	needs := "{name: proxy, kind: command, command: {args: [proxy]}, resources: {hugepages: 5MiB}}"
	for _, c := range []struct{ spec, want string }{
		{"functions: [" + needs + "]\n", "need 3 hugepages of 2048 KiB, and 2 are reserved"},
		{"functions: [" + needs + "]\ntuning: {host: allow, hugepages: 2}\n", "and 2 tuning.hugepages reserves"},
		{"functions: [" + needs + "]\ntuning: {host: allow, hugepages: 3}\n", ""},
		{"functions: [{name: fw, kind: firewall, resources: {hugepages: 2MiB}}]\n", "function fw: resources.hugepages: kind firewall uses no hugepages"},
		{"functions: [{name: bad, kind: impair, impair: {delay: 1ms}, resources: {hugepages: 2MiB}}]\n", "impair uses no hugepages"},
	} {
		_, err := plan.Make(plantest.Chain(t, "edge", c.spec), plantest.Catalogue(), plan.Facts{Hugepages: &plan.Hugepages{PageBytes: 2 << 20, Reserved: 2}}, plan.Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\nerror %v, want %q", c.spec, err, c.want)
		}
	}
	for _, c := range []struct{ resources, want string }{
		{"{hugepages: 1GiB, hugepage_size: 1GiB}", ""},
		{"{hugepages: 1025MiB, hugepage_size: 1GiB}", "need 2 hugepages of 1048576 KiB, and 1 are reserved; echo 2 >/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"},
		{"{hugepages: 64KiB, hugepage_size: 64KiB}", "resources.hugepage_size: this machine has no hugepages of 64KiB; use 2MiB or 1GiB"},
		{"{hugepages: 6MiB, hugepage_size: 2MiB}", "need 3 hugepages of 2048 KiB, and 2 are reserved"},
	} {
		facts := plan.Facts{Hugepages: &plan.Hugepages{PageBytes: 2 << 20, Reserved: 2, Pools: map[uint64]uint64{2 << 20: 2, 1 << 30: 1}}}
		_, err := plan.Make(plantest.Chain(t, "edge", "functions: [{name: proxy, kind: command, command: {args: [proxy]}, resources: "+c.resources+"}]\n"), plantest.Catalogue(), facts, plan.Options{})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !feature.NotHere(err)) {
			t.Errorf("%s\nerror %v, want %q", c.resources, err, c.want)
		}
	}
	if _, err := plan.MakeFunction(plantest.Function(t, "filter", "kind: firewall\nresources: {hugepages: 2MiB}\n"), plantest.Catalogue(), plan.Facts{}); err == nil {
		t.Error("a standalone firewall with hugepages")
	}
}

// TestMemoryOfPrograms: a program is told its memory node.
func TestMemoryOfPrograms(t *testing.T) {
	facts := plan.Facts{CPUs: upTo(4), MemoryNodes: map[int][]int{0: {0, 1}, 1: {2, 3}}}
	p, err := plan.Make(plantest.Chain(t, "edge", "functions: ["+proxy+"]\nplacement: {numa: different}\n"), plantest.Catalogue(), facts, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is && (len(s.MemoryNodes) != 1 || s.MemoryNodes[0] != 1 || s.CPUs != "2-3") {
			t.Errorf("%+v", s)
		}
	}
}

func upTo(n int) (cpus []int) {
	for i := range n {
		cpus = append(cpus, i)
	}
	return cpus
}

func cpuLine(p *plan.Plan) string {
	for _, line := range strings.Split(p.Text(), "\n") {
		if strings.HasPrefix(line, "CPUs: ") {
			return line
		}
	}
	return ""
}

// TestPlacementBecomesResources: programs and interfaces are told their CPUs.
func TestPlacementBecomesResources(t *testing.T) {
	text := "functions: [" + proxy + ", " + relay + "]\nwiring: bridge\nplacement: {functions: {shared: 1}, softirqs: exclusive}\n"
	p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{CPUs: upTo(6)}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	programs, steered := "", map[string]bool{}
	for _, r := range p.Resources {
		switch s := r.Spec.(type) {
		case process.Spec:
			programs += s.Node + "=" + s.CPUs
		case tuning.Spec:
			steered[fmt.Sprintf("%s %s %s", r.Namespace, s.Device, s.Fingerprint())] = true
		}
	}
	if programs != "proxy=1" {
		t.Errorf("programs: %s", programs)
	}
	if len(steered) != 6 || !steered["nfchain.edge.relay eth0 rps=4"] || !steered["nfchain.edge.relay eth1 rps=4"] || !steered["nfchain.edge.server eth0 rps=5"] && !steered["nfchain.edge.server eth1 rps=5"] {
		t.Errorf("interfaces: %v", steered)
	}
}

// TestThreadsArePlaced in the place of softirqs; those between nodes are kept off CPUs that a
// node has to itself.
func TestThreadsArePlaced(t *testing.T) {
	for _, c := range []struct {
		wiring, asked, want string
		between             string // what the wiring's interfaces have; "" is none of it
	}{
		{"veth", "{softirqs: exclusive}", "CPUs: load on 0-2 at client and 0-2 at server; NAPI threads of client on 3; NAPI threads of relay on 4; NAPI threads of server on 5", ""},
		{"bridge", "{softirqs: exclusive}", "CPUs: load on 0-2 at client and 0-2 at server; NAPI threads of client on 3; NAPI threads of relay on 4; NAPI threads of server on 5; wiring on 0-2", "0-2"},
		{"bridge", "{softirqs: {shared: 1}}", "CPUs: NAPI threads of client on 1; NAPI threads of relay on 1; NAPI threads of server on 1", "1"},
		{"bridge", "{load: exclusive}", "CPUs: load on 4 at client and 5 at server", ""},
	} {
		text := "functions: [" + relay + "]\nwiring: " + c.wiring + "\ntuning: {gro: true, threaded_napi: true}\nplacement: " + c.asked + "\n"
		p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{CPUs: upTo(6)}, plan.Options{})
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if line := cpuLine(p); line != c.want {
			t.Errorf("%+v\ngot %q", c, line)
		}
		for _, r := range p.Resources {
			s, is := r.Spec.(tuning.Spec)
			if !is {
				continue
			}
			words, cpus := s.Fingerprint(), p.Placement.Softirqs[strings.TrimPrefix(r.Namespace, "nfchain.edge.")]
			if strings.HasSuffix(r.Namespace, plan.WiringNode) {
				cpus = c.between
			}
			bound := strings.HasSuffix(words, " threaded_napi=true napi_cpus="+cpus)
			if strings.Contains(words, "rps=") || bound != (cpus != "") || strings.Contains(words, "napi_cpus") != bound {
				t.Errorf("%+v: %s has %s, want CPUs %q", c, r.ID, words, cpus)
			}
		}
	}
}

// TestLoadOfPlacement: what the load has, given what it says itself.
func TestLoadOfPlacement(t *testing.T) {
	p, err := plan.Make(plantest.Chain(t, "edge", "placement: {load: exclusive}\n"), plantest.Catalogue(), plan.Facts{CPUs: upTo(2)}, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{"none": "0/1", "": "0/1", plan.AffinityExclusive: "0/1", "1": "1", "spread": "spread"} {
		if got, err := p.Placement.Affinity(given); got != want || err != nil {
			t.Errorf("%q: %q, error %v", given, got, err)
		}
	}
	var none *plan.Placement
	if got, err := none.Affinity("none"); got != "none" || err != nil {
		t.Errorf("%q, error %v", got, err)
	}
	if _, err := none.Affinity(plan.AffinityExclusive); err == nil {
		t.Error("a load alone on CPUs that nobody gives it")
	}
}

// TestProgramsSayThatTheyRun: every kind that contributes a program can be placed.
func TestProgramsSayThatTheyRun(t *testing.T) {
	runs := 0
	for name, kind := range plantest.Catalogue().Functions {
		options := kind.Options()
		made, err := kind.Contribute(function.Site{Owner: "edge", Node: "a", Namespace: "x", West: "eth0", East: "eth1", MTU: 1500}, options)
		if err != nil {
			continue // it wants more of its options
		}
		r, says := kind.(function.Runner)
		for _, m := range made {
			if m.Kind == process.KindName {
				runs++
				if !says || !r.Runs(options) {
					t.Errorf("%s has a program and does not say so", name)
				}
			}
		}
	}
	if runs < 2 {
		t.Errorf("%d kinds have programs: the test does not see them", runs)
	}
}
