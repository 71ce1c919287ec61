package plan_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/container"
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

// known are the names that programs of a plan know, by their nodes.
func known(p *plan.Plan) map[string][]string {
	all := map[string][]string{}
	for _, r := range p.Resources {
		if s, is := r.Spec.(container.Names); is {
			all[s.Node] = s.Hosts
		}
	}
	return all
}

// TestProgramsKnowOthers that come and go, and are the same programs.
func TestProgramsKnowOthers(t *testing.T) {
	const spec = "wiring: ebpf\nendpoints: [{name: store, command: {args: [serve]}}, {name: viewer}]\nfunctions: [{name: relay, kind: command, command: {args: [relay]}, onFailure: block}%s]\n"
	of := func(more string) *plan.Plan { return made(t, fmt.Sprintf(spec, more), plan.Facts{}, plan.Options{}) }
	few, more := of(""), of(", {name: added, kind: forward}")
	for _, node := range []string{"store", "relay"} {
		if a, b := programs(few)[node], programs(more)[node]; a.Fingerprint() != b.Fingerprint() {
			t.Errorf("%s is another program beside one more function: %+v, was %+v", node, b, a)
		}
		if names := strings.Join(known(more)[node], "\n") + "\n"; !strings.Contains(names, " added\n") {
			t.Errorf("%s knows %s", node, names)
		}
	}
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
		if !slices.ContainsFunc(p.Server().West.Addresses, func(at netip.Addr) bool {
			return slices.Contains(known(p)["store"], at.String()+" viewer")
		}) {
			t.Errorf("%s: it knows %v", wiring, known(p)["store"])
		}
	}
	_, err := plan.Make(plantest.Chain(t, "edge", "wiring: host\n"+spec+"functions: []\n"), plantest.Catalogue(), plan.Facts{}, plan.Options{})
	if err == nil || !strings.Contains(err.Error(), "spec.endpoints[0].command: wiring host has no namespaces") {
		t.Errorf("over the host's loopback: %v", err)
	}
}

// TestProgramsWaitForAllReplicas of a function, whatever their number, and for one of a group by its name.
func TestProgramsWaitForAllReplicas(t *testing.T) {
	with := func(replicas int) map[string]process.Spec {
		return programs(replicated(t, fmt.Sprintf(`endpoints: [{name: client, command: {args: [ask], after: [serve, beside]}}, {name: server}]
functions:
- {name: serve, kind: command, replicas: %d, command: {args: [serve]}}
- {name: beside, kind: command, group: box, command: {args: [serve], after: [serve]}}
- {name: other, kind: command, group: box, command: {args: [serve]}}
`, replicas)))
	}
	two, three := with(2), with(3)
	for node, function := range map[string]string{"serve-1": "serve", "serve-3": "serve", "beside": "beside", "client": "client"} {
		if got := three[node].Function(); got != function {
			t.Errorf("%s is of %s, want %s", node, got, function)
		}
	}
	for node, want := range map[string]string{"client": "serve beside", "beside": "serve"} {
		if got := strings.Join(two[node].After, " "); got != want {
			t.Errorf("%s waits for %s, want %s", node, got, want)
		}
		if two[node].Fingerprint() != three[node].Fingerprint() {
			t.Errorf("%s is another program when there is a replica more: %+v, was %+v", node, three[node], two[node])
		}
	}
}
