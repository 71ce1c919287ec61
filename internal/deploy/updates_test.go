package deploy_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/trial"
)

// edited are functions of a chain after one edit each, behind which comes the first again: inline
// functions are put in, replaced, moved and taken out.
var edited = [][]string{
	{forward("a"), inline("count")},
	{forward("a"), inline("count"), marked("ef", "inline")},
	{forward("a"), inline("count"), marked("af41", "inline")},
	{forward("a"), marked("af41", "inline"), inline("count")},
	{inline("count"), forward("a")},
}

// replacing are the same of nodes: what goes is removed once nothing comes out of it any more. Each is planned when it is
// due, so that nodes which stay keep their addresses: two names may lead to one place for addresses, and a plan gives
// the second the next one, unless that has one already.
var replacing = [][]string{
	{forward("a"), forward("b"), inline("count")},
	{forward("c"), inline("count"), forward("b")},
	{forward("a"), inline("count")},
}

func plans(tb testing.TB, owner, wiring string, functions [][]string) (all []*plan.Plan) {
	for _, f := range functions {
		all = append(all, planned(tb, owner, wiring+spec(f...)))
	}
	return all
}

// TestThousandUpdatesLoseNothing, one after the other, while packets pass.
func TestThousandUpdatesLoseNothing(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	const wiring = "wiring: ebpf\nebpf: {census: 100ms}\n"
	steps := plans(t, owner, wiring, edited)
	up(t, steps[0])
	crosses(t, steps[0])
	s := streams(t, steps[0], addresses(steps[0], steps[0].Client().Name, steps[0].Server().Name))
	last := steps[0]
	for round := range 1000 / len(edited) {
		for _, last = range steps {
			up(t, last)
		}
		switch round % 20 {
		case 0: // the others are made while no flow stays on an older path
			if _, err := (&deploy.Deployer{Move: true}).Up(t.Context(), last); err != nil {
				t.Fatal(err)
			}
		case 19:
			for _, functions := range replacing {
				last = planned(t, owner, wiring+spec(functions...))
				up(t, last)
			}
		}
	}
	unchanged(t, last)
	s.more(t, 100)
	s.ends(t)
}

// often are pairs of chains between which a program may go back and forth all the time.
var often = map[string][]string{
	"replaced": {spec(edited[1]...), spec(edited[2]...)}, // an inline function
	"inserted": {spec(edited[0]...), spec(edited[1]...)}, // and taken out
	"weighted": {spec(weighted(1, 3)), spec(weighted(3, 1))},
	"ruled":    {spec(forward("a")) + classifier("direct", pathRule("some", "protocol: udp", "a")), spec(forward("a")) + classifier("direct", pathRule("some", "protocol: tcp", "a"))},
	"node":     {spec(replacing[0]...), spec(replacing[2]...)},
	"screened": {spec(forward("a"), screened("1-1023")), spec(forward("a"), screened("1-1024"))},
}

// screened is an inline firewall that drops TCP to some ports.
func screened(ports string) string {
	return fmt.Sprintf("{name: fw, kind: firewall, runtime: inline, firewall: {rules: {list: [{protocol: tcp, destination_port: %s, action: drop}]}}}", ports)
}

// weighted are two replicas that share their flows so.
func weighted(a, b int) string {
	return fmt.Sprintf("{name: r, kind: forward, replicas: 2, weights: [%d, %d]}", a, b)
}

// TestManyEditsLoseNothing: rules of a classifier and of a firewall, and weights of replicas, go back and forth while packets
// pass, which are all of one flow a family, and each time the last rules and weights are those that count.
func TestManyEditsLoseNothing(t *testing.T) {
	needsForwarder(t)
	for _, name := range []string{"ruled", "screened", "weighted"} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			var all []*plan.Plan
			for _, body := range often[name] {
				all = append(all, planned(t, owner, forwarders["tcx"]+body))
			}
			up(t, all[0])
			crosses(t, all[0])
			s := streams(t, all[0], addresses(all[0], all[0].Client().Name, all[0].Server().Name))
			for i := range 100 {
				if changed := up(t, all[(i+1)%2]); len(changed) == 0 {
					t.Fatalf("edit %d changed nothing", i)
				}
				if i%10 == 9 {
					unchanged(t, all[(i+1)%2])
				}
			}
			s.more(t, 100)
			s.ends(t)
		})
	}
}

// TestHundredUpdatesASecond, for a minute in all, of five kinds by turns: no packet of the built-in generator is lost, and none comes twice.
// On a machine that is too busy for a hundred there are as many as it makes, see [pace].
func TestHundredUpdatesASecond(t *testing.T) {
	needsForwarder(t)
	nstest.Require(t, feature.BPFXDP)
	for _, name := range []string{"replaced", "inserted", "weighted", "ruled", "screened"} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			all := []*plan.Plan{planned(t, owner, forwarders["tcx"]+often[name][0]), planned(t, owner, forwarders["tcx"]+often[name][1])}
			up(t, all[0])
			crosses(t, all[0])
			var p pace
			for lossy, loads := 0, 1; ; loads++ {
				dropped := nstest.Dropped(t)
				m := p.updatesUnderLoad(t, all, 12)
				if m["loss_ratio"] != 0 || m["duplicate_ratio"] != 0 {
					if now := nstest.Dropped(t); now == dropped || lossy == 2 {
						t.Fatalf("with %d updates a share of %v of the packets was lost, and %v came twice; the machine dropped %d itself", p.updates, m["loss_ratio"], m["duplicate_ratio"], now-dropped)
					}
					lossy++
					continue
				}
				if p.updates >= p.least() {
					break
				}
				if loads == 6 {
					t.Fatalf("in %v there were %d updates, and by how long the machine took to find nothing to do, %v, there should have been %d", p.spent, p.updates, p.looking(), p.least())
				}
			}
			t.Logf("%d updates in %v, of which %d should have been; the machine took %v to find nothing to do", p.updates, p.spent, p.least(), p.looking())
			up(t, all[0])
			unchanged(t, all[0])
		})
	}
}

// pace of updates while packets pass: how many there were, in which time, and beside that how often, and how long, one looked that had nothing to
// do. Updates take some two times as long as such a look at the same time, however busy a machine is.
type pace struct {
	updates, looks int
	spent, looked  time.Duration
}

// everyUpdate is how long one update begins after the other, if it can.
const everyUpdate = time.Second / 100

// least is how many updates there should have been: many, half of those that were due, or one in the time of eight looks.
func (p *pace) least() int {
	return max(100, int(p.spent/max(2*everyUpdate, 8*p.looking())))
}

// looking is how long one look takes.
func (p *pace) looking() time.Duration { return p.looked / time.Duration(max(1, p.looks)) }

// updatesUnderLoad is what came of a load of the built-in generator while two chains took turns, where each tenth turn only looks.
func (p *pace) updatesUnderLoad(t *testing.T, all []*plan.Plan, seconds float64) (metrics map[string]float64) {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		s, err := generated(t, all[0], crowdPort, trial.Condition{Flows: 1000, OfferedPps: 20_000, DurationS: seconds})
		metrics = s.Metrics
		ended <- err
	}()
	tick := time.NewTicker(everyUpdate)
	defer tick.Stop()
	began, looked := time.Now(), p.looked
	defer func() { p.spent += time.Since(began) - (p.looked - looked) }()
	for turn := 1; ; turn++ {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return metrics
		case <-tick.C:
			if turn%10 == 0 {
				p.looks++
				before := time.Now()
				unchanged(t, all[p.updates%2])
				p.looked += time.Since(before)
				continue
			}
			p.updates++
			if changed := up(t, all[p.updates%2]); len(changed) == 0 {
				t.Fatalf("update %d changed nothing", p.updates)
			}
		}
	}
}

// BenchmarkUpdates is how many there are in a second, one after the other, while packets pass, a
// thousand a second: of each kind, and what cores spend on one. For a minute of them:
// go test ./internal/deploy -run none -bench Updates/replaced -benchtime 6000x
func BenchmarkUpdates(b *testing.B) {
	nstest.Root(b)
	for _, name := range slices.Sorted(maps.Keys(often)) {
		b.Run(name, func(b *testing.B) {
			owner := nstest.Owner(b)
			downAfter(b, owner)
			first := planned(b, owner, forwarders["tcx"]+often[name][0])
			up(b, first)
			all := []*plan.Plan{first, planned(b, owner, forwarders["tcx"]+often[name][1])}
			s := streams(b, all[0], addresses(all[0], all[0].Client().Name, all[0].Server().Name))
			began, before := time.Now(), spent(b)
			for i := 1; b.Loop(); i++ {
				up(b, all[i%2])
			}
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "updates/s")
			b.ReportMetric(float64((spent(b)-before).Microseconds())/1000/float64(b.N), "core-ms/op")
			s.ends(b)
		})
	}
}

// spent by this process, which sends the packets as well.
func spent(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
