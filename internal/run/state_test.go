package run_test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/plan/plantest"
	"nfchain.dev/nfchain/internal/resource/namespace"
	"nfchain.dev/nfchain/internal/run"
)

// state is what there is of something by name.
func state(t *testing.T, h *run.Host, name string) run.State {
	t.Helper()
	p, err := h.Made(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := run.Inspect(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agrees checks that the list and the closer look say the same.
func (b *bed) agrees(want string) run.State {
	b.Helper()
	s := state(b.T, b.host, b.name())
	if l, _ := b.live(); l.State != want || s.State != want || l.Problem != "" {
		b.Errorf("listed %+v, looked at %s, want %s", l, s.State, want)
	}
	return s
}

// TestDrift has things go missing and be changed behind the chain's back.
func TestDrift(t *testing.T) {
	nstest.Require(t, feature.NFTables, feature.ToolNFT)
	b := newBed(t, "functions:\n- {name: fw, kind: firewall, firewall: {rules: {generate: 3}}}\n- {name: f1, kind: forward}\n")
	b.up(run.UpOptions{})
	b.agrees(run.StateUp)
	fw := namespace.Name(b.name(), "fw")
	for _, c := range []struct {
		command, state         string
		missing, differs, more []string
	}{
		{"ip netns exec " + fw + " nft flush chain inet nfchain-firewall forward", run.StateChanged,
			nil, []string{"ruleset:" + fw + ":nftables/nfchain-firewall/forward"}, nil},
		{"ip netns exec " + fw + " nft flush ruleset", run.StatePartial,
			[]string{"ruleset:" + fw + ":nftables/nfchain-firewall/forward"}, nil, nil},
		{"ip -n " + fw + " address add 192.0.2.1/24 dev eth0", run.StateChanged, nil, nil, []string{"address:" + fw + ":eth0=192.0.2.1"}},
	} {
		if out, err := exec.Command("sh", "-c", c.command).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		s := b.agrees(c.state)
		n := s.Nodes[1]
		if n.State != c.state || !slices.Equal(n.Missing, c.missing) && len(c.missing)+len(n.Missing) > 0 ||
			!slices.Equal(n.Differs, c.differs) && len(c.differs)+len(n.Differs) > 0 || !slices.Equal(n.Surplus, c.more) && len(c.more)+len(n.Surplus) > 0 {
			t.Errorf("after %s: %s %+v", c.command, n.State, n.Drift)
		}
		for _, other := range []run.NodeState{s.Nodes[0], s.Nodes[2], s.Nodes[3]} {
			if other.State != run.StateUp || other.Missing == nil {
				t.Errorf("after %s: %s is %s %+v", c.command, other.Name, other.State, other.Drift)
			}
		}
		b.up(run.UpOptions{})
		b.agrees(run.StateUp)
	}
}

// TestFunctionRemoved takes a standalone function away from under its chain.
func TestFunctionRemoved(t *testing.T) {
	alone := plantest.Function(t, nstest.Owner(t)+"-fw", "kind: firewall\nfirewall: {rules: {generate: 2}}\n")
	name := alone.Metadata.Name
	b := newBed(t, "functions: [{name: a, kind: forward}, {name: fw, ref: "+name+"}]")
	remove := func() {
		if _, err := b.host.Down(context.Background(), name); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(remove)
	if _, err := b.host.UpFunction(context.Background(), alone, run.UpOptions{}); err != nil {
		t.Fatal(err)
	}
	b.up(run.UpOptions{Alone: []api.StandaloneFunction{alone}})
	b.agrees(run.StateUp)
	if s := state(t, b.host, name); s.State != run.StateUp || s.Kind != "function" || len(s.Nodes) != 1 || len(s.Nodes[0].Rules) != 2 || len(s.Nodes[0].Interfaces) != 2 {
		t.Errorf("the function is %+v", s)
	}
	// With all that is known of it.
	if err := netns.Remove(namespace.Alone(name)); err != nil {
		t.Fatal(err)
	}
	remove()
	s := b.agrees(run.StatePartial)
	if fw := s.Nodes[2]; fw.State != run.StateMissing || len(fw.Missing) == 0 || !strings.Contains(fw.Missing[0], ":"+namespace.Alone(name)+":") {
		t.Errorf("%+v", s)
	}
}
