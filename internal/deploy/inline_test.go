package deploy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
)

// inline is a counter without a namespace.
func inline(name string) string {
	return fmt.Sprintf("{name: %s, kind: counter, runtime: inline}", name)
}

// marked is a function that gives what goes forward a code point, in a runtime.
func marked(code, runtime string) string {
	return "{name: mark, kind: dscp, direction: forward, runtime: " + runtime + ", dscp: {code: " + code + "}}"
}

// TestInlineFunctions act beside others and alone, by each hook of the forwarder, are changed in
// their place, become namespaces and are inline again.
func TestInlineFunctions(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			chain := func(functions ...string) *plan.Plan { return planned(t, owner, wiring+spec(functions...)) }
			p := chain(inline("first"), forward("a"), marked("ef", "inline"), inline("last"))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			l := hear(t, p)
			const n = 20
			for range n {
				if got := l.exchange(t, p); got != 46<<2|1 {
					t.Fatalf("traffic class %#x", got)
				}
			}
			for _, f := range p.Inline {
				there, back := taken(t, p, f.Forward), taken(t, p, f.Reverse)
				if there.Packets < n || (back.Packets > 0) != (f.Name != "mark") {
					t.Errorf("%s counted %+v there and %+v back", f.Name, there, back)
				}
			}
			p = chain(inline("first"), forward("a"), marked("af41", "inline"), inline("last"))
			if changes := up(t, p); len(changes) != 1 || changes[0] != "update "+strings.ReplaceAll(p.Inline[1].Forward.Pass, "nfchain."+owner+".", "") {
				t.Errorf("another code changes %v", changes)
			}
			for _, c := range []struct {
				functions []string
				class     byte
			}{
				{[]string{inline("first"), forward("a"), marked("af41", "inline"), inline("last")}, 34},
				{[]string{inline("first"), forward("a"), marked("ef", "netns"), inline("last")}, 46},
				{[]string{marked("af11", "inline")}, 10},
				{[]string{forward("a")}, 0},
				{[]string{marked("ef", "auto"), forward("a")}, 46},
				{nil, 0},
			} {
				p = chain(c.functions...)
				up(t, p)
				unchanged(t, p)
				if got := l.exchange(t, p); got != c.class<<2|1 {
					t.Errorf("%v: traffic class %#x", c.functions, got)
				}
			}
			down(t, owner)
			if names, err := netns.List(); err != nil || strings.Contains(strings.Join(names, " "), owner+".") {
				t.Errorf("left %v, error %v", names, err)
			}
		})
	}
}

// taken is what the step of a function counted; nothing where it takes none.
func taken(t testing.TB, p *plan.Plan, at *plan.Taken) pass.Tally {
	t.Helper()
	if at == nil {
		return pass.Tally{}
	}
	i := slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.ID == at.Pass })
	h, err := netns.Open(p.Resources[i].Namespace)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	c, found, err := pass.CountAt(resource.At(h, p.Chain), p.Resources[i].Spec.Key())
	if err != nil || !found {
		t.Fatalf("the pass %s: %t, %v", at.Pass, found, err)
	}
	return c.Slots[at.Slot]
}

// TestInlineUpdatesLoseNothing: functions that are inline are put in, taken out and moved round
// others while packets pass, a thousand a second, and each of them comes once. All come by what is there where flows do not stay, and else new ones.
func TestInlineUpdatesLoseNothing(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for name, wiring := range map[string]string{
		"tcx": "wiring: ebpf\n", "clsact": "wiring: ebpf\nebpf: {hook: clsact}\n",
		"tcx at once": "wiring: ebpf\nebpf: {stay: false}\n", "clsact at once": "wiring: ebpf\nebpf: {hook: clsact, stay: false}\n",
	} {
		t.Run(name, func(t *testing.T) {
			stays := !strings.Contains(wiring, "stay: false")
			owner := nstest.Owner(t)
			downAfter(t, owner)
			first := planned(t, owner, wiring+spec(forward("a")))
			up(t, first)
			crosses(t, first)
			s := streams(t, first, addresses(first, first.Client().Name, first.Server().Name))
			for _, functions := range [][]string{
				{inline("one"), forward("a")},                                // put in
				{inline("one"), inline("two"), forward("a")},                 // and another
				{inline("two"), forward("a"), inline("one")},                 // moved
				{inline("two"), inline("one")},                               // alone
				{forward("a"), inline("two"), forward("b"), inline("three")}, // with a new one
				{strings.ReplaceAll(inline("two"), "inline", "netns"), forward("b"), inline("three")},
				{inline("two"), forward("b"), inline("three")}, // inline again
				{}, // all taken out
			} {
				s.more(t, 100)
				p := planned(t, owner, wiring+spec(functions...))
				up(t, p)
				unchanged(t, p)
				s.more(t, 1)
				for _, f := range p.Inline {
					before, until := taken(t, p, f.Forward), time.Now().Add(time.Minute)
					for taken(t, p, f.Forward).Packets == before.Packets && time.Now().Before(until) {
						if s.more(t, 1); stays {
							crosses(t, p)
						}
					}
					if !time.Now().Before(until) {
						t.Errorf("%v: nothing comes by %s", functions, f.Name)
					}
				}
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// TestNothingComesPast a function that drops all while it becomes a namespace and is inline again,
// alone on its hop and beside others, a thousand packets a second.
func TestNothingComesPast(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	wall := func(runtime string) string {
		return "{name: wall, kind: drop, direction: forward, runtime: " + runtime + ", drop: {every: 1}}"
	}
	chain := func(functions ...string) *plan.Plan {
		p := planned(t, owner, forwarders["tcx"]+spec(functions...))
		up(t, p)
		return p
	}
	p := chain(wall("inline"))
	s := streams(t, p, addresses(p, p.Client().Name, p.Server().Name))
	for _, functions := range [][]string{
		{wall("netns")}, {wall("inline")}, {inline("one"), wall("inline")}, {inline("one"), wall("netns")},
		{inline("one"), wall("inline"), inline("two")}, {inline("one"), wall("netns"), inline("two")}, {wall("inline")},
	} {
		s.more(t, 50)
		chain(functions...)
	}
	s.more(t, 50)
	close(s.stop)
	<-s.ended
	for i, in := range s.came {
		_ = in.SetReadDeadline(time.Now())
		<-s.read[i]
		if len(s.count[i]) > 0 {
			t.Errorf("to %s: %d packets came past", in.LocalAddr(), len(s.count[i]))
		}
		_, _ = in.Close(), s.sent[i].Close()
	}
}

// TestInlineHeals: what goes with an interface that somebody takes away is made again.
func TestInlineHeals(t *testing.T) {
	needsForwarder(t)
	p := planned(t, nstest.Owner(t), forwarders["tcx"]+spec(forward("a"), inline("count")))
	downAfter(t, p.Chain)
	up(t, p)
	heals(t, p, "ip -n "+p.Functions()[0].Namespace+" link del eth1", []string{"link", "address", "neighbour", "route", "steer", "pass"})
}

// TestInlineDropsItsShare of what comes, exactly, and nothing of what goes back.
func TestInlineDropsItsShare(t *testing.T) {
	needsForwarder(t)
	p := planned(t, nstest.Owner(t), forwarders["tcx"]+spec("{name: lose, kind: drop, direction: forward, runtime: inline, drop: {every: 4}}", inline("rest")))
	downAfter(t, p.Chain)
	up(t, p)
	l := hear(t, p)
	const n = 40
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		rest, lost := taken(t, p, p.Inline[1].Forward).Packets, taken(t, p, p.Inline[0].Forward).Packets
		if rest+lost >= n && lost == (rest+lost)/4 {
			return
		}
		if rest+lost < n { // another test that floods this machine may make it drop one
			l.send(t, p)
		}
	}
	t.Errorf("dropped %+v, and %+v went on", taken(t, p, p.Inline[0].Forward), taken(t, p, p.Inline[1].Forward))
}

// TestInlineMark is what rules of the namespace behind it tell packets by.
func TestInlineMark(t *testing.T) {
	needsForwarder(t)
	p := planned(t, nstest.Owner(t), forwarders["tcx"]+spec("{name: mark, kind: mark, direction: forward, runtime: inline, mark: {value: 5, mask: 7}}", forward("a")))
	downAfter(t, p.Chain)
	up(t, p)
	ns := p.Functions()[0].Namespace
	sh(t, "ip netns exec "+ns+" nft 'add table inet t; add chain inet t c { type filter hook forward priority 0; }; add rule inet t c meta mark 5 counter drop'")
	l := hear(t, p)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		l.send(t, p) // again, where another test floods this machine
		if text := sh(t, "ip netns exec "+ns+" nft list chain inet t c"); !strings.Contains(text, "packets 0 ") {
			return
		}
	}
	t.Error("the packet bears no mark")
}
