package deploy_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/held"
)

// turned is a chain at which versions take turns.
type turned struct {
	edits []stage
	// marks has the first function's namespace mark packets, for its branches.
	marks bool
}

// stage of it: what is said of the chain, and which functions with a namespace packets pass then.
type stage struct{ spec, passed string }

// turning are the chains, where some are watched if they may be.
func turning(watched string) map[string]turned {
	const (
		count   = "{name: count, kind: counter, runtime: inline}"
		guard   = "{name: guard, kind: firewall, runtime: inline, firewall: {rules: {generate: 10, stateful: true}}}"
		many    = "{name: many, kind: forward, replicas: 2}"
		branch  = "{name: tell, kind: forward, branches: [{mark: %d, to: %s}]}"
		nothing = "nat: {source: {}, destination: {}}"
		public  = `nat: {source: {}, destination: {addresses: [203.0.113.2, "2001:db8::2"]}}`
		hidden  = `nat: {source: {addresses: [203.0.113.1, "2001:db8::1"]}, destination: {addresses: [203.0.113.2, "2001:db8::2"]}}`
	)
	a, b, c, tell := forward("a"), forward("b"), forward("c"), func(mark int, to string) string { return fmt.Sprintf(branch, mark, to) }
	rule := func(match string, functions ...string) string { return pathRule("some", match, functions...) }
	return map[string]turned{
		"functions": {edits: []stage{
			{spec(count, a, guard, c, watched), "a c last"},
			{spec(count, a, b, guard, c, watched), "a b c last"},
			{spec(a, many, c), "a many c"},
			{spec(a, many, b, guard, c), "a many b c"},
		}},
		"classifier": {edits: []stage{
			{spec(a, b, count, watched) + classifier("direct", rule("protocol: udp", "a", "count")), "a"},
			{spec(a, b, count, watched) + classifier("direct", rule("protocol: udp", "b", "a")), "a b"},
			{spec(a, b, count, watched) + classifier("chain", rule("protocol: udp, destination_port: 7013", "last")), "last"},
			{spec(a, b, count, watched) + classifier("chain", rule("protocol: tcp", "count"), pathRule("others", "destination_port: 7013, protocol: udp")), ""},
			{spec(a, b, count, watched), "a b last"},
			{spec(a, c, guard, watched) + classifier("direct", rule("protocol: udp", "c", "guard", "a")), "a c"},
		}},
		"branches": {marks: true, edits: []stage{
			{spec(tell(9, "last"), forward("one"), watched), "tell last"},
			{spec(tell(9, "two"), "{name: one, kind: forward, next: last}", forward("two"), watched), "tell two last"},
			{spec(tell(7, "two"), "{name: one, kind: forward, next: last}", forward("two"), watched), "tell one last"},
			{spec(tell(9, "server"), forward("one"), watched), "tell"},
			{spec(forward("tell"), guard, forward("one"), watched), "tell one last"},
		}},
		"nat": {edits: []stage{
			{spec(a, translating(public), c), "a c"},
			{spec(b, translating(public), c), "b c"},
			{spec(count, translating(public), b, guard, c), "b c"},
			{spec(a, translating(hidden), c, b), "a b c"},
			{spec(a, guard, translating(public)), "a"},
		}},
		"nat of nothing": {edits: []stage{
			{spec(translating(nothing), a, c), "a c"},
			{spec(translating(nothing), b, c), "b c"},
			{spec(a, translating(nothing), b, guard, c), "a b c"},
		}},
	}
}

// TestVersionsTakeTurns at one chain while packets pass, a thousand a second: an earlier nfchain brings
// it up, this one takes it over, changes it and gives it back, and each packet comes once, by the functions by which it should where none stays
// on its path. To one that knows nothing of flows that are led past inline functions it is given when there are none, as docs/steering.md says.
func TestVersionsTakeTurns(t *testing.T) {
	needsBranches(t)
	earlier, this := nstest.Versions(t)
	wirings := map[string]string{"moving": moving["tcx"]}
	maps.Copy(wirings, updated)
	for name, wiring := range wirings {
		last := "{name: last, kind: forward, onFailure: bypass}"
		if name == "staying" { // nobody leads packets past where flows stay
			last = forward("last")
		}
		for what, of := range turning(last) {
			if what != "functions" && forwarders[name] != "" {
				continue // the others are turned where all flows move, and where they stay
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				v := versions{binaries: [2]string{earlier, this}, owner: nstest.Owner(t), wiring: wiring, dir: t.TempDir()}
				v.takeTurns(t, of, strings.Contains(wiring, "stay: false"))
			})
		}
	}
}

// versions of nfchain, the earlier first, and the chain that they take turns at.
type versions struct {
	binaries           [2]string
	owner, wiring, dir string
}

// up has one of them bring the chain up.
func (v versions) up(t *testing.T, which int, is stage, flags ...string) {
	t.Helper()
	text := "apiVersion: nfchain.dev/v1alpha1\nkind: NetworkServiceChain\nmetadata: {name: " + v.owner + "}\nspec:\n" + "  " + strings.ReplaceAll(strings.TrimSpace(v.wiring+is.spec), "\n", "\n  ") + "\n"
	file := filepath.Join(v.dir, "chain.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(v.binaries[which], append([]string{"up", file, "--wait"}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%s up: %v\n%s\n%s", v.binaries[which], err, text, out)
	}
}

// takeTurns has each edit made by one of them, which the other takes over. All packets may be to go as the last edit says.
func (v versions) takeTurns(t *testing.T, of turned, all bool) {
	t.Helper()
	const earlier, this = 0, 1
	leads := knows(t, v.binaries[earlier], held.LeadMark)
	downAfter(t, v.owner)
	first := of.edits[0]
	v.up(t, earlier, first)
	p := planned(t, v.owner, v.wiring+first.spec)
	crosses(t, p)
	if of.marks {
		tell(t, p)
	}
	reached := p.Reached()
	s := streamsTo(t, p, reached.Addresses, reached.Served)
	before := first
	turn := func(which int, is stage) {
		t.Helper()
		s.more(t, 100)
		if which == earlier && !leads {
			v.up(t, this, before, "--move")
		}
		v.up(t, which, is)
		before, p = is, planned(t, v.owner, v.wiring+is.spec)
		crosses(t, p)
		if all {
			passes(t, p, s, strings.Fields(is.passed))
		}
	}
	turn(this, first) // nothing is another, but who did it
	turn(earlier, first)
	for i, is := range append(slices.Clone(of.edits[1:]), first) {
		one := (i + 1) % 2
		turn(one, is)
		turn(1-one, is)
	}
	turn(this, first) // so that nothing is left to do for the tests, which are no supervisor
	s.more(t, 100)
	s.ends(t)
	for i, from := range s.from {
		if len(from) != 1 {
			t.Errorf("what goes to %s comes from %v", reached.Addresses[i], from)
		}
	}
	unchanged(t, p)
}

// passes tells whether packets pass some functions, and no others but inline ones at a stop of their own.
func passes(t *testing.T, p *plan.Plan, s *streaming, by []string) {
	t.Helper()
	before := tookIn(t, p)
	much := func() bool {
		now := tookIn(t, p)
		return !slices.ContainsFunc(by, func(f string) bool { return took(now, f)-took(before, f) < 300 })
	}
	s.more(t, 200)
	for until := time.Now().Add(time.Minute); !much() && time.Now().Before(until); { // a busy machine has many on their way
		s.more(t, 1)
	}
	for f, n := range tookIn(t, p) {
		name, _, _ := strings.Cut(f, "-")
		if slices.ContainsFunc(p.Functions(), func(of plan.Node) bool { return of.Name == f+".stop" }) {
			continue
		}
		if moved, passed := n-before[f], slices.Contains(by, name); passed && !much() || !passed && moved > 100 {
			t.Errorf("%d packets came to %s; they should have passed %v", moved, f, by)
		}
	}
}

// took is how many packets a function, or all of its replicas, took in.
func took(all map[string]uint64, function string) (n uint64) {
	for f, packets := range all {
		if name, _, _ := strings.Cut(f, "-"); name == function {
			n += packets
		}
	}
	return n
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
