package deploy_test

import (
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// reversed is a path the other way.
func reversed(path string) string {
	letters := strings.Split(path, "")
	slices.Reverse(letters)
	return strings.Join(letters, "")
}

// edit of a chain, and the functions by which packets on tour go before and after.
type edit struct{ before, after, old, path string }

// keeps flows on their paths while packets of these are on tour: all of those that there were before, and new ones go the new way. It gives
// what the chain is then, the tours from before and the new ones, and how many packets cores had dropped until then.
func (c edit) keeps(t *testing.T, wiring string) (second *plan.Plan, all, fresh []*tour, dropped uint64) {
	t.Helper()
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, wiring+c.before)
	up(t, first)
	crosses(t, first)
	welcome(t, first, nil)
	dropped = nstest.Dropped(t)
	all = tours(t, first, 7015)
	second = planned(t, owner, wiring+c.after)
	up(t, second)
	welcome(t, second, first)
	unchanged(t, second)
	if at := stay(t, second); at == nil || at.Flows < len(all)/2 || at.Moved+at.Unkept > 0 {
		t.Errorf("of %d flows there stay %+v", len(all)/2, at)
	}
	fresh = tours(t, second, 7016)
	for _, o := range all {
		o.more(t, 300)
	}
	ended(t, all, dropped, c.old)
	ended(t, fresh, dropped, c.path)
	moves(t, second)
	return second, all, fresh, dropped
}

// ended tours, of which those of the first end came by these functions, and the others the other way, or by those behind a bar.
func ended(t *testing.T, tours []*tour, dropped uint64, want string) {
	t.Helper()
	want, back, has := strings.Cut(want, "|")
	if !has {
		back = reversed(want)
	}
	for i, by := range end(t, tours, dropped) {
		if i == len(tours)/2 {
			want = back
		}
		if by != want {
			t.Errorf("%s: packets came by %q, want %q", tours[i].name, by, want)
		}
	}
}

// moves all flows that stay, and finds nothing left of what they went by: what the kernel sends of its own may stay for long.
func moves(t *testing.T, p *plan.Plan) {
	t.Helper()
	d := &deploy.Deployer{Move: true}
	if _, err := d.Up(t.Context(), p); err != nil || d.Staying != 0 {
		t.Errorf("%d flows stay when all are to move, error %v", d.Staying, err)
	}
	if s := stay(t, p); s != nil {
		t.Errorf("ports still know older paths: %+v", s)
	}
	nodes, err := deploy.Nodes(p.Chain)
	if err != nil || len(nodes) != len(p.Namespaces()) {
		t.Errorf("there are namespaces %v (%v), and planned are %v", nodes, err, p.Namespaces())
	}
	if pairs := sh(t, "ip -n "+p.Between()+" -br link"); strings.Contains(pairs, steer.Bygone) {
		t.Errorf("pairs are left by which none goes:\n%s", pairs)
	}
	unchanged(t, p)
	crosses(t, p)
}

// edits of chains with replicas or with ways that part.
var edits = map[string]edit{
	"inserted before replicas": {spec(forward("a"), replicas("b", 2)), spec(forward("a"), forward("x"), replicas("b", 2)), "ab", "axb"},
	"removed behind replicas":  {spec(replicas("a", 2), forward("x"), forward("b")), spec(replicas("a", 2), forward("b")), "axb", "ab"},
	"replaced by replicas":     {spec(forward("a"), forward("b")), spec(forward("a"), replicas("x", 2)), "ab", "ax"},
	"swapped with replicas":    {spec(forward("a"), replicas("b", 2)), spec(replicas("b", 2), forward("a")), "ab", "ba"},
	"replicas with replicas":   {spec(replicas("a", 2), replicas("b", 3), forward("x")), spec(replicas("b", 3), forward("x"), replicas("a", 2)), "abx", "bxa"},
	"inserted where ways part": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", forward("x"), forward("b"), forward("out")), "b", "xb"},
	"swapped where ways part": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", forward("x"), forward("b"), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("x"), forward("out")), "xb", "bx"},
	"inserted where they come together": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: x}", forward("b"), forward("x"), forward("out")), "b", "bx"},
	"removed where they come together": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: x}", forward("b"), forward("x"), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")), "bx", "b"},
	"replaced by replicas where ways part": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), replicas("out", 2)),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", replicas("x", 2), replicas("out", 2)), "b", "x"},
	"ways that part for the first time": {
		spec(forward("tell"), forward("a"), forward("b")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", forward("a"), forward("b")), "ab", "b"},
	"inserted where ways part, beside rules": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")) + connections("out"),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", forward("x"), forward("b"), forward("out")) + connections("out"), "b", "xb"},
	"swapped where ways part, beside rules": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", forward("x"), forward("b"), forward("out")) + connections("out", "b"),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("x"), forward("out")) + connections("out", "b"), "xb", "bx"},
	"removed where they come together, beside rules that lead by others": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: x}", forward("b"), forward("x"), forward("out")) + connections("out", "x"),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")) + connections("b", "out"), "bx", "b"},
	"replaced by replicas where ways part, and a rule comes": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), replicas("out", 2)) + classifier("chain"),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", replicas("x", 2), replicas("out", 2)) + classifier("chain", pathRule("datagrams", "protocol: udp", "a")), "b", "a"},
}

// connections go by these functions past all branches, and all else as those lead.
func connections(functions ...string) string {
	return classifier("chain", pathRule("connections", "protocol: tcp", functions...))
}

// TestFlowsStayWhereWaysPart and where functions have replicas, while a thousand packets a second pass each way: none is lost, and each of
// a flow goes by the functions that its first one went by, in that order, whatever is edited. New flows go the new way, and nothing
// is left of the old one when all do.
func TestFlowsStayWhereWaysPart(t *testing.T) {
	needsBranches(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {idle: 5s, census: 2s, hook: tcx}\n", "clsact": "wiring: ebpf\nebpf: {idle: 5s, census: 2s, hook: clsact}\n"} {
		for name, c := range edits {
			if hook == "clsact" && !strings.HasPrefix(name, "swapped") { // where two change places
				continue
			}
			t.Run(hook+"/"+name, func(t *testing.T) {
				t.Parallel()
				c.keeps(t, wiring)
			})
		}
	}
}
