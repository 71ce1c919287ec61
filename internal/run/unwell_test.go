package run_test

import (
	"context"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// TestChainIsMeasuredWhenItIsWell again: a function that was made good is waited for, and of one that stays failed it is said that it has.
func TestChainIsMeasuredWhenItIsWell(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.NFTables, feature.ToolNFT, feature.ToolIP)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, onFailure: bypass}, {name: b, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	failing := func() bool {
		w, err := run.OnWatch(b.name())
		return err == nil && len(w.Failing()) > 0
	}
	measured := func() error {
		m, r := b.measurement(load(1, trial.UDP), tool{sampled})
		m.Keep = true
		return m.Run(context.Background(), r)
	}
	at, err := netns.Open(b.planned().Functions()[0].Namespace)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	for _, c := range []struct{ harm, wrong string }{
		{"ip link set eth1 down", ""},
		{"nft add table ip other '{ chain f { type filter hook forward priority 0; policy drop; }; }'", "traffic does not pass a (of 8 marked packets there and back, a passed 0 and 0 on); a has failed ("},
	} {
		b.shell(at, c.harm)
		b.until("it has failed", failing)
		if err := measured(); (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("after %s: %v", c.harm, err)
		}
	}
}
