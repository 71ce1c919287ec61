package deploy_test

import (
	"errors"
	"fmt"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// besides are edits that turn ports and change inline functions where these lead as ever.
var besides = map[string]edit{
	"put in":    {spec(forward("a"), forward("b")), spec(inline("one"), forward("a"), forward("x"), forward("b")), "ab", "axb"},
	"added":     {spec(inline("one"), forward("a"), forward("x"), forward("b")), spec(inline("one"), inline("two"), forward("a"), forward("b")), "axb", "ab"},
	"taken out": {spec(forward("a"), forward("x"), forward("b"), inline("one")), spec(forward("x"), forward("a"), forward("b")), "axb", "xab"},
	"moved":     {spec(inline("one"), forward("a"), forward("b")), spec(forward("a"), forward("x"), forward("b"), inline("one")), "ab", "axb"},
	"between new ones": {
		spec(inline("one"), forward("a"), forward("b")),
		spec(inline("one"), forward("a"), forward("x"), inline("two"), forward("y"), forward("b")), "ab", "axb"},
	"beside replicas": {
		spec(inline("one"), replicas("a", 2), forward("b"), forward("x")),
		spec(inline("one"), inline("two"), replicas("a", 2), forward("b")), "abx", "ab"},
	"beside rules": {
		spec(forward("a"), inline("one"), forward("b")) + classifier("chain", pathRule("datagrams", "protocol: udp", "a", "one", "b")),
		spec(forward("a"), inline("one"), inline("two"), forward("b"), forward("x")) + classifier("chain", pathRule("datagrams", "protocol: udp", "a", "one", "two", "b", "x")), "ab", "abx"},
}

// TestFlowsStayWhileInlineChange: where an edit changes inline functions at ports that it leaves alone, flows stay on the path that they began on,
// no packet is lost, and each meets the inline functions that there are once, on whichever path.
func TestFlowsStayWhileInlineChange(t *testing.T) {
	needsBranches(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {idle: 5s, census: 2s, hook: tcx}\n", "clsact": "wiring: ebpf\nebpf: {idle: 5s, census: 2s, hook: clsact}\n"} {
		for name, c := range besides {
			if hook == "clsact" && name != "moved" {
				continue
			}
			t.Run(hook+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, old, fresh, dropped := c.keeps(t, wiring)
				for _, f := range p.Inline {
					there, back := counts(old), counts(fresh)
					if name == "between new ones" && f.Name == "two" {
						there, back = [2]uint64{}, counts(fresh) // flows that stay do not come there
					}
					least := [2]uint64{there[0] + back[0], there[1] + back[1]}
					most := least
					if f.Name == "two" || name == "put in" || name == "moved" {
						least = counts(fresh) // and some of those that stay, which there were before it was
					}
					for way, at := range []*plan.Taken{f.Forward, f.Reverse} {
						// besides there are pings, and what finds neighbours
						if n := taken(t, p, at).Packets; n+nstest.Dropped(t)-dropped < least[way] || n > most[way]+300 {
							t.Errorf("%s counted %d packets of way %d, and there were %d to %d", f.Name, n, way, least[way], most[way])
						}
					}
				}
			})
		}
	}
}

// counts are how many packets were sent each way on tours.
func counts(tours []*tour) (sent [2]uint64) {
	for i, o := range tours {
		sent[i*2/len(tours)] += o.sent
	}
	return sent
}

// TestFlowsMoveWhereInlineChange at once where flows that stay would meet an inline function one way alone, twice or not at all, also where an up
// before had put inline functions in and came to no end.
func TestFlowsMoveWhereInlineChange(t *testing.T) {
	needsForwarder(t)
	for name, c := range map[string]edit{
		"put in beside a new one":     {before: spec(forward("a"), forward("b")), after: spec(forward("a"), forward("x"), inline("one"), forward("b"))},
		"another hop by a new one":    {before: spec(forward("a"), inline("one"), forward("b")), after: spec(forward("a"), forward("x"), inline("one"), forward("b"))},
		"left beside one that leaves": {before: spec(forward("a"), inline("one"), forward("x"), forward("b")), after: spec(forward("a"), inline("one"), forward("b"))},
		"beside another in its place": {before: spec(forward("a"), forward("x"), inline("one"), forward("b")), after: spec(forward("a"), forward("y"), inline("one"), forward("b"))},
		"between new ones now":        {before: spec(inline("one"), forward("a"), forward("b")), after: spec(forward("a"), forward("x"), inline("one"), forward("y"), forward("b"))},
		"inline now":                  {before: spec(forward("a"), forward("one"), forward("b")), after: spec(forward("a"), forward("b"), inline("one"))},
		"in a namespace now":          {before: spec(inline("one"), forward("a"), forward("b")), after: spec(forward("a"), forward("one"), forward("b"))},
	} {
		for _, begun := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/begun before %t", name, begun), func(t *testing.T) {
				t.Parallel()
				c.atOnce(t, begun)
			})
		}
	}
}

// atOnce moves flows, and loses no packet.
func (c edit) atOnce(t *testing.T, begun bool) {
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, lasting+c.before)
	up(t, first)
	crosses(t, first)
	s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
	s.more(t, 100)
	second := planned(t, owner, lasting+c.after)
	if begun {
		failed := errors.New("a function does not start")
		d := &deploy.Deployer{Made: func() error { return failed }}
		if _, err := d.Up(t.Context(), second); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		s.more(t, 100)
	}
	d := &deploy.Deployer{}
	if _, err := d.Up(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if at := stay(t, second); at != nil || d.Staying != 0 {
		t.Errorf("%d flows stay, %+v", d.Staying, at)
	}
	s.more(t, 100)
	s.ends(t)
}
