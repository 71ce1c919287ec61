package supervise_test

import (
	"strings"
	"syscall"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestWithstands what becomes of functions under load: packets are lost while that is found out, and none
// before, nor after, nor when the function is well again.
func TestWithstands(t *testing.T) {
	nstest.Require(t, feature.Tun, feature.Redirect, feature.QdiscTBF, feature.ToolTC)
	const copies = "{name: bad, kind: impair, replicas: 2, onFailure: POLICY, impair: {backend: tun}}"
	kill := func(p *path, node string) { _ = syscall.Kill(p.running(node).PID, syscall.SIGKILL) }
	stop := func(p *path, node string) { nstest.Stop(p, p.running(node).PID) }
	run := func(line string) func(*path, string) { return func(p *path, node string) { p.sh(node, line) } }
	nothing := func(*path, string) {}
	for name, c := range map[string]struct {
		spec       string
		nodes      []string // that are harmed
		harm, mend func(p *path, node string)
		loses      bool
		others     []string // that flows go to meanwhile
	}{
		"killed":               {spec(tunnel, last), []string{"bad"}, kill, nothing, true, nil},
		"stopped":              {spec(tunnel, last), []string{"bad"}, stop, nothing, true, nil},
		"slowed":               {spec(first, last), []string{"a"}, run(nstest.Slows), run(nstest.Hastens), false, nil},
		"garbled":              {spec(first, last), []string{"a"}, run(nstest.Garbles), run(nstest.Mends), true, nil},
		"a replica killed":     {spec(strings.Replace(copies, "POLICY", "replica", 1), last), []string{"bad-2"}, kill, nothing, true, []string{"bad-1"}},
		"a replica stopped":    {spec(strings.Replace(copies, "POLICY", "replica", 1), last), []string{"bad-1"}, stop, nothing, true, []string{"bad-2"}},
		"a replica slowed":     {spec(several, last), []string{"x-1"}, run(nstest.Slows), run(nstest.Hastens), false, []string{"x-2", "x-3"}},
		"a replica garbled":    {spec(several, last), []string{"x-3"}, run(nstest.Garbles), run(nstest.Mends), true, []string{"x-1", "x-2"}},
		"all replicas killed":  {spec(strings.Replace(copies, "POLICY", "bypass", 1), last), []string{"bad-1", "bad-2"}, kill, nothing, true, nil},
		"all replicas stopped": {spec(strings.Replace(copies, "POLICY", "bypass", 1), last), []string{"bad-1", "bad-2"}, stop, nothing, true, nil},
		"all replicas cut off": {spec(pair, last), []string{"x-1", "x-2"}, run(nstest.Drops), run(nstest.Mends), true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, c.spec)
			p.well(c.nodes...)
			p.well(c.others...) // a program that is still to begin takes no packets
			dropped := nstest.Dropped(t)
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			begun := s.next.Load()
			s.whole(t, 1, begun, dropped)
			failures := map[string]int{}
			for _, n := range c.nodes {
				failures[n] = p.until(n, "well", isWell).Failures // one that a busy machine has failed already would be told of as that, and be begun again
				c.harm(p, n)
			}
			for _, n := range c.nodes {
				p.until(n, "failed", func(h process.Health) bool { return h.Failures > failures[n] })
			}
			for _, n := range c.others { // a busy machine may have had them fail, too
				p.well(n)
			}
			found := s.next.Load()
			s.more(t, 100)
			for _, n := range c.nodes {
				c.mend(p, n)
			}
			if !c.loses {
				s.whole(t, begun, found+1, dropped)
			}
			p.well(c.nodes...)
			s.more(t, 100)
			s.whole(t, found+1, s.next.Load(), dropped)
			lost, _ := s.odd(begun, found+1)
			t.Logf("%d of %d packets are lost until it is found out", len(lost), found-begun)
			p.crosses()
		})
	}
}
