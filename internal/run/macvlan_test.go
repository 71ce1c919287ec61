package run_test

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

func ip(t *testing.T, words string) {
	t.Helper()
	if out, err := exec.Command("ip", strings.Fields(words)...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v\n%s", words, err, out)
	}
}

// TestOverCard measures a chain over an interface of the host: the path is proven, and
// what is stored tells the mode, the devices, and how the interface itself is set.
func TestOverCard(t *testing.T) {
	nstest.Require(t, feature.Macvlan, feature.ToolIP)
	nstest.Root(t)
	card := nstest.Device(t)
	ip(t, "link add "+card+" mtu 1600 type veth peer name "+card+"p")
	t.Cleanup(func() { ip(t, "link del "+card) })
	ip(t, "link set "+card+"p up")

	b := newBed(t, "wiring: macvlan\nmacvlan: {parent: "+card+"}\nfunctions: [{name: a, kind: forward}]\n")
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	err := m.Run(context.Background(), r)
	if !errors.Is(err, run.ErrInput) || !strings.Contains(err.Error(), "parent "+card+": it is down") || netns.Exists("nfchain."+b.name()+".a") {
		t.Errorf("over an interface that is down: %v", err)
	}

	ip(t, "link set "+card+" up")
	nstest.Carries(t, nstest.Open(t, netns.Host), card)
	m, r = b.measurement(load(1, trial.TCP), tool{sampled})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	s := b.stored(r.ID).Setups[0]
	if s.Wiring != "macvlan" || s.WiringSettings["mode"] != "bridge" || s.WiringSettings["parent"] != card || len(s.Unread) > 0 {
		t.Errorf("set-up %+v", s)
	}
	kinds := map[string][]string{}
	for _, i := range s.Interfaces {
		kinds[i.Type] = append(kinds[i.Type], i.Interfaces...)
		if i.Type == "veth" && i.MTU != 1600 {
			t.Errorf("the card is said to have an mtu of %d", i.MTU)
		}
	}
	if len(kinds["macvlan"]) != 6 || !slices.Equal(kinds["veth"], []string{"host:" + card}) {
		t.Errorf("interfaces %v", kinds)
	}
}
