package deploy_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// datagrams go by these functions, and all else straight.
func datagrams(functions ...string) string {
	return classifier("direct", pathRule("datagrams", "protocol: udp", functions...))
}

// classified are edits by which chains are given a classifier or have none any more.
var classified = map[string]edit{
	"given":                      {spec(forward("a"), forward("b")), spec(forward("a"), forward("b")) + datagrams("b"), "ab", "b"},
	"given, other places":        {spec(forward("a"), forward("b")), spec(forward("a"), forward("b")) + datagrams("b", "a"), "ab", "ba"},
	"given, the same path":       {spec(forward("a"), forward("b")), spec(forward("a"), forward("b")) + classifier("chain"), "ab", "ab"},
	"given, a function inserted": {spec(forward("a"), forward("b")), spec(forward("a"), forward("x"), forward("b")) + datagrams("x", "a"), "ab", "xa"},
	"given, a function removed":  {spec(forward("a"), forward("x"), forward("b")), spec(forward("b"), forward("a")) + datagrams("b", "a"), "axb", "ba"},
	"given, with replicas":       {spec(forward("a"), replicas("b", 2)), spec(forward("a"), replicas("b", 2)) + datagrams("b", "a"), "ab", "ba"},
	"given, replicas inserted":   {spec(forward("a"), forward("b")), spec(replicas("x", 2), forward("a"), forward("b")) + datagrams("b", "x"), "ab", "bx"},
	"given, replicas removed":    {spec(replicas("x", 2), forward("a")), spec(forward("a")) + datagrams("a"), "xa", "a"},
	"taken":                      {spec(forward("a"), forward("b")) + datagrams("b"), spec(forward("a"), forward("b")), "b", "ab"},
	"taken, other places":        {spec(forward("a"), forward("b")) + datagrams("b", "a"), spec(forward("a"), forward("b")), "ba", "ab"},
	"taken, the same path":       {spec(forward("a"), forward("b")) + classifier("chain"), spec(forward("a"), forward("b")), "ab", "ab"},
	"taken, a function inserted": {spec(forward("a"), forward("b")) + datagrams("b", "a"), spec(forward("a"), forward("x"), forward("b")), "ba", "axb"},
	"taken, a function removed":  {spec(forward("a"), forward("x"), forward("b")) + datagrams("x", "a"), spec(forward("b"), forward("a")), "xa", "ba"},
	"taken, with replicas":       {spec(forward("a"), replicas("b", 2)) + datagrams("b", "a"), spec(forward("a"), replicas("b", 2)), "ba", "ab"},
	"taken, replicas first":      {spec(replicas("a", 2), forward("b")) + datagrams("b"), spec(replicas("a", 2), forward("b")), "b", "ab"},
	"taken, replicas inserted":   {spec(forward("a"), forward("b")) + datagrams("b", "a"), spec(replicas("x", 2), forward("a"), forward("b")), "ba", "xab"},
	"taken, replicas all":        {spec(replicas("a", 2), replicas("b", 3)) + datagrams("b", "a"), spec(replicas("a", 2), replicas("x", 2), replicas("b", 3)), "ba", "axb"},
	"taken, replicas removed":    {spec(replicas("x", 2), forward("a"), forward("b")) + datagrams("b", "x"), spec(forward("a"), forward("b")), "bx", "ab"},
}

// TestFlowsStayWhereClassifiersComeAndGo, while a thousand packets a second pass each way: none is lost, and each of a flow goes by the
// functions that its first one went by, in that order. New flows go the new way, and nothing is left of the old one when all do.
func TestFlowsStayWhereClassifiersComeAndGo(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {idle: 5s, census: 2s, hook: tcx}\n", "clsact": "wiring: ebpf\nebpf: {idle: 5s, census: 2s, hook: clsact}\n"} {
		for name, c := range classified {
			if hook == "clsact" && !strings.HasSuffix(name, "other places") {
				continue
			}
			t.Run(hook+"/"+name, func(t *testing.T) {
				t.Parallel()
				c.keeps(t, wiring)
			})
		}
	}
}

// TestClassifiersComeAndGo one after the other: flows of each time go on by the path that they began on, whatever comes, and when they are
// over nothing is left.
func TestClassifiersComeAndGo(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	a, b, x := forward("a"), forward("b"), forward("x")
	type step struct{ spec, by string }
	for name, steps := range map[string][]step{
		"alone": {
			{spec(a, b), "ab"},
			{spec(a, b) + datagrams("b", "a"), "ba"},
			{spec(a, b, x), "abx"},
			{spec(x, a, b), "xab"}, // while flows stay since that was taken away
			{spec(x, a, b) + datagrams("b", "x"), "bx"},
		},
		"with replicas": {
			{spec(a, replicas("b", 2)), "ab"},
			{spec(a, replicas("b", 2)) + datagrams("b", "a"), "ba"},
			{spec(a, replicas("b", 3), x), "abx"},
			{spec(x, a, replicas("b", 4)), "xab"},
			{spec(x, a, replicas("b", 4)) + datagrams("b", "x"), "bx"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const wiring = "wiring: ebpf\nebpf: {idle: 5s, census: 2s}\n"
			owner := nstest.Owner(t)
			downAfter(t, owner)
			var last *plan.Plan
			var began [][]*tour
			dropped := nstest.Dropped(t)
			for i, step := range steps {
				next := planned(t, owner, wiring+step.spec)
				up(t, next)
				welcome(t, next, last)
				if last = next; i == 0 {
					crosses(t, next)
				} else {
					unchanged(t, next)
				}
				if i >= 2 { // they went on through two edits
					ended(t, began[i-2], dropped, steps[i-2].by)
				}
				began = append(began, tours(t, next, uint16(7015+i)))
				if s := stay(t, next); i > 0 && (s == nil || s.Flows < 2) {
					t.Errorf("%s: there stay %+v", step.by, s)
				}
			}
			for i := len(steps) - 2; i < len(steps); i++ {
				ended(t, began[i], dropped, steps[i].by)
			}
			drains(t, last)
		})
	}
}

// TestReplicasComeAndGoWithoutClassifier while flows stay since that was taken away: these and others go on by the functions that they began
// with, whatever replicas these have, and as many stay.
func TestReplicasComeAndGoWithoutClassifier(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	of := func(n int) string { return spec(forward("a"), replicas("b", n)) }
	replicasChange(t, edit{of(3) + datagrams("b", "a"), of(3), "ba", "ab"}, of(2), of(4))
}

// TestReplicasComeAndGoWhileFlowsStay since functions changed places: the same.
func TestReplicasComeAndGoWhileFlowsStay(t *testing.T) {
	t.Parallel()
	needsBranches(t)
	a, b := forward("a"), func(n int) string { return spec(replicas("b", n), forward("a")) }
	parts := "{name: tell, kind: forward, branches: [{mark: 1, to: server}]}"
	for name, c := range map[string]struct {
		edit
		then []string
	}{
		"in a line": {edit{spec(a, replicas("b", 3)), b(3), "ab", "ba"},
			[]string{b(2), b(4), spec("{name: b, kind: forward, replicas: 4, weights: [1, 2, 3, 4]}", a)}},
		"where ways part": {edit{spec(parts, a, replicas("b", 3)), spec(parts, replicas("b", 3), a), "ab", "ba"},
			[]string{spec(parts, replicas("b", 4), a), spec(parts, replicas("b", 2), a)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replicasChange(t, c.edit, c.then...)
		})
	}
}

// replicasChange while flows stay since an edit.
func replicasChange(t *testing.T, c edit, then ...string) {
	t.Helper()
	const wiring = "wiring: ebpf\nebpf: {idle: 5s, census: 2s}\n"
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, wiring+c.before)
	up(t, first)
	crosses(t, first)
	welcome(t, first, nil)
	dropped := nstest.Dropped(t)
	all := tours(t, first, 7015)
	last := planned(t, owner, wiring+c.after)
	up(t, last)
	fresh := tours(t, last, 7016)
	for _, replicas := range then {
		next := planned(t, owner, wiring+replicas)
		lets(t, next) // which leaves replicas that go the flows that they have
		welcome(t, next, last)
		unchanged(t, next)
		if at := stay(t, next); at == nil || at.Flows < len(all)/2 {
			t.Errorf("of %d flows there stay %+v with %s", len(all)/2, at, replicas)
		}
		for _, o := range append(all[:len(all):len(all)], fresh...) {
			o.more(t, 300)
		}
		last = next
	}
	ended(t, all, dropped, c.old)
	ended(t, fresh, dropped, c.path)
	moves(t, last)
}

// TestClassifierGivenAgain: whoever is stopped while flows are found that there were before leaves all as it was, and the next one finds
// them.
func TestClassifierGivenAgain(t *testing.T) {
	needsForwarder(t)
	const soon, later = "wiring: ebpf\nebpf: {idle: 5s, census: 2s}\n", "wiring: ebpf\nebpf: {idle: 10m, census: 10m}\n"
	for name, stop := range map[string]func(t *testing.T, p *plan.Plan){"amid the census": interrupted, "between two ends": halfway} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			first := planned(t, owner, later+spec(forward("a"), forward("b")))
			up(t, first)
			crosses(t, first)
			welcome(t, first, nil)
			dropped := nstest.Dropped(t)
			all := tours(t, first, 7015)
			stop(t, planned(t, owner, later+spec(forward("a"), forward("b"))+datagrams("b", "a")))
			if at := stay(t, first); at == nil || at.Flows != 0 {
				t.Errorf("there stay %+v where no port was turned", at)
			}
			unchanged(t, first)
			second := planned(t, owner, soon+spec(forward("a"), forward("b"))+datagrams("b", "a"))
			up(t, second)
			unchanged(t, second)
			if at := stay(t, second); at == nil || at.Flows < len(all)/2 {
				t.Errorf("of %d flows there stay %+v", len(all)/2, at)
			}
			fresh := tours(t, second, 7016)
			ended(t, all, dropped, "ab")
			ended(t, fresh, dropped, "ba")
			moves(t, second)
		})
	}
}

// interrupted is who makes a plan while flows are found that there were before.
func interrupted(t *testing.T, p *plan.Plan) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() {
		_, err := (&deploy.Deployer{}).Up(ctx, p)
		ended <- err
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if stay(t, p) != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("flows are never looked for")
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: %v", err)
	}
}

// halfway is who comes to one end alone.
func halfway(t *testing.T, p *plan.Plan) {
	t.Helper()
	turn := &steer.Turn{}
	for _, r := range p.Resources {
		s, is := r.Spec.(steer.Spec)
		if !is || s.Paths == nil || s.Paths.End != steer.FirstEnd {
			continue
		}
		change := resource.Change{Op: resource.Update, ID: r.ID, Kind: r.Kind, Key: s.Key(), Spec: s}
		if err := (steer.Kind{Introduces: true, Turn: turn}).Apply(resource.At(nstest.Open(t, p.Between()), p.Chain), []resource.Change{change}); err != nil {
			t.Fatal(err)
		}
	}
	if turn.Census == 0 {
		t.Fatal("flows are not looked for")
	}
}

// TestConnectionsOutliveClassifiers where a function translates addresses: one that is answered goes on, and so does a flow that nobody
// answers, when the chain is given a classifier and when that is taken away.
func TestConnectionsOutliveClassifiers(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	nstest.Require(t, feature.NFTNAT)
	const wiring = "wiring: ebpf\nebpf: {idle: 5s, census: 2s}\n"
	const nat = "{name: nat, kind: nat, nat: {source: {}}}"
	for name, rules := range map[string]string{
		"past it":           datagrams("a", "b"),
		"by it":             classifier("direct", pathRule("all", "", "nat", "b")),
		"by less behind it": classifier("direct", pathRule("all", "", "a", "nat")),
	} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			plain := planned(t, owner, wiring+spec(forward("a"), nat, forward("b")))
			up(t, plain)
			crosses(t, plain)
			to := netip.AddrPortFrom(plain.Server().West.Addresses[0], 7014)
			var server net.Listener
			inside(t, plain.Server().Namespace, func() (err error) { server, err = net.Listen("tcp", to.String()); return })
			defer func() { _ = server.Close() }()
			before := converse(t, plain, server, to)
			s := streams(t, plain, addresses(plain, plain.Client().Name, plain.Server().Name))
			s.more(t, 100)
			ruled := planned(t, owner, wiring+spec(forward("a"), nat, forward("b"))+rules)
			up(t, ruled)
			within := converse(t, ruled, server, to)
			s.more(t, 100)
			up(t, plain)
			after := converse(t, plain, server, to)
			s.more(t, 100)
			before.ends(t, "before there were rules")
			within.ends(t, "while there were rules")
			after.ends(t, "after there were rules")
			s.ends(t)
			moves(t, plain)
		})
	}
}
