package run_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/engine"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/container"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
	"nfchain.dev/nfchain/internal/run"
)

// containers of each chain here.
const containers = 6

// engineBed is a chain of containers, and containers like its that are nobody's but the engine's.
type engineBed struct {
	*testing.B
	engine.Engine
	host  *run.Host
	chain api.Chain
	alone string
}

// onEngines runs a benchmark on each engine that answers, with programs at a hook and what else a chain's file says. NFCHAIN_IN_CONTAINERS names the program that containers begin with.
func onEngines(b *testing.B, hook, more string, each func(*engineBed)) {
	nstest.Root(b)
	for _, name := range engine.Names() {
		b.Run(name, func(b *testing.B) {
			nstest.Require(b, feature.BPFPeer, feature.BPFIngress, "bpf."+hook, "tool."+name)
			e, err := engine.Open(b.Context(), name)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = e.Close() })
			owner := nstest.Owner(b)
			bed := &engineBed{b, e, newHost(), plantest.Chain(b, owner, "wiring: ebpf\nebpf: {hook: "+hook+"}\nruntime: "+name+"\n"+more), owner + "-alone"}
			b.Cleanup(bed.down)
			b.Cleanup(bed.remove)
			each(bed)
		})
	}
}

func (b *engineBed) name() string { return b.chain.Metadata.Name }

// wanted is a container of the engine's alone, which waits as those of chains do.
func (b *engineBed) wanted(n int) engine.Wanted {
	program, err := engine.Program()
	if err != nil {
		b.Fatal(err)
	}
	node := fmt.Sprint("f-", n)
	return engine.Wanted{Owner: b.alone, Node: node, Name: "nfchain." + b.alone + "." + node, Digest: "alone", Args: engine.Resting(), Capabilities: []string{}, Program: program, Plain: true}
}

// start a container of the engine's alone.
func (b *engineBed) start(n int) (engine.Container, error) {
	id, err := b.Create(b.Context(), b.wanted(n))
	if err != nil {
		return engine.Container{}, err
	}
	return b.Start(b.Context(), id)
}

// remove the containers of the engine's alone.
func (b *engineBed) remove() {
	all, err := b.List(context.Background(), b.alone)
	for _, c := range all {
		err = errors.Join(err, b.Remove(context.Background(), c.ID))
	}
	// What containers write is kept there, by engines that do so.
	if err := errors.Join(err, os.RemoveAll(deploy.StateDir(b.alone))); err != nil {
		b.Error(err)
	}
}

func (b *engineBed) down() {
	if _, err := b.host.Down(context.Background(), b.name()); err != nil {
		b.Error(err)
	}
}

// up brings the chain up and gives its plan.
func (b *engineBed) up() *plan.Plan {
	b.Helper()
	p, _, err := b.host.Up(b.Context(), b.chain, run.UpOptions{Wait: true})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// median in milliseconds.
func (b *engineBed) median(name string, all []time.Duration) {
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2])/1e6, name+"-ms")
}

// clears is how long the kernel gets to free what the round before had, slowest with programs at tcx.
const clears = time.Duration(run.Clears * float64(time.Second))

// BenchmarkContainers starts six containers by turns by their engine alone, all at once, and as a chain, until packets go from one end
// of it to the other, with its programs at each of the hooks. What the chain adds is told of each round, as others' work slows one round or
// another. With short grace periods the chain has those alone.
func BenchmarkContainers(b *testing.B) {
	for _, hook := range []string{steer.TCX, steer.Clsact} {
		b.Run(hook, func(b *testing.B) { startContainers(b, hook, "") })
	}
	b.Run(steer.TCX+",rcu_expedited", func(b *testing.B) {
		startContainers(b, steer.TCX, "tuning: {host: allow, rcu_expedited: true}\n")
	})
}

func startContainers(b *testing.B, hook, tuning string) {
	onEngines(b, hook, fmt.Sprintf("%sfunctions:\n- {name: f, kind: forward, replicas: 1}\n%s", tuning, moreForwards(containers-1)), func(b *engineBed) {
		var alone, ready, reachable, mean, added []time.Duration
		for b.Loop() {
			time.Sleep(clears)
			alone = append(alone, b.startAll())

			time.Sleep(clears)
			began, clock := time.Now(), process.Clock()
			p := b.up()
			ready = append(ready, time.Since(began))
			b.reach(p)
			reachable = append(reachable, time.Since(began))
			added = append(added, (ready[len(ready)-1]-alone[len(alone)-1])/containers)
			mean = append(mean, b.meanStart(clock))
			b.down()
		}
		b.ReportMetric(0, "ns/op")
		b.median("engine", alone)
		b.median("chain", ready)
		b.median("reachable", reachable)
		b.median("mean-start", mean)
		b.median("added/container", added)
		b.ReportMetric(100*float64(added[len(added)/2]*containers)/float64(alone[len(alone)/2]), "added-%")
	})
}

func moreForwards(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "- {name: g%d, kind: forward}\n", i)
	}
	return text.String()
}

// startAll has the engine start as many like the chain's by themselves, and gives how long the last of them took.
func (b *engineBed) startAll() (last time.Duration) {
	p, err := b.host.Plan(b.chain, nil, plan.Options{})
	if err != nil {
		b.Fatal(err)
	}
	took, err := container.StartAlone(b.Context(), b.alone, run.Containers(p))
	if err != nil {
		b.Fatal(err)
	}
	for _, one := range took {
		last = max(last, one)
	}
	return last
}

// meanStart of the chain's programs, since a time of [process.Clock].
func (b *engineBed) meanStart(since int64) time.Duration {
	all, err := process.Statuses(b.name())
	if err != nil || len(all) == 0 {
		b.Fatalf("%+v, %v", all, err)
	}
	sum := int64(0)
	for _, s := range all {
		sum += s.ReadyNs - since
	}
	return time.Duration(sum / int64(len(all)))
}

// trickle is packets from one end of a chain to the other, a millisecond apart.
type trickle struct {
	out, in net.Conn
}

func (b *engineBed) trickle(p *plan.Plan) trickle {
	b.Helper()
	const port = 7013
	at := netip.AddrPortFrom(p.Reached().Addresses[0], port)
	var s trickle
	err := netns.Do(p.Server().Namespace, func() (err error) {
		s.in, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(at.Addr(), port)))
		return err
	})
	if err == nil {
		err = netns.Do(p.Client().Namespace, func() (err error) { s.out, err = net.Dial("udp", at.String()); return })
	}
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func (s trickle) close() { _, _ = s.in.Close(), s.out.Close() }

// next waits until a packet comes.
func (s trickle) next() error {
	stop := make(chan struct{})
	var sending sync.WaitGroup
	sending.Add(1)
	go func() {
		defer sending.Done()
		for {
			_, _ = s.out.Write([]byte{0})
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	_ = s.in.SetReadDeadline(time.Now().Add(time.Minute))
	_, err := s.in.Read(make([]byte, 1))
	close(stop)
	sending.Wait()
	return err
}

// reach the far end of the chain.
func (b *engineBed) reach(p *plan.Plan) {
	b.Helper()
	s := b.trickle(p)
	defer s.close()
	if err := s.next(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkKilledContainer is how long packets do not come when a container is killed, of a function that is led past, of the one of two
// replicas that has all flows, and of one that has nobody in its place; by turns with how long the engine takes until one like it runs again.
func BenchmarkKilledContainer(b *testing.B) {
	for what, f := range map[string]struct{ killed, function string }{
		"alone":    {"f", "{name: f, kind: forward}"},
		"led-past": {"f", "{name: f, kind: forward, onFailure: bypass}"},
		"replica":  {"f-1", "{name: f, kind: forward, replicas: 2, weights: [1, 0], onFailure: replica}"},
	} {
		b.Run(what, func(b *testing.B) {
			onEngines(b, steer.TCX, "functions:\n- "+f.function+"\n", func(b *engineBed) {
				var engine, path []time.Duration
				for b.Loop() {
					engine = append(engine, b.restartAlone())
					b.remove()
					path = append(path, b.outage(b.up(), f.killed))
					b.down()
				}
				b.ReportMetric(0, "ns/op")
				b.median("engine-restart", engine)
				b.median("outage", path)
				b.ReportMetric(float64(path[len(path)-1])/1e6, "outage-max-ms")
			})
		})
	}
}

// restartAlone is how long an engine takes from when a container is killed until it runs again.
func (b *engineBed) restartAlone() time.Duration {
	c, err := b.start(0)
	if err != nil {
		b.Fatal(err)
	}
	killed := time.Now()
	_ = syscall.Kill(c.PID, syscall.SIGKILL)
	for err == nil {
		var now engine.Container
		if now, err = b.Inspect(b.Context(), c.ID); err == nil && now.PID == 0 {
			_, err = b.Start(b.Context(), c.ID)
			break
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	return time.Since(killed)
}

// outage of a chain of which a container is killed: the longest time in which no packet comes, less the millisecond between two.
func (b *engineBed) outage(p *plan.Plan, killed string) (longest time.Duration) {
	b.Helper()
	s := b.trickle(p)
	defer s.close()
	stop := make(chan struct{})
	var sending sync.WaitGroup
	sending.Add(1)
	go func() {
		defer sending.Done()
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				_, _ = s.out.Write([]byte{0})
			}
		}
	}()
	defer sending.Wait()
	defer close(stop)
	const before, after = 2 * time.Second, 3 * time.Second // who watches has seen by then that packets flow
	began, last, harmed := time.Now(), time.Time{}, false
	for {
		_ = s.in.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := s.in.Read(make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		switch {
		case harmed:
			longest = max(longest, now.Sub(last)-time.Millisecond)
			if now.Sub(began) > before+after {
				return longest
			}
		case now.Sub(began) > before:
			harmed = true
			if err := deploy.Harm(p, api.Harm{What: api.HarmProgram, Node: killed}); err != nil {
				b.Fatal(err)
			}
			now = time.Now()
		}
		last = now
	}
}
