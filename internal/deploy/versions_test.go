package deploy_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/held"
)

// TestVersionsTakeTurns at one chain while packets pass, a thousand a second: an earlier nfchain brings
// it up, this one takes it over, changes it and gives it back, and each packet comes once. To one that knows
// nothing of flows that are led past inline functions it is given when there are none, as docs/steering.md says.
func TestVersionsTakeTurns(t *testing.T) {
	needsForwarder(t)
	earlier, this := nstest.Versions(t)
	leads := knows(t, earlier, held.LeadMark)
	const (
		count   = "{name: count, kind: counter, runtime: inline}"
		guard   = "{name: guard, kind: firewall, runtime: inline, firewall: {rules: {generate: 10, stateful: true}}}"
		many    = "{name: many, kind: forward, replicas: 2}"
		watched = "{name: last, kind: forward, onFailure: bypass}"
	)
	for name, wiring := range updated {
		t.Run(name, func(t *testing.T) {
			owner, dir := nstest.Owner(t), t.TempDir()
			downAfter(t, owner)
			turn := func(binary string, functions []string, flags ...string) {
				t.Helper()
				text := "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: " + owner + "}\nspec:\n" + "  " + strings.ReplaceAll(strings.TrimSpace(wiring+spec(functions...)), "\n", "\n  ") + "\n"
				file := filepath.Join(dir, "chain.yaml")
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command(binary, append([]string{"up", file, "--wait"}, flags...)...).CombinedOutput(); err != nil {
					t.Fatalf("%s up: %v\n%s", binary, err, out)
				}
			}
			last := watched
			if name == "staying" { // nobody leads packets past where flows stay
				last = forward("last")
			}
			first := []string{count, forward("a"), guard, forward("c"), last}
			turn(earlier, first)
			p := planned(t, owner, wiring+spec(first...))
			crosses(t, p)
			s := streams(t, p, addresses(p, p.Client().Name, p.Server().Name))
			before := first
			for _, c := range []struct {
				binary    string
				functions []string
			}{
				{this, first}, {earlier, first}, // nothing is another, but who did it
				{this, []string{count, forward("a"), forward("b"), guard, forward("c"), last}},
				{earlier, []string{count, forward("a"), forward("b"), guard, forward("c"), last}},
				{earlier, []string{forward("a"), many, forward("c")}},
				{this, []string{forward("a"), many, forward("c")}},
				{this, []string{forward("a"), many, forward("b"), guard, forward("c")}},
				{earlier, first}, {this, first},
			} {
				s.more(t, 100)
				if c.binary == earlier && !leads {
					turn(this, before, "--move")
				}
				turn(c.binary, c.functions)
				before = c.functions
				crosses(t, p)
			}
			s.more(t, 100)
			s.ends(t)
			unchanged(t, planned(t, owner, wiring+spec(first...)))
		})
	}
}

// knows tells whether a binary has a name in it.
func knows(t *testing.T, binary, name string) bool {
	t.Helper()
	all, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(all, []byte(name))
}
