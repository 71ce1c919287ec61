package run_test

import (
	"context"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/trial"
)

// TestOverIPvlan measures two ends that ipvlan devices join: the path is proven, and what is
// stored tells how the devices are set. scripts/test-vm runs it where the kernel has no ipvlan.
func TestOverIPvlan(t *testing.T) {
	nstest.Require(t, feature.IPvlan)
	b := newBed(t, "wiring: ipvlan\nfunctions: []\n")
	m, r := b.measurement(load(1, trial.TCP), tool{sampled})
	if err := m.Run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	b.gone()
	s := b.stored(r.ID).Setups[0]
	if s.Wiring != "ipvlan" || s.WiringSettings["mode"] != "l2" || len(s.Unread) > 0 {
		t.Errorf("set-up %+v", s)
	}
	kinds := map[string]int{}
	for _, i := range s.Interfaces {
		kinds[i.Type] += len(i.Interfaces)
	}
	if kinds["ipvlan"] != 2 || kinds["veth"] != 2 {
		t.Errorf("interfaces %v", kinds)
	}
}
