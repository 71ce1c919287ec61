package supervise_test

import (
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// of replicas, as many as there are at most in these tests.
const (
	several = "{name: x, kind: forward, replicas: 3, onFailure: replica}"
	pair    = "{name: x, kind: forward, replicas: 2, onFailure: bypass}"
)

// TestReplicaFails: flows of a replica that fails go to the others without losing a packet more, and so
// they do when it is well again and has new ones.
func TestReplicaFails(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(several, last))
	p.well("x-1", "x-2", "x-3")
	s := newStreamOf(t, p, 20)
	s.more(t, 100)
	p.sh("x-2", nstest.Drops)
	h := p.until("x-2", "failed", hasFailed)
	if h.OnFailure != process.Replica || h.Reason == "" {
		t.Errorf("%+v", h)
	}
	p.keeps("client", 2)
	p.sends("client", "")
	from, dropped := s.next.Load(), nstest.Dropped(t)
	s.more(t, 200)
	p.well("x-1", "x-3")
	p.sh("x-2", nstest.Mends)
	p.well("x-2")
	p.keeps("client")
	s.more(t, 200)
	s.whole(t, from+1, s.next.Load(), dropped)
	p.crosses()
}

// TestAllReplicasFail: packets go past them all, or end before them, or go on to them, as is said, and
// through those that are well again.
func TestAllReplicasFail(t *testing.T) {
	for policy, to := range map[string]string{process.Bypass: "last", process.Block: "nowhere", process.Replica: ""} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, spec(strings.Replace(pair, "bypass", policy, 1), last))
			p.well("x-1", "x-2")
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			p.sh("x-1", nstest.Drops)
			p.until("x-1", "failed", hasFailed)
			p.keeps("client", 1)
			from, dropped := s.next.Load(), nstest.Dropped(t)
			p.crosses()
			s.more(t, 100)
			s.whole(t, from+1, s.next.Load(), dropped)
			p.sh("x-2", nstest.Drops)
			p.until("x-2", "failed", hasFailed)
			p.sends("client", to)
			p.keeps("client")
			from, dropped = s.next.Load(), nstest.Dropped(t)
			if policy == process.Bypass {
				p.crosses()
				s.more(t, 100)
				s.whole(t, from+1, s.next.Load(), dropped)
			} else {
				time.Sleep(100 * interval)
				if to := s.next.Load(); !s.none(from+1, to) {
					t.Errorf("of the packets %d to %d some came, though all replicas fail", from+1, to)
				}
			}
			p.sh("x-1", nstest.Mends)
			p.well("x-1")
			p.keeps("client", 2)
			p.sends("client", "")
			from, dropped = s.next.Load(), nstest.Dropped(t)
			p.crosses()
			s.more(t, 100)
			s.whole(t, from+1, s.next.Load(), dropped)
			p.sh("x-2", nstest.Mends)
			p.well("x-2")
			p.keeps("client")
			p.crosses()
		})
	}
}

// TestLedPastToReplicas: packets that are led past a function are shared out over the replicas behind it,
// and not to those that have failed.
func TestLedPastToReplicas(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(first, several))
	p.well("a", "x-1", "x-2", "x-3")
	s := newStreamOf(t, p, 20)
	s.more(t, 100)
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sends("client", "replicas")
	p.sh("x-3", nstest.Drops)
	p.until("x-3", "failed", hasFailed)
	p.keeps("client", 3)
	p.keeps("a", 3)
	from, dropped := s.next.Load(), nstest.Dropped(t)
	s.more(t, 100)
	p.crosses()
	p.sh("a", nstest.Mends)
	p.well("a")
	p.sends("client", "")
	s.more(t, 100)
	s.whole(t, from+1, s.next.Load(), dropped)
}

// TestReplicasTakenOver: the next supervisor knows which replicas had failed, and no packet goes to them
// meanwhile; replicas come and go beside one that has failed; and where nobody watches any more all have flows.
func TestReplicasTakenOver(t *testing.T) {
	t.Parallel()
	p := newPath(t, spec(several, last))
	p.well("x-1", "x-2", "x-3")
	p.sh("x-2", nstest.Drops)
	p.until("x-2", "failed", hasFailed)
	p.keeps("client", 2)
	killSupervisorOf(t, p.owner)
	p.keeps("client", 2)
	p.crosses()
	for _, n := range []string{"3", "2", "4"} {
		p.up(spec(strings.Replace(several, "3", n, 1), last))
		p.until("x-2", "failed", hasFailed)
		p.keeps("client", 2)
		p.well("x-1")
		p.crosses()
	}
	p.sh("x-2", nstest.Mends)
	p.well("x-2", "x-4")
	p.sh("x-4", nstest.Drops)
	p.keeps("client", 4)
	port := p.watched("client").East
	p.up(spec(strings.NewReplacer("3", "4", ", onFailure: replica", "").Replace(several), last))
	gone(t, p.owner) // there is nothing to supervise
	p.port(port, func(open *steer.Port) error {
		if failing, err := open.Failing("x"); err != nil || failing != 0 {
			t.Errorf("replicas %b are kept from, error %v", failing, err)
		}
		return nil
	})
	p.sh("x-4", nstest.Mends)
	p.crosses()
}

// TestWatchedWhileReplicasLeave: while a replica that has to go is left flows, the others are
// watched, and what fails is led past.
func TestWatchedWhileReplicasLeave(t *testing.T) {
	t.Parallel()
	const long = "ebpf: {idle: 10m}\n"
	p := newPath(t, long+spec(several, last))
	p.well("x-1", "x-2", "x-3")
	s := newStreamOf(t, p, 40) // some by each, but for once in 10^7 times
	s.more(t, 100)
	before, _, err := process.OnWatch(p.owner)
	if err != nil {
		t.Fatal(err)
	}
	fewer := p.planned(long + spec(strings.Replace(several, "3", "2", 1), last))
	leaves := func() {
		t.Helper()
		d := &deploy.Deployer{}
		if _, err := d.Up(t.Context(), fewer); err != nil || d.Left == 0 {
			t.Fatalf("%d flows stay with the replica that goes; %v", d.Left, err)
		}
	}
	leaves()
	if watched, _, err := process.OnWatch(p.owner); err != nil || watched == before {
		t.Errorf("%s is watched as before; %v", watched, err)
	}
	p.sh("x-1", nstest.Drops)
	p.until("x-1", "failed", hasFailed)
	p.keeps("client", 1)
	leaves()
}

// TestLeavingReplicaFails: the flows of one that is taken out go to the others when it fails; so do
// those of one that had failed before it is taken out. Then it is removed.
func TestLeavingReplicaFails(t *testing.T) {
	for name, before := range map[string]bool{"before": true, "meanwhile": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const long = "ebpf: {idle: 5s}\n"
			p := newPath(t, long+spec(several, last))
			p.well("x-1", "x-2", "x-3")
			s := newStreamOf(t, p, 20)
			s.more(t, 100)
			if before {
				p.sh("x-3", nstest.Drops)
				p.until("x-3", "failed", hasFailed)
			}
			s.flows(t)
			fewer := p.planned(long + spec(strings.Replace(several, "3", "2", 1), last))
			d := &deploy.Deployer{}
			if _, err := d.Up(t.Context(), fewer); err != nil {
				t.Fatal(err)
			}
			if !before {
				p.sh("x-3", nstest.Drops)
			}
			for deadline := time.Now().Add(time.Minute); ; {
				s.flows(t)
				if _, err := d.Up(t.Context(), fewer); err != nil || time.Now().After(deadline) {
					t.Fatalf("%d flows stay with a replica that fails; %v", d.Left, err)
				}
				if d.Left == 0 {
					break
				}
			}
			s.flows(t)
		})
	}
}

// flows waits until, of so many packets that each flow sends, all come.
func (s *stream) flows(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		from := s.next.Load()
		s.more(t, 200)
		time.Sleep(100 * time.Millisecond)
		lost, _ := s.odd(from, from+200)
		if len(lost) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("of 200 packets %d are lost", len(lost))
		}
	}
}

// TestReplicasOnPathsFail: where a classifier chooses paths, flows of a replica that fails go to the others on each path that
// goes by the function, and those that are led past one before it go to replicas that are well.
func TestReplicasOnPathsFail(t *testing.T) {
	t.Parallel()
	const paths = "classifier: {otherwise: direct, rules: [{name: ping, match: {protocol: icmp}, functions: [a, x, last]}, " +
		"{name: ping6, match: {protocol: icmpv6}, functions: [x, last]}, {name: stream, match: {protocol: udp}, functions: [a, x]}]}\n"
	chain := spec(first, several, last) + paths
	p := newPath(t, chain)
	port := p.watched("client").East
	p.well("a", "x-1", "x-2", "x-3")
	s := newStreamOf(t, p, 20)
	s.more(t, 100)
	p.sh("x-2", nstest.Drops)
	p.until("x-2", "failed", hasFailed)
	p.keeps("a", 2)
	p.keeps("client", 2)
	p.sendsOn(port, "a x", "")
	p.crosses()
	p.sh("a", nstest.Drops)
	p.until("a", "failed", hasFailed)
	p.sendsOn(port, "a x", "replicas")
	p.sendsOn(port, "a x last", "replicas")
	p.sendsOn(port, "x last", "")
	p.keeps("client", 2)
	from, dropped := s.next.Load(), nstest.Dropped(t)
	s.more(t, 200)
	p.crosses()
	killSupervisorOf(t, p.owner)
	p.keeps("client", 2)
	p.sendsOn(port, "a x", "replicas")
	p.crosses()
	for _, n := range []string{"3", "4"} {
		p.up(strings.Replace(chain, "replicas: 3", "replicas: "+n, 1))
		p.until("x-2", "failed", hasFailed)
		p.sendsOn(port, "a x last", "replicas")
		p.keeps("client", 2)
		p.crosses()
	}
	p.sh("a", nstest.Mends)
	p.sh("x-2", nstest.Mends)
	p.well("a", "x-2")
	p.sendsOn(port, "a x", "")
	p.keeps("client")
	p.keeps("a")
	s.more(t, 200)
	s.whole(t, from+1, s.next.Load(), dropped)
	p.crosses()
}

// TestAllReplicasOnPathsFail: packets of each path go past them all to what is next on it, or end before them, or go on to
// them, as is said.
func TestAllReplicasOnPathsFail(t *testing.T) {
	const paths = "classifier: {otherwise: direct, rules: [{name: ping, match: {protocol: icmp}, functions: [x, last]}, {name: ping6, match: {protocol: icmpv6}, functions: [x]}]}\n"
	for policy, to := range map[string][2]string{process.Bypass: {"last", "server"}, process.Block: {"nowhere", "nowhere"}, process.Replica: {"", ""}} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			p := newPath(t, spec(strings.Replace(pair, "bypass", policy, 1), last)+paths)
			port := p.watched("client").East
			p.well("x-1", "x-2")
			p.sh("x-1", nstest.Drops)
			p.until("x-1", "failed", hasFailed)
			p.keeps("client", 1)
			p.crosses()
			p.sh("x-2", nstest.Drops)
			p.until("x-2", "failed", hasFailed)
			p.sendsOn(port, "x last", to[0])
			p.sendsOn(port, "x", to[1])
			p.keeps("client")
			if policy == process.Bypass {
				p.crosses()
			}
			p.sh("x-2", nstest.Mends)
			p.well("x-2")
			p.keeps("client", 1)
			p.sendsOn(port, "x last", "")
			p.sendsOn(port, "x", "")
			p.crosses()
			p.sh("x-1", nstest.Mends)
			p.well("x-1")
			p.keeps("client")
			p.crosses()
		})
	}
}
