package run_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/rundir"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
)

// trickle sends datagrams of one flow to the server until it is ended.
func (b *bed) trickle(p *plan.Plan) (end func()) {
	b.Helper()
	var c net.Conn
	err := netns.Do(p.Client().Namespace, func() (err error) {
		c, err = net.Dial("udp", netip.AddrPortFrom(p.Server().West.Addresses[0], 7015).String())
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			_, _ = c.Write([]byte("packet"))
			select {
			case <-stop:
				_ = c.Close()
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// supervised is the process that supervises the chain; 0 where none does.
func (b *bed) supervised() int {
	c, err := rundir.Dial(process.Address(b.name()))
	if err != nil {
		return 0
	}
	defer func() { _ = c.Close() }()
	return c.PID
}

// TestOlderPathIsRemoved by the chain's supervisor when no flow goes by it any more, and by the next one where it was
// killed; until then the chain is as planned and tells of it.
func TestOlderPathIsRemoved(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	const wiring = "wiring: ebpf\nebpf: {idle: 5s, census: 3s}\nfunctions:\n" // a busy machine may keep a flow silent for longer than usual
	b := newBed(t, wiring+"- {name: a, kind: forward}\n- {name: b, kind: forward}\n")
	b.up(run.UpOptions{Wait: true})
	edit := func(functions string) *plan.Plan {
		t.Helper()
		b.chain = plantest.Chain(t, b.name(), wiring+functions)
		p, _, err := b.edit(t.Context(), run.UpOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := edit("- {name: a, kind: forward}\n- {name: b, kind: forward}\n")
	gone := p.Functions()[0].Namespace
	for _, killed := range []bool{false, true} {
		end := b.trickle(p)
		time.Sleep(50 * time.Millisecond)
		p = edit("- {name: b, kind: forward}\n")
		s, err := run.Inspect(t.Context(), p)
		for _, h := range s.Hops {
			want := map[string][]string{"client b": {"a"}, "b client": {"a"}}[h.From+" "+h.To]
			if !h.Direct && !slices.Equal(h.Older, want) {
				t.Errorf("from %s to %s flows that stay go to %v, want %v", h.From, h.To, h.Older, want)
			}
		}
		if err != nil || s.State != run.StateUp || s.Path == nil || s.Path.Older == 0 || !slices.Equal(s.Path.Leaving, []string{gone}) || s.Path.Kept == 0 {
			t.Errorf("while a flow goes by it: %+v, path %+v, %v", s.State, s.Path, err)
		}
		if killed {
			pid := b.supervised()
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			b.until("it is dead", func() bool { return b.supervised() == 0 })
			p = edit("- {name: b, kind: forward}\n")
		}
		if b.supervised() == 0 || !netns.Exists(gone) {
			t.Error("nobody waits for the flow to end, or what it goes by is gone")
		}
		end()
		b.until("what no flow goes by is removed", func() bool { return !netns.Exists(gone) })
		b.until("nobody waits any more", func() bool { return b.supervised() == 0 })
		if s, err = run.Inspect(t.Context(), p); err != nil || s.State != run.StateUp || s.Path != nil {
			log, _ := os.ReadFile(deploy.LogFile(b.name(), plan.WiringNode))
			t.Errorf("then: %+v, path %+v, %v; %s", s.State, s.Path, err, log)
		}
		p = edit("- {name: a, kind: forward}\n- {name: b, kind: forward}\n")
	}
}

// greets sends datagrams of many flows to the server, ten a second each, until it is ended.
func (b *bed) greets(p *plan.Plan) (end func()) {
	b.Helper()
	var all []net.Conn
	to := netip.AddrPortFrom(p.Server().West.Addresses[0], 7016).String()
	for range 48 { // some by each of three replicas, but for once in 10^8 times
		err := netns.Do(p.Client().Namespace, func() error {
			c, err := net.Dial("udp", to)
			all = append(all, c)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	send := func() {
		for _, c := range all {
			_, _ = c.Write([]byte("packet"))
		}
	}
	send()
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				for _, c := range all {
					_ = c.Close()
				}
				return
			case <-time.After(100 * time.Millisecond):
				send()
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// TestReplicaThatGoesIsRemoved by the chain's supervisor when it has no flow any more, however long they last, and by the next one where it was killed; until
// then the chain is as planned and tells of it.
func TestReplicaThatGoesIsRemoved(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	const wiring = "wiring: ebpf\nebpf: {idle: %s}\nfunctions: [{name: a, kind: forward, replicas: %d}]\n"
	for name, c := range map[string]struct {
		idle   string
		killed bool
		lasts  time.Duration
	}{
		"idle":       {"10s", false, 0},
		"killed":     {"10s", true, 0},
		"for longer": {"3s", false, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t, fmt.Sprintf(wiring, c.idle, 3))
			b.up(run.UpOptions{Wait: true})
			p, err := b.host.Made(b.name())
			if err != nil {
				t.Fatal(err)
			}
			gone, end := p.Functions()[2].Namespace, sync.OnceFunc(b.greets(p))
			defer end()
			var flows run.Flows
			fewer := func() {
				t.Helper()
				b.chain = plantest.Chain(t, b.name(), fmt.Sprintf(wiring, c.idle, 2))
				if p, _, err = b.edit(t.Context(), run.UpOptions{Flows: &flows}); err != nil {
					t.Fatal(err)
				}
			}
			fewer()
			for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
				s, err := run.Inspect(t.Context(), p)
				if err != nil || s.State != run.StateUp || flows.Left == 0 || len(s.Shared) != 1 || len(s.Shared[0].Replicas) != 3 || !s.Shared[0].Replicas[2].Leaving || s.Shared[0].Replicas[2].Busy == 0 {
					t.Errorf("while %d flows stay with it: %+v, %+v, %v", flows.Left, s.State, s.Shared, err)
				}
				if time.Since(begun) >= c.lasts || t.Failed() {
					break
				}
			}
			if c.killed {
				if err := syscall.Kill(b.supervised(), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				b.until("it is dead", func() bool { return b.supervised() == 0 })
				if fewer(); flows.Left == 0 {
					t.Error("no flow stays with it any more")
				}
			}
			if b.supervised() == 0 || !netns.Exists(gone) {
				t.Error("nobody waits for the flows to end, or what they go by is gone")
			}
			end()
			b.until("it is removed", func() bool { return !netns.Exists(gone) })
			b.until("nobody waits any more", func() bool { return b.supervised() == 0 })
			if s, err := run.Inspect(t.Context(), p); err != nil || s.State != run.StateUp || len(s.Shared[0].Replicas) != 2 {
				log, _ := os.ReadFile(deploy.LogFile(b.name(), plan.WiringNode))
				t.Errorf("then: %+v, %+v, %v; %s", s.State, s.Shared, err, log)
			}
		})
	}
}

// TestDownWhileFlowsStay leaves nothing, and nobody who waits for them.
func TestDownWhileFlowsStay(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact)
	const wiring = "wiring: ebpf\nebpf: {census: 3s}\n"
	b := newBed(t, wiring+"functions: [{name: a, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	p, err := b.host.Made(b.name())
	if err != nil {
		t.Fatal(err)
	}
	end := b.trickle(p)
	defer end()
	time.Sleep(50 * time.Millisecond)
	b.chain = plantest.Chain(t, b.name(), wiring+"functions: []\n")
	if _, _, err := b.edit(t.Context(), run.UpOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.supervised() == 0 {
		t.Error("nobody waits for the flow to end")
	}
	if _, err := b.host.Down(context.Background(), b.name()); err != nil {
		t.Fatal(err)
	}
	if nodes, err := deploy.Nodes(b.name()); len(nodes) > 0 || err != nil || b.supervised() != 0 {
		t.Errorf("there are left %v, %v, supervisor %d", nodes, err, b.supervised())
	}
}
