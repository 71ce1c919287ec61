package deploy_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/deploy"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan"
)

func dryUp(t *testing.T, p *plan.Plan) []string {
	t.Helper()
	d := &deploy.Deployer{DryRun: true}
	changes, err := d.Up(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return changed(p, changes)
}

// TestDryRun says what Up then does, and does nothing.
func TestDryRun(t *testing.T) {
	needs(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	for _, s := range []string{
		spec(forward("a"), firewall, shaper, classes),
		spec(forward("a"), firewall, bucket, iptables),
		"mtu: 9000\n" + spec(firewall),
	} {
		p := planned(t, owner, s)
		said := dryUp(t, p)
		if again := dryUp(t, p); !slices.Equal(again, said) {
			t.Errorf("a dry run changed something: %v then %v", said, again)
		}
		// What goes with an interface that is made anew is then found missing.
		done := up(t, p)
		for _, c := range said {
			op, id, _ := strings.Cut(c, " ")
			if op != "delete" && !slices.ContainsFunc(done, func(d string) bool { return strings.HasSuffix(d, " "+id) }) {
				t.Errorf("said and not done: %s", c)
			}
		}
		if after := dryUp(t, p); len(after) > 0 {
			t.Errorf("a chain that is up would be changed: %v", after)
		}
	}
}

// TestInterrupted stops before it begins, and says so.
func TestInterrupted(t *testing.T) {
	needs(t)
	p := planned(t, nstest.Owner(t), spec(forward("a")))
	downAfter(t, p.Chain)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &deploy.Deployer{}
	if _, err := d.Up(ctx, p); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := d.Down(t.Context(), p.Chain); err != nil {
		t.Error(err)
	}
	if n, err := d.Down(t.Context(), p.Chain); n != 0 || err != nil {
		t.Error("what is gone is gone:", n, err)
	}
}

// TestDryRunTellsOnce what an edit changes, of which packets that pass have some made before others.
func TestDryRunTellsOnce(t *testing.T) {
	needsForwarder(t)
	owner := nstest.Owner(t)
	downAfter(t, owner)
	from := func(address string) *plan.Plan {
		return planned(t, owner, "wiring: ebpf\n"+spec(forward("a"), translating("nat: {source: {addresses: ["+address+"]}}"), forward("b")))
	}
	up(t, from("203.0.113.8"))
	edited := from("203.0.113.9")
	said := slices.Sorted(slices.Values(dryUp(t, edited)))
	if done := slices.Sorted(slices.Values(up(t, edited))); len(said) < 4 || !slices.Equal(said, done) {
		t.Errorf("said %v, and done %v", said, done)
	}
}
