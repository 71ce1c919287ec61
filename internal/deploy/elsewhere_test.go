package deploy_test

import (
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
)

// TestToldAtOnce: an edit by which flows go the new path at once, though they are to stay, says so and why, also before it is made, where that
// is known then. Others do not.
func TestToldAtOnce(t *testing.T) {
	needsBranches(t)
	const brief = "wiring: ebpf\nebpf: {idle: 5m, census: 10ms}\n"
	a, b, one := forward("a"), forward("b"), inline("one")
	nat := translating("nat: {source: {masquerade: true}}")
	const public = "nat: {source: {addresses: [203.0.113.1]}}"
	branching := "{name: a, kind: forward, branches: [{mark: 1, to: server}]}"
	for name, c := range map[string]struct {
		wiring, before, after string
		// foretold and told are parts of why.
		foretold, told string
	}{
		"inline beside":                   {brief, spec(a, b), spec(a, forward("x"), one, b), "", ""},
		"a translator beside":             {brief, spec(a, b), spec(a, forward("x"), nat, b), "inline functions change", "inline functions change"},
		"a translator now in a namespace": {brief, spec(a, nat, b), spec(a, "{name: nat, kind: nat, nat: {source: {masquerade: true}}}", b), "inline functions change", "inline functions change"},
		"another one with its address":    {brief, spec(a, translating(public), b), spec(a, forward("x"), "{name: two, kind: nat, runtime: inline, "+public+"}", b), "inline functions change", "inline functions change"},
		"a translator moved":              {brief, spec(a, nat, b), spec(a, forward("x"), nat, b), "", ""},
		"other rules beside":              {brief, spec(a, walled("both", dropping(1)), b), spec(a, forward("x"), walled("both", dropping(2)), b), "inline functions change", "inline functions change"},
		"branches beside rules":           {brief, spec(a, b) + datagrams("b"), spec(branching, b) + datagrams("b"), "", "At once"},
		"a function put in":               {brief, spec(a), spec(a, b), "", ""},
		"replicas":                        {brief, spec(a, replicas("b", 2)), spec(a, replicas("b", 3)), "", ""},
		"weights":                         {brief, spec(weighted(1, 3)), spec(weighted(3, 1)), "", ""},
		"rules":                           {brief, spec(a, b) + datagrams("b"), spec(a, b) + datagrams("a", "b"), "", ""},
		"inline alone":                    {brief, spec(a, b), spec(a, one, b), "", ""},
		"as was wanted":                   {"wiring: ebpf\nebpf: {stay: false}\n", spec(a, b), spec(a, forward("x"), one, b), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			up(t, planned(t, owner, c.wiring+c.before))
			edited := planned(t, owner, c.wiring+c.after)
			for _, dry := range []bool{true, false} {
				d := &deploy.Deployer{DryRun: dry}
				if _, err := d.Up(t.Context(), edited); err != nil {
					t.Fatal(err)
				}
				want := c.told
				if dry {
					want = c.foretold
				}
				if !strings.Contains(d.AtOnce, want) || (want == "") != (d.AtOnce == "") {
					t.Errorf("dry run %t: %q is told, want %q", dry, d.AtOnce, want)
				}
			}
			d := &deploy.Deployer{}
			if changes, err := d.Up(t.Context(), edited); err != nil || len(changes) > 0 || d.AtOnce != "" {
				t.Errorf("a second up has %v to change and tells of %q, error %v", changes, d.AtOnce, err)
			}
		})
	}
}
