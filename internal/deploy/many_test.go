package deploy_test

import (
	"context"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

// small is a chain of three functions without a namespace; every tenth has a node, too.
func small(tb testing.TB, n int, owner string) *plan.Plan {
	functions := []string{inline("count"), marked("ef", "inline"), "{name: lose, kind: drop, direction: forward, runtime: inline, drop: {every: 1000000}}"}
	if n%10 == 0 {
		functions = append(functions, forward("f"))
	}
	return planned(tb, owner, forwarders["tcx"]+spec(functions...))
}

// kept is what a chain is brought up with by a command.
func kept(tb testing.TB, p *plan.Plan) {
	tb.Helper()
	if err := deploy.Remember(p.Chain, []byte("{}")); err != nil {
		tb.Fatal(err)
	}
	d := &deploy.Deployer{Made: func() error { return deploy.Note(p) }}
	if _, err := d.Up(tb.Context(), p); err != nil {
		tb.Fatal(err)
	}
}

// TestManyChains on one machine: packets of some come once each where they are to, while others are
// made, changed and removed, then those of each that is left, and no function counts those of another chain.
func TestManyChains(t *testing.T) {
	needsForwarder(t)
	const many, busy = 100, 5
	var plans []*plan.Plan
	var streaming []*streaming
	for n := range many {
		owner := nstest.Owner(t)
		downAfter(t, owner)
		p := small(t, n, owner)
		kept(t, p)
		plans = append(plans, p)
		if n%(many/busy) == 0 {
			crosses(t, p)
			streaming = append(streaming, streams(t, p, addresses(p, p.Client().Name, p.Server().Name)))
		}
	}
	for n, p := range plans {
		unchanged(t, p)
		if n%10 == 5 { // one that is idle gets another node, and then goes
			other := planned(t, p.Chain, forwarders["tcx"]+spec(forward("new"), inline("count")))
			up(t, other)
			crosses(t, other)
			down(t, p.Chain)
		}
	}
	for _, s := range streaming {
		s.more(t, 100)
		s.ends(t)
	}
	var idle, left []*plan.Plan
	for n, p := range plans {
		if n%10 == 5 {
			continue
		}
		if left = append(left, p); n%(many/busy) != 0 {
			idle = append(idle, p)
		}
	}
	const packets = 100
	countsOwn(t, idle, 0)
	eachCarries(t, left, packets)
	countsOwn(t, idle, packets*uint64(len(addresses(idle[0], idle[0].Client().Name, idle[0].Server().Name))))
}

// BenchmarkManyChains makes a thousand chains, and tells what the last of them took, and an update when
// they are there; packets of each come where they are to.
func BenchmarkManyChains(b *testing.B) {
	nstest.Root(b)
	const many = 1000
	for b.Loop() {
		var owners []string
		var plans []*plan.Plan
		began := time.Now()
		for n := range many {
			owner := nstest.Owner(b)
			owners, plans = append(owners, owner), append(plans, small(b, n, owner))
			kept(b, plans[n])
		}
		b.ReportMetric(time.Since(began).Seconds(), "up-s")
		eachCarries(b, plans, 100)
		countsOwn(b, plans, 200)
		last := planned(b, owners[many-1], forwarders["tcx"]+spec(inline("count")))
		b.ReportMetric(float64(timed(b, func() error { kept(b, last); return nil }).Milliseconds()), "update-ms")
		b.ReportMetric(timed(b, func() error {
			for _, owner := range owners {
				if _, err := (&deploy.Deployer{}).Down(context.Background(), owner); err != nil {
					return err
				}
			}
			return nil
		}).Seconds(), "down-s")
	}
}
