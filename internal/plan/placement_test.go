package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
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
		p, err := plan.Make(plantest.Chain(t, "edge", text), plantest.Catalogue(), plan.Facts{CPUs: upTo(c.cpus)}, plan.Options{})
		line := ""
		if err == nil {
			line = cpuLine(p)
		}
		if err == nil && line != c.want || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%d CPUs, %s\ngot  %q, error %v\nwant %q", c.cpus, text, line, err, c.want)
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
