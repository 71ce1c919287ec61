package supervise_test

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// sharedWays are twoWays of which most functions have replicas.
const sharedWays = `functions:
- {name: tell, kind: forward, branches: [{mark: 1, mask: 1, to: two}]}
- {name: one, kind: forward, replicas: 2, onFailure: bypass, next: join}
- {name: two, kind: forward, onFailure: bypass}
- {name: join, kind: forward, replicas: 2, onFailure: bypass, branches: [{mark: 1, mask: 1, to: wall}], next: last}
- {name: wall, kind: forward, onFailure: block}
- {name: last, kind: forward, replicas: 3, onFailure: bypass}
`

// notes has functions note which flows of a stream come there, and back.
func (p *path) notes(nodes ...string) {
	p.Helper()
	for _, n := range nodes {
		p.sh(n, "nft add table inet flows; nft 'add chain inet flows c { type filter hook prerouting priority -300; }'; "+
			"for s in there back; do nft \"add set inet flows $s { type inet_service; flags dynamic; size 4096; }\"; done; "+
			"nft 'add rule inet flows c udp dport 7013 add @there { udp sport }'; nft 'add rule inet flows c udp sport 7013 add @back { udp dport }'")
	}
}

// noted are the flows of a stream that came to a function there, or back, as it has noted.
func (p *path) noted(node, way string) string {
	p.Helper()
	out, err := exec.Command("ip", "netns", "exec", p.node(node).Namespace, "nft", "list", "set", "inet", "flows", way).CombinedOutput()
	if err != nil {
		p.Fatalf("%v\n%s", err, out)
	}
	_, text, _ := strings.Cut(string(out), "elements = {")
	text, _, _ = strings.Cut(text, "}")
	all := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \t\n", r) })
	slices.Sort(all)
	return strings.Join(all, " ")
}

// flowsBy functions are those of a stream that come there from now on, each of which comes back by them.
func (p *path) flowsBy(s *stream, nodes []string) (flows map[string]string, same bool) {
	p.Helper()
	s.back.more(p, 100) // what was on its way
	for _, n := range nodes {
		p.sh(n, "nft flush set inet flows there; nft flush set inet flows back")
	}
	s.back.more(p, 5*len(s.out))
	flows, same = map[string]string{}, true
	for _, n := range nodes {
		there, back := p.noted(n, "there"), p.noted(n, "back")
		if same = same && there == back; there != "" || back != "" {
			flows[n] = there
		}
		if there != back {
			flows[n] += ", and back " + back
		}
	}
	return flows, same
}

// by waits until the flows of a stream come by just these of some functions, there and back, and tells which by which.
func (p *path) by(s *stream, what string, nodes []string, want string) map[string]string {
	p.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		flows, same := p.flowsBy(s, nodes)
		if same && strings.Join(slices.Sorted(maps.Keys(flows)), " ") == want {
			return flows
		}
		if time.Now().After(deadline) {
			p.Fatalf("%s, flows come by %v, want %s", what, flows, want)
		}
	}
}

// TestLedPastReplicasWhereWaysPart: packets that would go to a function of which all fail go on to the replica of the next one that has
// their flow, and its answers come back by that, whoever is led past and whoever is well again; and none is lost meanwhile, nor while
// branches become others.
func TestLedPastReplicasWhereWaysPart(t *testing.T) {
	t.Parallel()
	p := newPath(t, sharedWays)
	joins, lasts, ones := []string{"join-1", "join-2"}, []string{"last-1", "last-2", "last-3"}, []string{"one-1", "one-2"}
	all := slices.Concat([]string{"tell", "two", "wall"}, ones, joins, lasts)
	p.marked("tell", 1)
	for _, n := range joins {
		p.marked(n, 2)
	}
	p.notes(all...)
	p.well(all[1:]...)
	p.crosses()
	s := answered(t, p, 64)
	s.back.more(t, 500)
	begin, whole := s.keptWhole(t)
	fail := func(nodes ...string) {
		t.Helper()
		for _, n := range nodes {
			p.sh(n, nstest.Drops)
			p.until(n, "failed", hasFailed)
		}
		begin()
	}
	heal := func(nodes ...string) {
		t.Helper()
		for _, n := range nodes {
			p.sh(n, nstest.Mends)
			p.well(n)
		}
	}
	const everyLast = " last-1 last-2 last-3"
	first := p.by(s, "at first", all, "join-1 join-2"+everyLast+" one-1 one-2 tell two wall")
	stay := func(what, want string, among ...string) {
		t.Helper()
		now := p.by(s, what, all, want)
		for _, n := range among {
			if now[n] != first[n] {
				t.Errorf("%s, at %s are flows %s, and were %s", what, n, now[n], first[n])
			}
		}
	}
	fail("two") // past it are replicas, to which one's lead as well
	p.fails(p.watched("tell").East, steer.Past, "two")
	fail(ones...)
	stay("while two and one fail", "join-1 join-2"+everyLast+" tell wall", slices.Concat(joins, lasts)...)
	whole()
	fail(joins...) // and what is behind those
	p.fails(p.watched("tell").East, steer.Past, "one-1", "two", "join-1")
	stay("while join fails, too", everyLast[1:]+" tell", lasts...)
	killSupervisorOf(t, p.owner)
	other := strings.Replace(sharedWays, "branches: [{mark: 1, mask: 1, to: two}]", "branches: [{mark: 1, mask: 1, to: two}, {mark: 6, mask: 6, to: wall}]", 1) // by another program
	p.up(other)
	p.until("join-2", "failed", hasFailed)
	stay("by other branches", everyLast[1:]+" tell", lasts...)
	heal("two", "join-2")
	stay("when two and one of join's are well", "join-2"+everyLast+" tell two wall", lasts...)
	heal(ones...)
	heal("join-1")
	whole()
	fail(lasts...) // before the second end
	whole()
	begin()
	p.up(strings.Replace(other, "next: last}", "next: new}", 1) + "- {name: new, kind: forward, replicas: 2, onFailure: bypass}\n")
	p.well("new-1", "new-2")
	whole()
	p.crosses()
}
