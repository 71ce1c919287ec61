package supervise_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

const (
	first  = "{name: a, kind: forward, onFailure: bypass}"
	bump   = "{name: bump, kind: bridge, onFailure: bypass}"
	last   = "{name: last, kind: forward}"
	beside = "{name: bad, kind: command, onFailure: bypass, command: {args: [sleep, infinity]}}"
	tunnel = "{name: bad, kind: impair, onFailure: bypass, impair: {backend: tun}}"
	walls  = "{name: walls, kind: firewall, onFailure: bypass, firewall: {policy: drop, rules: {list: [{protocol: icmp, action: accept}, {protocol: icmpv6, action: accept}]}}}"
)

func spec(functions ...string) string {
	return "functions:\n- " + strings.Join(functions, "\n- ") + "\n"
}

// TestLedPast: packets go past functions whose interfaces are taken away, and through them again
// when they are back, whatever family of addresses the chain has.
func TestLedPast(t *testing.T) {
	for name, family := range map[string]string{"both": "", "IPv4": "addresses: {ipv6: none}\n", "IPv6": "addresses: {ipv4: none}\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, family+spec(first, bump, last))
			p.well("a", "bump")
			p.sends("client", "")
			p.sh("a", "ip link del eth1")
			h := p.until("a", "failed", hasFailed)
			if h.Failures == 0 || h.Reason == "" || h.OnFailure != process.Bypass {
				t.Errorf("%+v", h)
			}
			p.well("bump")
			p.sends("client", "bump")
			p.crosses()
			p.sh("bump", "ip link del eth0")
			p.until("bump", "failed", hasFailed)
			p.sends("client", "last")
			p.crosses()
			p.up(family + spec(first, bump, last))
			p.well("a", "bump")
			p.sends("client", "")
			p.crosses()
		})
	}
}

// TestLedPastForOneFamily: a function that loses the packets of one family alone has failed, at rest and while
// those of the other come out of it.
func TestLedPastForOneFamily(t *testing.T) {
	for name, c := range map[string]struct {
		table, family string
		load          bool
	}{"IPv4": {"ip", "IPv4", false}, "IPv6": {"ip6", "IPv6", false}, "IPv6 under load": {"ip6", "IPv6", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, spec(first, last))
			both := func() {
				t.Helper()
				p.until("a", "well in both families", func(h process.Health) bool {
					return h.State == process.Healthy && slices.Equal(h.Proven, []string{"eastward", "westward"})
				})
			}
			both()
			var s *stream
			var begun, dropped uint64
			if c.load {
				s = newStream(t, p)
				s.more(t, 100)
				begun, dropped = s.next.Load(), nstest.Dropped(t)
			}
			p.sh("a", strings.ReplaceAll(nstest.Drops, "inet", c.table))
			h := p.until("a", "failed", hasFailed)
			if !strings.Contains(h.Reason, "over "+c.family) {
				t.Errorf("%+v", h)
			}
			p.sends("client", "last")
			p.crosses()
			p.sh("a", strings.ReplaceAll(nstest.Mends, "inet", c.table))
			both()
			p.sends("client", "")
			p.crosses()
			if c.load {
				s.more(t, 100)
				s.whole(t, begun, s.next.Load(), dropped)
			}
		})
	}
}

// TestBlocked: where a function may not be led past, packets end before it.
func TestBlocked(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(strings.Replace(first, "bypass", "block", 1)))
	p.well("a")
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sends("client", "nowhere")
	p.sh("a", nstest.Mends)
	p.well("a")
	p.sends("client", "")
	p.crosses()
}

// TestTakenOver: what a supervisor has turned stays when it is killed, and the next one knows
// that the function had failed, and sees it well.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sends("client", "last")
	killed := killSupervisorOf(t, p.owner)
	p.crosses()
	p.up(spec(first, last))
	h := p.until("a", "failed", hasFailed)
	if next := supervisorOf(p.owner); next == 0 || next == killed || h.Reason == "" {
		t.Errorf("supervisor %d after %d: %+v", next, killed, h)
	}
	p.sends("client", "last")
	p.crosses()
	p.sh("a", nstest.Mends)
	p.well("a")
	p.sends("client", "")
	p.crosses()
}

// TestEditedWhileFailed: functions are put in and taken out beside one that has failed, and it is
// known on; and where nobody watches any more, packets go as planned.
func TestEditedWhileFailed(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	p.sh("a", nstest.Drops)
	failures := p.until("a", "failed", hasFailed).Failures
	for _, functions := range [][]string{{first, bump, last}, {bump, first, last}, {first}} {
		p.up(spec(functions...))
		h := p.until("a", "failed", hasFailed)
		if h.Failures < failures {
			t.Errorf("%v: of %d failures is known: %+v", functions, failures, h)
		}
		p.crosses()
	}
	p.sh("a", nstest.Mends)
	p.up(spec(strings.Replace(first, ", onFailure: bypass", "", 1)))
	gone(t, p.owner) // there is nothing to supervise
	p.crosses()
}

// TestFailsWhileUpCannotMakeTheNew: where an edit cannot be made, what fails after that is led past at once, and not only when
// who watches has held back for long enough.
func TestFailsWhileUpCannotMakeTheNew(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	refuse := errors.New("a test's")
	if _, err := (&deploy.Deployer{Made: func() error { return refuse }}).Up(t.Context(), p.planned(spec(first, bump, last))); !errors.Is(err, refuse) {
		t.Fatal(err)
	}
	p.sh("a", nstest.Drops)
	harmed := time.Now()
	if h := p.until("a", "failed", hasFailed); h.Since.Sub(harmed) > 20*time.Second {
		t.Errorf("found after %v: %+v", h.Since.Sub(harmed), h)
	}
	p.sends("client", "last")
	p.crosses()
}

// TestFailsWhileTheNewIsMade: to make what is new may take longer than who watches holds back for. What fails by then stays led past, by the
// new order too.
func TestFailsWhileTheNewIsMade(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	wanted := p.planned(spec(bump, first, last))
	made := func() error {
		if err := process.GoOn(p.owner); err != nil {
			return err
		}
		p.sh("a", nstest.Drops)
		p.until("a", "failed", hasFailed)
		p.sends("client", "last")
		return nil
	}
	if _, err := (&deploy.Deployer{Made: made}).Up(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	p.Plan = wanted
	p.until("a", "failed", hasFailed)
	p.sends("bump", "last")
	p.crosses()
	p.sh("a", nstest.Mends)
	p.well("a", "bump")
	p.sends("client", "")
	p.sends("bump", "")
	p.crosses()
}

// TestEditedAfterItFailed: a function that is edited and still lets nothing through is not taken for
// well.
func TestEditedAfterItFailed(t *testing.T) {
	nstest.Require(t, feature.NFTables)
	t.Parallel()
	rules := func(n int) string {
		return spec(fmt.Sprintf("{name: a, kind: firewall, onFailure: bypass, firewall: {rules: {generate: %d}}}", n), last)
	}
	p := newPath(t, rules(1))
	p.well("a")
	p.sh("a", nstest.Drops)
	failures := p.until("a", "failed", hasFailed).Failures
	p.up(rules(2))
	for range 200 { // looks of ours are fewer than those of who watches
		if h := p.until("a", "known", func(process.Health) bool { return true }); !hasFailed(h) || h.Failures != failures {
			t.Fatalf("%+v", h)
		}
		time.Sleep(5 * time.Millisecond)
	}
	p.sends("client", "last")
	p.sh("a", nstest.Mends)
	p.well("a")
	p.sends("client", "")
}

// TestProgramDone: a program that has done its work, and is not to be started again for that, has not
// failed; but when nothing comes through its function it is started again.
func TestProgramDone(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec("{name: bad, kind: command, onFailure: bypass, command: {args: [sleep, '2'], restart: on-failure}}", last))
	for deadline := time.Now().Add(time.Minute); p.program("bad").State != process.Ended; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not end: %+v", p.program("bad"))
		}
	}
	p.well("bad")
	p.sends("client", "")
	p.sh("bad", nstest.Drops)
	p.until("bad", "failed", hasFailed)
	for deadline := time.Now().Add(time.Minute); p.program("bad").Restarts == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is not started again: %+v", p.program("bad"))
		}
	}
	p.sh("bad", nstest.Mends)
	p.well("bad")
	p.sends("client", "")
	p.crosses()
}

// TestProgramsOfFunctions: one that ends is seen, by its process or by probes, whichever tells first,
// one that is held still by probes, and the functions are well again when a new program runs.
func TestProgramsOfFunctions(t *testing.T) {
	nstest.Require(t, feature.Tun, feature.Redirect)
	kill := func(_ *testing.T, pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }
	for name, c := range map[string]struct {
		function string
		harm     func(t *testing.T, pid int)
		reason   string
	}{
		"killed":                           {tunnel, kill, ""},
		"killed, and packets need it not":  {beside, kill, "has ended"},
		"held still, and packets go by it": {tunnel, func(t *testing.T, pid int) { nstest.Stop(t, pid) }, "is stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, spec(c.function, last))
			for again := 0; ; again++ { // a busy machine may have had it fail before
				p.well("bad")
				before := p.running("bad")
				c.harm(t, before.PID)
				h := p.until("bad", "well again, by another program", func(h process.Health) bool {
					now := p.program("bad")
					return isWell(h) && now.PID != before.PID && now.Restarts > before.Restarts
				})
				if h.Failures > 0 && strings.Contains(h.Reason, c.reason) {
					break
				}
				if again == 20 {
					t.Fatalf("it never failed because it was %s: %+v", name, h)
				}
			}
			p.sends("client", "")
			p.crosses()
		})
	}
}

// TestInterfaceDown: of a function whose interface somebody sets down that is said, and its program is not killed for it.
func TestInterfaceDown(t *testing.T) {
	nstest.Require(t, feature.Tun, feature.Redirect)
	p := newPath(t, spec(tunnel, last))
	p.well("bad")
	p.sh("bad", "ip link set eth0 down")
	p.until("bad", "failed since its interface is down", func(h process.Health) bool {
		return hasFailed(h) && strings.Contains(h.Reason, "is down; `nfchain up`")
	})
	before := p.running("bad")
	time.Sleep(8 * time.Second) // in which one that is stuck is killed more than once
	if now := p.running("bad"); now.PID != before.PID {
		t.Errorf("it ran as %d and runs as %d", before.PID, now.PID)
	}
	p.up(spec(tunnel, last))
	p.well("bad")
	p.crosses()
}

// TestUnproven: where a function lets no probe through, that is told, and nothing is concluded
// from it.
func TestUnproven(t *testing.T) {
	nstest.Require(t, feature.NFTables)
	t.Parallel()
	p := newPath(t, spec(walls, first))
	p.well("a")
	p.crosses()
	h := p.until("walls", "known", func(process.Health) bool { return true })
	if h.State != process.Unproven || len(h.Proven) != 0 || h.Failures != 0 {
		t.Errorf("%+v", h)
	}
	p.sends("client", "")
}

// TestForwarderMadeAgain: where the forwarder's namespace was removed and an `up` made it again,
// the functions are watched in the new one.
func TestForwarderMadeAgain(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	failures := 0
	for range 2 { // who watches may or may not look while it is gone
		if err := netns.Remove(p.Between()); err != nil {
			t.Fatal(err)
		}
		p.up(spec(first, last))
		p.well("a")
		p.sends("client", "")
		p.crosses()
		p.sh("a", nstest.Drops)
		failures = p.until("a", "failed again", func(h process.Health) bool { return hasFailed(h) && h.Failures > failures }).Failures
		p.sends("client", "last")
		p.sh("a", nstest.Mends)
		p.well("a")
	}
}

// TestLogsWithoutPrograms do not grow for ever: what becomes of a function is said in them.
func TestLogsWithoutPrograms(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, last))
	p.well("a")
	log := deploy.LogFile(p.owner, "a")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, 20<<20); err != nil {
		t.Fatal(err)
	}
	p.sh("a", nstest.Drops)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(log)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() < 16<<20 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log has %d bytes", info.Size())
		}
	}
}

// TestWatchesNothing: a supervisor that cannot watch what it is told to, and keeps no program, ends.
func TestWatchesNothing(t *testing.T) {
	t.Parallel()
	nstest.Root(t)
	owner := nstest.Owner(t)
	t.Cleanup(func() { _ = process.Stop(owner) })
	wrong := process.Path{Forwarder: "nobodys", Nodes: []process.Watched{{Node: "client", East: "0"}, {Node: "a", West: "1", East: "2", OnFailure: process.Bypass}, {Node: "server", West: "3"}}}
	if err := process.Watch(owner, wrong); err == nil || !strings.Contains(err.Error(), "no way eastward through function a") {
		t.Errorf("a function without probes is watched: %v", err)
	}
	gone(t, owner)
}

// TestLedPastOnPaths: where a classifier chooses paths, packets of each are led past a function that fails to
// the next one on that path, or end before it, and those of paths without it go on as they did.
func TestLedPastOnPaths(t *testing.T) {
	const paths = "classifier: {otherwise: direct, rules: [{name: ping, match: {protocol: icmp}, functions: [a, last]}, " +
		"{name: ping6, match: {protocol: icmpv6}, functions: [a]}]}\n"
	for policy, to := range map[string][2]string{process.Bypass: {"last", "server"}, process.Block: {"nowhere", "nowhere"}} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			chain := spec(strings.Replace(first, "bypass", policy, 1), last) + paths
			p := newPath(t, chain)
			port := p.watched("client").East
			p.well("a")
			p.crosses()
			s := newStream(t, p)
			s.more(t, 10)
			begun, dropped := s.next.Load(), nstest.Dropped(t)
			p.sh("a", nstest.Drops)
			p.until("a", "failed", hasFailed)
			p.sendsOn(port, "a last", to[0])
			p.sendsOn(port, "a", to[1])
			if policy == process.Bypass {
				p.crosses()
			}
			killSupervisorOf(t, p.owner)
			p.sendsOn(port, "a last", to[0])
			p.up(chain)
			p.until("a", "failed", hasFailed)
			p.sendsOn(port, "a", to[1])
			p.sh("a", nstest.Mends)
			p.well("a")
			p.sendsOn(port, "a last", "")
			p.sendsOn(port, "a", "")
			p.crosses()
			s.whole(t, begun+1, s.next.Load(), dropped)
			p.sh("a", nstest.Drops)
			p.until("a", "failed", hasFailed)
			p.sendsOn(port, "a", to[1])
			p.up(strings.Replace(chain, ", onFailure: "+policy, "", 1))
			p.sendsOn(port, "a", "") // nobody watches any more
		})
	}
}

// TestPathsBeforeTheyAreKnown: ports that tell paths apart by now, though who watches knows of one yet, are left alone when a
// function fails; who knows of the paths leads theirs past it.
func TestPathsBeforeTheyAreKnown(t *testing.T) {
	t.Parallel()
	chain := spec(first, last)
	p := newPath(t, chain)
	p.well("a")
	chain += "classifier: {otherwise: direct, rules: [{name: ping, match: {}, functions: [a, last]}]}\n"
	next := p.planned(chain)
	for _, r := range next.Resources {
		if r.Kind != steer.KindName {
			continue
		}
		text, err := json.Marshal(r.Spec)
		if err == nil {
			err = deploy.Apply(t.Context(), p.owner, r.Kind, r.Namespace, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	watches := supervisorOf(p.owner)
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	for range 300 { // looks of ours are fewer than those of who watches
		p.until("a", "failed", hasFailed)
		time.Sleep(5 * time.Millisecond)
	}
	p.up(chain)
	p.sendsOn(p.watched("client").East, "a last", "last")
	if now := supervisorOf(p.owner); now != watches {
		t.Errorf("process %d watches, and %d did", now, watches)
	}
	p.crosses()
}
