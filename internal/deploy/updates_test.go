package deploy_test

import (
	"slices"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
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

// replacing are the same of nodes: what goes is removed once nothing comes out of it any more.
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
	steps, nodes := plans(t, owner, forwarders["tcx"], edited), plans(t, owner, forwarders["tcx"], replacing)
	up(t, steps[0])
	crosses(t, steps[0])
	s := streams(t, steps[0], addresses(steps[0], steps[0].Client().Name, steps[0].Server().Name))
	last := steps[0]
	for round := range 1000 / len(edited) {
		due := steps
		if round%20 == 19 {
			due = slices.Concat(steps, nodes)
		}
		for _, last = range due {
			up(t, last)
		}
	}
	unchanged(t, last)
	s.more(t, 100)
	s.ends(t)
}

// BenchmarkUpdates is how many there are in a second, one after the other, while packets pass:
// of an inline function, and of a node.
func BenchmarkUpdates(b *testing.B) {
	nstest.Root(b)
	for name, functions := range map[string][][]string{"inline": edited[1:3], "node": {replacing[0], replacing[2]}} {
		b.Run(name, func(b *testing.B) {
			owner := nstest.Owner(b)
			downAfter(b, owner)
			all := plans(b, owner, forwarders["tcx"], functions)
			up(b, all[0])
			s := streams(b, all[0], addresses(all[0], all[0].Client().Name, all[0].Server().Name))
			began := time.Now()
			for i := 1; b.Loop(); i++ {
				up(b, all[i%2])
			}
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "updates/s")
			s.ends(b)
		})
	}
}
