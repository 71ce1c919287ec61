package supervise_test

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// fails waits until packets to these nodes, and to no others, end at a port where ways part or come together, or are led past them.
func (p *path) fails(port string, how steer.Fails, nodes ...string) {
	p.Helper()
	var want, got []uint32
	for _, n := range nodes {
		want = append(want, p.watched(n).Label)
	}
	slices.Sort(want)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		got = nil
		p.port(port, func(open *steer.Port) error {
			to, err := open.Instead()
			all, wrong := open.Nodes()
			for number, n := range all {
				if n.Fails == how && to != 0 {
					got = append(got, number)
				}
			}
			return errors.Join(err, wrong)
		})
		slices.Sort(got)
		if slices.Equal(got, want) {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("at %s packets to %v fare so (%d), want %v", port, got, how, want)
		}
	}
}

// TestBlockedWhereWaysPart: packets that go to a function which fails end before it, there and back, and those that go another
// way lose none. Who watches next knows it, and when the function is well again they come to it.
func TestBlockedWhereWaysPart(t *testing.T) {
	t.Parallel()
	chain := spec("{name: tell, kind: forward, branches: [{mark: 1, to: two}]}", "{name: one, kind: forward, onFailure: block, next: last}", "{name: two, kind: forward, onFailure: block}", last)
	p := newPath(t, chain)
	p.sh("tell", "nft add table inet tell; nft 'add chain inet tell c { type filter hook forward priority mangle; }'; nft add rule inet tell c meta nfproto ipv6 meta mark set 1")
	p.well("one", "two")
	p.crosses()
	s := newStreamOf(t, p, 20) // by the planned way
	s.more(t, 100)
	from, dropped := s.next.Load(), nstest.Dropped(t)
	onward, back := p.watched("tell").East, p.watched("last").West
	p.sh("two", nstest.Drops)
	p.until("two", "failed", hasFailed)
	p.fails(onward, steer.Ends, "two")
	p.fails(back, steer.Ends, "two")
	s.more(t, 100)
	killSupervisorOf(t, p.owner)
	p.fails(onward, steer.Ends, "two")
	p.up(chain)
	p.until("two", "failed", hasFailed)
	p.fails(onward, steer.Ends, "two")
	s.more(t, 100)
	p.sh("two", nstest.Mends)
	p.well("two")
	p.fails(onward, steer.Ends)
	p.fails(back, steer.Ends)
	s.more(t, 100)
	s.whole(t, from+1, s.next.Load(), dropped)
	p.crosses()
	p.sh("one", nstest.Drops)
	p.until("one", "failed", hasFailed)
	p.fails(onward, steer.Ends, "one")
	p.up(strings.ReplaceAll(chain, ", onFailure: block", ""))
	p.fails(onward, steer.Ends) // nobody watches any more
	p.sh("one", nstest.Mends)
	p.crosses()
}

// TestReplicasFailWhereWaysPart: flows of a replica that fails go to others on the way that leads to them, without losing a packet
// more, and come back from these; packets end before the function when all have failed, if that is said, and those that go
// other ways go on. Who watches next knows it all.
func TestReplicasFailWhereWaysPart(t *testing.T) {
	for policy, ended := range map[string][]string{process.Block: {"two-1"}, process.Replica: nil} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			chain := spec("{name: tell, kind: forward, next: last, branches: [{mark: 1, to: two}]}", "{name: two, kind: forward, replicas: 3, onFailure: "+policy+"}", "{name: last, kind: forward, replicas: 2}")
			p := newPath(t, chain)
			p.sh("tell", "nft add table inet tell; nft 'add chain inet tell c { type filter hook forward priority mangle; }'; nft add rule inet tell c meta nfproto ipv4 meta mark set 1")
			p.well("two-1", "two-2", "two-3")
			p.crosses()
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			onward, backs := p.watched("tell").East, []string{p.watched("last-1").West, p.watched("last-2").West}
			p.sh("two-2", nstest.Drops)
			p.until("two-2", "failed", hasFailed)
			kept := func(numbers ...int) {
				t.Helper()
				for _, port := range append(backs, onward) {
					p.keepsAt(port, "two", numbers...)
				}
			}
			kept(2)
			p.fails(onward, steer.Ends)
			from, dropped := s.next.Load(), nstest.Dropped(t)
			s.more(t, 200)
			killSupervisorOf(t, p.owner)
			kept(2)
			p.crosses()
			p.up(strings.Replace(chain, "branches: [", "branches: [{mark: 5, to: server}, ", 1)) // by other programs
			p.until("two-2", "failed", hasFailed)
			onward, backs = p.watched("tell").East, []string{p.watched("last-1").West, p.watched("last-2").West}
			kept(2)
			p.crosses()
			p.sh("two-2", nstest.Mends)
			p.well("two-2")
			kept()
			s.more(t, 200)
			s.whole(t, from+1, s.next.Load(), dropped)
			for _, n := range []string{"two-1", "two-2", "two-3"} {
				p.sh(n, nstest.Drops)
				p.until(n, "failed", hasFailed)
			}
			for _, port := range append(backs, onward) {
				p.fails(port, steer.Ends, ended...)
			}
			kept()
			p.sh("two-3", nstest.Mends)
			p.well("two-3")
			kept(1, 2)
			p.fails(onward, steer.Ends)
			p.crosses()
		})
	}
}

// twoWays part behind tell and come together at join, from which two part that come together at the last function. Half of
// the flows have each mark.
const twoWays = `functions:
- {name: tell, kind: forward, branches: [{mark: 1, mask: 1, to: two}]}
- {name: one, kind: forward, onFailure: bypass, next: join}
- {name: two, kind: forward, onFailure: bypass}
- {name: join, kind: forward, onFailure: bypass, branches: [{mark: 1, mask: 1, to: wall}], next: last}
- {name: wall, kind: forward, onFailure: block}
- {name: last, kind: forward, onFailure: bypass}
`

// marked has functions mark packets of some flows.
func (p *path) marked(node string, bit int) {
	p.Helper()
	p.sh(node, fmt.Sprintf("nft add table inet tell; nft 'add chain inet tell c { type filter hook forward priority mangle; }'; nft add rule inet tell c udp sport and %d == %d meta mark set 1", bit, bit))
}

// countsAt functions what of a stream comes there, and back.
func (p *path) countsAt(nodes ...string) {
	p.Helper()
	for _, n := range nodes {
		p.sh(n, "nft add table inet seen; nft 'add chain inet seen c { type filter hook prerouting priority -300; }'; nft add counter inet seen there; nft add counter inet seen back; "+
			"nft add rule inet seen c udp dport 7013 counter name there; nft add rule inet seen c udp sport 7013 counter name back")
	}
}

// came is how many packets of a stream came to a function, and back.
func (p *path) came(node string) (there, back uint64) {
	p.Helper()
	for name, n := range map[string]*uint64{"there": &there, "back": &back} {
		out, err := exec.Command("ip", "netns", "exec", p.node(node).Namespace, "nft", "list", "counter", "inet", "seen", name).CombinedOutput()
		if err != nil {
			p.Fatalf("%v\n%s", err, out)
		}
		_, text, _ := strings.Cut(string(out), "packets ")
		if _, err := fmt.Sscan(text, n); err != nil {
			p.Fatalf("%v in %s", err, out)
		}
	}
	return there, back
}

// visits tells which of these functions packets of a stream come to, and answers to them, from now on: "one two<", where answers
// alone come to the second.
func (p *path) visits(s *stream, nodes ...string) string {
	p.Helper()
	const some = 10
	type count struct{ there, back uint64 }
	s.back.more(p, 100) // what was on its way
	before := map[string]count{}
	for _, n := range nodes {
		there, back := p.came(n)
		before[n] = count{there, back}
	}
	s.back.more(p, 400)
	var all []string
	for _, n := range nodes {
		there, back := p.came(n)
		name := n
		if there-before[n].there < some {
			name += "<"
		}
		if back-before[n].back < some {
			name += ">"
		}
		if name != n+"<>" {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

// visit waits until packets of a stream come to just these functions: a busy machine may have one fail for a moment.
func (p *path) visit(s *stream, what, want string, nodes ...string) {
	p.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		got := p.visits(s, nodes...)
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s, packets come to %q; want %q", what, got, want)
		}
	}
}

// keptWhole begins to look at a stream that is answered, and tells whether all of it since then has come, and been answered.
func (s *stream) keptWhole(t *testing.T) (begin, whole func()) {
	var from, dropped uint64
	begin = func() {
		t.Helper()
		s.back.more(t, 50)
		from, dropped = s.next.Load(), nstest.Dropped(t)
	}
	whole = func() {
		t.Helper()
		s.back.more(t, 100)
		to := s.next.Load()
		s.whole(t, from+1, to, dropped)
		s.back.whole(t, from+1, to, dropped)
	}
	return begin, whole
}

// TestLedPastWhereWaysPart: packets that would go to a function which fails go to its planned next, through others that fail, and
// answers by the way of their flow; when it is well again all go by it. Nobody loses any meanwhile, whoever else fails.
func TestLedPastWhereWaysPart(t *testing.T) {
	t.Parallel()
	p := newPath(t, twoWays)
	all := []string{"tell", "one", "two", "join", "wall", "last"}
	p.marked("tell", 1)
	p.marked("join", 2)
	p.countsAt(all...)
	p.well(all[1:]...)
	p.crosses()
	s := answered(t, p, 64)
	s.back.more(t, 500)
	visits := func(what, want string) {
		t.Helper()
		p.visit(s, what, want, all...)
	}
	visits("at first", "tell one two join wall last")
	begin, whole := s.keptWhole(t)
	fails := func(node string) {
		t.Helper()
		p.sh(node, nstest.Drops)
		p.until(node, "failed", hasFailed)
		begin()
	}
	heals := func(node string) {
		t.Helper()
		p.sh(node, nstest.Mends)
		p.well(node)
		whole()
	}
	fails("two")
	p.fails(p.watched("tell").East, steer.Past, "two")
	visits("while two fails", "tell one join wall last")
	fails("join") // its neighbour
	visits("while two and join fail", "tell one last")
	whole()
	heals("two")
	visits("while join fails", "tell one two last")
	killSupervisorOf(t, p.owner)
	p.fails(p.watched("one").East, steer.Past, "join")
	p.up(twoWays)
	p.until("join", "failed", hasFailed)
	whole()
	begin()
	heals("join")
	visits("when all are well", "tell one two join wall last")
	fails("last") // before the second end
	visits("while the last one fails", "tell one two join wall")
	fails("wall") // half of all packets end before it
	p.fails(p.watched("join").East, steer.Ends, "wall")
	p.sh("wall", nstest.Mends)
	p.well("wall")
	begin()
	heals("last")
	visits("when all are well again", "tell one two join wall last")
	begin()
	fails("one")
	fails("last")
	other := strings.Replace(twoWays, "to: two}]", "to: join}]", 1) + "- {name: new, kind: forward, onFailure: bypass}\n"
	other = strings.Replace(other, "{name: one, kind: forward, onFailure: bypass, next: join}", "{name: one, kind: forward, onFailure: bypass}", 1)
	p.up(other)
	all = append(all, "new")
	p.countsAt("new")
	visits("by other branches, while one and the last fail", "tell two join wall new")
	whole()
	heals("one")
	heals("last")
	visits("by other branches", "tell one two join wall last new")
}
