package plan_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// programs of a plan, by their nodes.
func programs(p *plan.Plan) map[string]process.Spec {
	all := map[string]process.Spec{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(process.Spec); is {
			all[s.Node] = s
		}
	}
	return all
}

// TestProgramsAtTheEnds are what a function's would be, in the end's namespace, and know the names there.
func TestProgramsAtTheEnds(t *testing.T) {
	const spec = "endpoints: [{name: store, command: {args: [serve], scratch: [/srv], files: {/srv/a: text}}}, {name: viewer}]\n"
	for _, wiring := range []string{"veth", "bridge", "ebpf", "macvlan"} {
		p := made(t, "wiring: "+wiring+"\n"+spec+plantest.Forwards(2), plan.Facts{}, plan.Options{Direct: true})
		sound(t, p)
		s, is := programs(p)["store"]
		if !is || s.Netns != p.Client().Namespace || s.Files["/srv/a"] != "text" || s.Restart != "always" {
			t.Errorf("%s: %+v", wiring, s)
		}
		if !slices.ContainsFunc(s.Hosts, func(h process.HostLine) bool {
			return h.Name == "viewer" && slices.Contains(p.Server().West.Addresses, h.Address)
		}) {
			t.Errorf("%s: it knows %v", wiring, s.Hosts)
		}
	}
	_, err := plan.Make(plantest.Chain(t, "edge", "wiring: host\n"+spec+"functions: []\n"), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "spec.endpoints[0].command: wiring host has no namespaces") {
		t.Errorf("over the host's loopback: %v", err)
	}
}

// TestProgramsWaitForAllReplicas of a function, and for one of a group by its name.
func TestProgramsWaitForAllReplicas(t *testing.T) {
	p := replicated(t, `endpoints: [{name: client, command: {args: [ask], after: [serve, beside]}}, {name: server}]
functions:
- {name: serve, kind: command, replicas: 2, command: {args: [serve]}}
- {name: beside, kind: command, group: box, command: {args: [serve], after: [serve]}}
- {name: other, kind: command, group: box, command: {args: [serve]}}
`)
	all := programs(p)
	if got := strings.Join(all["client"].After, " "); got != "serve-1 serve-2 beside" {
		t.Errorf("the end waits for %s", got)
	}
	if got := strings.Join(all["beside"].After, " "); got != "serve-1 serve-2" {
		t.Errorf("one of a group waits for %s", got)
	}
}
