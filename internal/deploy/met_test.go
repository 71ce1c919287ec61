package deploy_test

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
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
	t.Parallel()
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

// apart are edits that change inline functions on hops where functions with namespaces come, go or change places, or that have one become the
// other. Those that stay meet what they met.
var apart = map[string]edit{
	"put in beside a new one":     {spec(forward("a"), forward("b")), spec(forward("a"), forward("x"), inline("one"), forward("b")), "ab", "axb"},
	"behind a new one":            {spec(forward("a"), inline("one"), forward("b")), spec(forward("a"), forward("x"), inline("one"), forward("b")), "ab", "axb"},
	"before a new one":            {spec(forward("a"), inline("one"), forward("b")), spec(forward("a"), inline("one"), forward("x"), forward("b")), "ab", "axb"},
	"left beside one that leaves": {spec(forward("a"), inline("one"), forward("x"), forward("b")), spec(forward("a"), inline("one"), forward("b")), "axb", "ab"},
	"left behind one that leaves": {spec(forward("a"), forward("x"), inline("one"), forward("b")), spec(forward("a"), inline("one"), forward("b")), "axb", "ab"},
	"beside another in its place": {spec(forward("a"), inline("two"), forward("b"), inline("one"), forward("c")), spec(forward("a"), inline("two"), forward("x"), inline("one"), forward("c")), "ab", "ax"},
	"between new ones now":        {spec(inline("one"), forward("a"), forward("b")), spec(forward("a"), forward("x"), inline("one"), forward("c"), forward("b")), "ab", "axb"},
	"apart from the other now":    {spec(forward("a"), inline("one"), inline("two"), forward("b")), spec(forward("a"), inline("one"), forward("x"), inline("two"), forward("b")), "ab", "axb"},
	"beside the other now":        {spec(forward("a"), inline("one"), forward("x"), inline("two"), forward("b")), spec(forward("a"), inline("two"), inline("one"), forward("b")), "axb", "ab"},
	"inline now":                  {spec(forward("a"), forward("one"), forward("b")), spec(forward("a"), forward("b"), inline("one")), "ab", "ab"},
	"in a namespace now":          {spec(inline("one"), forward("a"), forward("b")), spec(forward("a"), forward("one"), forward("b")), "ab", "ab"},
	"before replicas":             {spec(forward("a"), inline("one"), replicas("b", 2)), spec(forward("a"), forward("x"), inline("one"), replicas("b", 2)), "ab", "axb"},
	"behind replicas that leave":  {spec(replicas("a", 2), inline("one"), forward("b"), forward("x")), spec(inline("one"), forward("b"), forward("x")), "abx", "bx"},
	"between replicas that swap now": {
		spec(replicas("a", 2), inline("one"), replicas("b", 3)), spec(replicas("b", 3), inline("one"), replicas("a", 2)), "ab", "ba"},
	"before ways that part now": {
		spec(inline("one"), "{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: x}]}", "{name: a, kind: forward, next: out}", forward("x"), inline("one"), forward("b"), forward("out")), "b", "xb"},
	"put in where ways came together": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: out}", forward("b"), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: x}", forward("b"), forward("x"), inline("one"), forward("out")), "b", "bx"},
	"put in where ways came together from replicas": {
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, replicas: 2, next: out}", replicas("b", 2), forward("out")),
		spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, replicas: 2, next: x}", replicas("b", 2), replicas("x", 2), inline("one"), forward("out")), "b", "bx"},
	"where ways part now": {
		spec(forward("tell"), inline("one"), forward("a"), forward("b")),
		spec(inline("one"), "{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", forward("a"), forward("b")), "ab", "b"},
	"before one that moves": {spec(forward("a"), inline("one"), forward("b"), forward("x")), spec(forward("a"), forward("x"), inline("one"), forward("b")), "abx", "axb"},
	"beside all":            {spec(inline("one"), forward("a"), inline("two"), forward("b")), spec(inline("two"), forward("b"), inline("one"), forward("a")), "ab", "ba"},
}

// TestFlowsStayWhereInlineChange: flows that stay meet each inline function that they met, once each way, and no other, while new ones meet those
// that there are.
func TestFlowsStayWhereInlineChange(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for hook, wiring := range map[string]string{"tcx": "wiring: ebpf\nebpf: {idle: 20s, census: 2s, hook: tcx}\n", "clsact": "wiring: ebpf\nebpf: {idle: 20s, census: 2s, hook: clsact}\n"} {
		for name, c := range apart {
			if hook == "clsact" && name != "behind a new one" && name != "left beside one that leaves" && name != "between replicas that swap now" && name != "put in where ways came together from replicas" {
				continue
			}
			t.Run(hook+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, old, fresh, dropped := c.keeps(t, wiring)
				for _, f := range p.Inline {
					there, back := counts(old), counts(fresh)
					most := [2]uint64{there[0] + back[0], there[1] + back[1]}
					least := most
					if strings.Contains(name, "now") || strings.HasPrefix(name, "put in") || name == "beside all" { // where those that stay meet it, it counts by itself
						least = back
					}
					for way, at := range []*plan.Taken{f.Forward, f.Reverse} {
						if n := taken(t, p, at).Packets; n+nstest.Dropped(t)-dropped < least[way] || n > most[way]+300 {
							t.Errorf("%s counted %d packets of way %d, and there were %d to %d", f.Name, n, way, least[way], most[way])
						}
					}
				}
			})
		}
	}
}

// lettered is an inline function that writes into what comes by as the function of the letter b would into what came by none: what was there
// before is no more.
const lettered = "{name: one, kind: dscp, runtime: inline, dscp: {code: 2}}"

// TestInlineInOrder: flows that stay meet an inline function between those functions between which they met it, and new ones where it is now. So they
// do when an up before had begun and came to no end, and when the chain is to be as it was.
func TestInlineInOrder(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	for name, c := range map[string]edit{
		"before one that comes":      {spec(forward("a"), lettered, forward("c")), spec(forward("a"), lettered, forward("x"), forward("c")), "b|ba", "bx|ba"},
		"behind one that comes":      {spec(forward("a"), lettered, forward("c")), spec(forward("a"), forward("x"), lettered, forward("c")), "b|ba", "b|bxa"},
		"before one that goes":       {spec(forward("a"), lettered, forward("x"), forward("c")), spec(forward("a"), lettered, forward("c")), "bx|ba", "b|ba"},
		"behind one that goes":       {spec(forward("a"), forward("x"), lettered, forward("c")), spec(forward("a"), lettered, forward("c")), "b|bxa", "b|ba"},
		"between two that swap":      {spec(forward("a"), lettered, forward("x")), spec(forward("x"), lettered, forward("a")), "bx|ba", "ba|bx"},
		"put in":                     {spec(forward("a"), forward("x")), spec(forward("x"), lettered, forward("a")), "ax", "ba|bx"},
		"taken out":                  {spec(forward("x"), lettered, forward("a")), spec(forward("a"), forward("x")), "ba|bx", "ax"},
		"between replicas that swap": {spec(replicas("a", 2), lettered, replicas("x", 2)), spec(replicas("x", 2), lettered, replicas("a", 2)), "bx|ba", "ba|bx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.keeps(t, slowly)
		})
		t.Run("begun before/"+name, func(t *testing.T) {
			t.Parallel()
			c.begun(t)
		})
	}
}

// slowly is a forwarder on which flows are not over while packets are on tour.
const slowly = "wiring: ebpf\nebpf: {idle: 20s, census: 2s}\n"

// begun edits come to no end, and are made then, or not at all: flows stay as they were.
func (c edit) begun(t *testing.T) {
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, slowly+c.before)
	up(t, first)
	second := planned(t, owner, slowly+c.after)
	crosses(t, first)
	welcome(t, first, nil)
	dropped := nstest.Dropped(t)
	all := tours(t, first, 7015)
	failed := errors.New("a function does not start")
	fails := &deploy.Deployer{Made: func() error { return failed }}
	for _, p := range []*plan.Plan{second, first, second} {
		if _, err := fails.Up(t.Context(), second); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		for _, o := range all {
			o.more(t, 100)
		}
		d := &deploy.Deployer{}
		if _, err := d.Up(t.Context(), p); err != nil || d.AtOnce != "" {
			t.Fatal(d.AtOnce, err)
		}
	}
	for _, o := range all {
		o.more(t, 100)
	}
	ended(t, all, dropped, c.old)
	moves(t, second)
}

// TestInlineInOrderOfEach: where one edit comes after another, flows of each version meet an inline function where they met it first, and go by the
// functions that they went by, also where a port has long led elsewhere when what is there changes.
func TestInlineInOrderOfEach(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	const tell, joins = "{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", "{name: a, kind: forward, next: "
	for name, edits := range map[string][]struct{ functions, path string }{
		"of functions": {
			{spec(forward("a"), lettered, forward("c")), "b|ba"}, {spec(forward("a"), lettered, forward("x"), forward("c")), "bx|ba"},
			{spec(forward("a"), forward("x"), lettered, forward("c")), "b|bxa"}, {spec(forward("a"), forward("x"), forward("c")), "ax"}},
		"of replicas": {
			{spec(inline("one"), replicas("a", 2), forward("b")), "ab"}, {spec(inline("one"), forward("b")), "b"},
			{spec(inline("one"), inline("two"), forward("b")), "b"}, {spec(inline("one"), inline("two"), replicas("a", 3), forward("b")), "ab"},
			{spec(inline("two"), replicas("a", 3), forward("x"), forward("b")), "axb"}},
		"of ways": {
			{spec(tell, joins+"out}", forward("b"), forward("out")), "b"}, {spec(tell, joins+"x}", forward("b"), forward("x"), forward("out")), "bx"},
			{spec(tell, joins+"x}", forward("b"), forward("x"), inline("one"), forward("out")), "bx"},
			{spec(tell, joins+"out}", forward("b"), forward("out")), "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			var before *plan.Plan
			var all [][]*tour
			var p *plan.Plan
			dropped := nstest.Dropped(t)
			for i, e := range edits {
				p = planned(t, owner, slowly+e.functions)
				d := &deploy.Deployer{}
				if _, err := d.Up(t.Context(), p); err != nil || d.AtOnce != "" {
					t.Fatal(d.AtOnce, err)
				}
				crosses(t, p)
				welcome(t, p, before)
				before = p
				all = append(all, tours(t, p, uint16(7015+i)))
			}
			for i, e := range edits {
				for _, o := range all[i] {
					o.more(t, 200)
				}
				ended(t, all[i], dropped, e.path)
			}
			for of, f := range dealtOut(t, p) {
				if f.Moved > 0 {
					t.Errorf("of the flows with replicas of %s %d have moved", of, f.Moved)
				}
			}
			moves(t, p)
		})
	}
}

// TestFlowsMoveWhereInlineChange at once where flows that stay cannot be led past that, also where an up before had put inline functions in and
// came to no end.
func TestFlowsMoveWhereInlineChange(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	const limit = "{name: one, kind: ratelimit, runtime: inline, ratelimit: {rate: 1Gbit}}"
	for name, c := range map[string]edit{
		"a limit apart from another": {before: spec(forward("a"), inline("two"), limit, forward("b")), after: spec(forward("a"), inline("two"), forward("x"), limit, forward("b"))},
		"as rules go": {
			before: spec(forward("a"), inline("one"), forward("b")) + classifier("chain", pathRule("datagrams", "protocol: udp", "a", "one", "b")),
			after:  spec(forward("a"), forward("x"), inline("one"), forward("b"))},
		"where a mark goes": {
			before: spec("{name: tell, kind: forward, branches: [{mark: 9, to: b}]}", forward("a"), forward("b"), inline("one"), forward("c")),
			after:  spec(forward("tell"), forward("b"), inline("one"), forward("x"), forward("c"))},
		"other rules": {before: spec(forward("a"), walled("both", dropping(1)), forward("b")), after: spec(forward("a"), forward("x"), walled("both", dropping(2)), forward("b"))},
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

// TestFunctionsAreMetAmidEdits: where an edit that moves an inline function came to no end, and flows are moved meanwhile, as who watches does where
// a function fails, none comes past it.
func TestFunctionsAreMetAmidEdits(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	const drops = "{name: one, kind: firewall, runtime: inline, firewall: {rules: {list: [{protocol: udp, destination_port: 7016, action: drop}]}}}"
	for name, c := range apart {
		if !strings.Contains(c.before, inline("one")) || !strings.Contains(c.after, inline("one")) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := nstest.Owner(t)
			downAfter(t, owner)
			with := func(functions string) *plan.Plan {
				return planned(t, owner, slowly+strings.ReplaceAll(functions, inline("one"), drops))
			}
			first := with(c.before)
			up(t, first)
			second := with(c.after)
			crosses(t, first)
			dropped := nstest.Dropped(t)
			all := tours(t, first, 7015)
			slipped := slipping(t, first, 7016)
			failed := errors.New("a function does not start")
			d := &deploy.Deployer{Made: func() error { return failed }}
			if _, err := d.Up(t.Context(), second); !errors.Is(err, failed) {
				t.Fatal(err)
			}
			inside(t, first.Between(), func() error {
				h, err := netns.Open(first.Between())
				if err == nil {
					defer h.Close()
					_, err = steer.ForgetOlder(resource.At(h, owner))
				}
				return err
			})
			for _, o := range all {
				o.more(t, 300)
			}
			d = &deploy.Deployer{}
			if _, err := d.Up(t.Context(), second); err != nil || d.AtOnce != "" || d.Staying == 0 {
				t.Error(d.Staying, d.AtOnce, err)
			}
			for _, o := range all {
				o.more(t, 100)
			}
			if n := slipped(); n > 0 {
				t.Errorf("%d packets came past the function", n)
			}
			end(t, all, dropped)
		})
	}
}

// slipping counts what comes to a port at either end that the other one sends to, which is sent until that is asked.
func slipping(t *testing.T, p *plan.Plan, port uint16) (came func() int) {
	t.Helper()
	ends := []plan.Node{p.Client(), p.Server()}
	to := []netip.Addr{addresses(p, ends[1].Name, ends[0].Name)[0], addresses(p, ends[0].Name, ends[1].Name)[0]}
	stop, many := make(chan struct{}), atomic.Int64{}
	var sends, takes sync.WaitGroup
	var all []*net.UDPConn
	for i, n := range ends {
		all = append(all, listens(t, n, netip.AddrPortFrom(to[i], port)))
	}
	for i, c := range all {
		takes.Add(1)
		sends.Add(1)
		go func() {
			defer takes.Done()
			for b := make([]byte, 16); ; many.Add(1) {
				if _, err := c.Read(b); err != nil {
					return
				}
			}
		}()
		go func() {
			defer sends.Done()
			for other := netip.AddrPortFrom(to[1-i], port); ; {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
					_, _ = c.WriteToUDPAddrPort([]byte("none"), other)
				}
			}
		}()
	}
	return func() int {
		close(stop)
		sends.Wait()
		time.Sleep(100 * time.Millisecond) // for what is under way
		for _, c := range all {
			_ = c.SetReadDeadline(time.Now())
		}
		takes.Wait()
		return int(many.Load())
	}
}

// TestInlineComesBack: an inline function that is put in again while flows meet it which stay from before counts on in one with that.
func TestInlineComesBack(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	first := planned(t, owner, slowly+spec(forward("a"), inline("one"), forward("c")))
	up(t, first)
	second := planned(t, owner, slowly+spec(forward("a"), forward("x"), forward("c")))
	crosses(t, first)
	dropped := nstest.Dropped(t)
	all := tours(t, first, 7015)
	for _, p := range []*plan.Plan{second, first} {
		d := &deploy.Deployer{}
		if _, err := d.Up(t.Context(), p); err != nil || d.AtOnce != "" || d.Staying == 0 {
			t.Fatal(d.Staying, d.AtOnce, err)
		}
		for _, o := range all {
			o.more(t, 200)
		}
	}
	unchanged(t, first)
	end(t, all, dropped)
	sent, f := counts(all), first.Inline[0]
	for way, at := range []*plan.Taken{f.Forward, f.Reverse} {
		if n := taken(t, first, at).Packets; n < sent[way] || n > sent[way]+300 {
			t.Errorf("it counted %d packets of way %d, of which there were %d", n, way, sent[way])
		}
	}
	moves(t, first)
}

// TestPairsGoWhileFlowsStay: where one edit comes after another while flows stay on the first path, pairs go into which none are led any more.
func TestPairsGoWhileFlowsStay(t *testing.T) {
	t.Parallel()
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const briefly = "wiring: ebpf\nebpf: {idle: 2s, census: 100ms}\n"
	first := planned(t, owner, briefly+spec(forward("a"), inline("one"), forward("c")))
	up(t, first)
	crosses(t, first)
	dropped := nstest.Dropped(t)
	all := tours(t, first, 7015)
	pairs := func() int {
		return strings.Count(sh(t, "ip -n "+first.Between()+" -br link"), steer.Bygone) / 2
	}
	second := planned(t, owner, briefly+spec(forward("a"), forward("x"), inline("one"), forward("c")))
	up(t, second)
	once := pairs()
	for range 5 {
		for _, p := range []*plan.Plan{first, second} {
			d := &deploy.Deployer{}
			if _, err := d.Up(t.Context(), p); err != nil || d.AtOnce != "" || d.Staying == 0 {
				t.Fatal(d.Staying, d.AtOnce, err)
			}
			for _, o := range all {
				o.more(t, 700) // so that what the kernel sends of its own is idle some edits later
			}
		}
	}
	if n := pairs(); n < once || n > 4*once {
		t.Errorf("there are %d pairs, and one edit made %d", n, once)
	}
	for i, functions := range end(t, all, dropped) {
		if functions != "" {
			t.Errorf("%s: packets came by %q", all[i].name, functions)
		}
	}
	moves(t, second)
}

// TestInlineChangesWhereMetAside: rules that change of a function which flows meet aside that stay hold for all at once.
func TestInlineChangesWhereMetAside(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	rules := func(port int) string {
		return fmt.Sprintf("{name: one, kind: firewall, runtime: inline, firewall: {rules: {list: [{protocol: udp, destination_port: %d, action: drop}]}}}", port)
	}
	first := planned(t, owner, slowly+spec(forward("a"), rules(7018), forward("c")))
	up(t, first)
	crosses(t, first)
	all := tours(t, first, 7015)
	second := planned(t, owner, slowly+spec(forward("a"), forward("x"), rules(7018), forward("c")))
	d := &deploy.Deployer{}
	if _, err := d.Up(t.Context(), second); err != nil || d.AtOnce != "" || d.Staying == 0 {
		t.Fatal(d.Staying, d.AtOnce, err)
	}
	third := planned(t, owner, slowly+spec(forward("a"), forward("x"), rules(7015), forward("c")))
	foretold := &deploy.Deployer{DryRun: true}
	if _, err := foretold.Up(t.Context(), third); err != nil || foretold.AtOnce == "" {
		t.Error(foretold.AtOnce, err)
	}
	if _, err := d.Up(t.Context(), third); err != nil || d.AtOnce == "" || d.Staying > 0 {
		t.Fatal(d.Staying, d.AtOnce, err)
	}
	count := func() (came int) {
		for _, o := range all {
			o.mu.Lock()
			came += len(o.came)
			o.mu.Unlock()
		}
		return came
	}
	time.Sleep(100 * time.Millisecond) // for what is under way
	was := count()
	time.Sleep(200 * time.Millisecond)
	if is := count(); is != was {
		t.Errorf("%d packets of flows that stayed come past rules that drop them", is-was)
	}
	for _, o := range all {
		close(o.stop)
	}
}
