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
// made, changed and removed, and no function counts those of another chain.
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
	for n, p := range plans {
		if n%10 == 5 || n%(many/busy) == 0 {
			continue
		}
		// The kernel sends something of its own when a link comes up.
		if c := taken(t, p, p.Inline[0].Forward); c.Packets > 50 {
			t.Errorf("chain %d, which is idle, counted %d packets", n, c.Packets)
		}
	}
}

// BenchmarkManyChains makes a thousand chains, and tells what the last of them took, and an update when
// they are there.
func BenchmarkManyChains(b *testing.B) {
	nstest.Root(b)
	const many = 1000
	for b.Loop() {
		var owners []string
		began := time.Now()
		for n := range many {
			owner := nstest.Owner(b)
			owners = append(owners, owner)
			kept(b, small(b, n, owner))
		}
		b.ReportMetric(time.Since(began).Seconds(), "up-s")
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
