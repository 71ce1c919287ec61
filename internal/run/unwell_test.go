package run_test

import (
	"context"
	"strings"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/run"
	"nfchain.dev/nfchain/internal/trial"
)

// failing tells whether a function of the chain has failed.
func (b *bed) failing() bool {
	w, err := run.OnWatch(b.name())
	return err == nil && len(w.Failing()) > 0
}

// well tells whether the one function that is watched is well, as was seen both ways.
func (b *bed) well() bool {
	_, functions, err := process.OnWatch(b.name())
	return err == nil && len(functions) == 1 && functions[0].State == process.Healthy && len(functions[0].Proven) == 2
}

// TestChainIsMeasuredWhenItIsWell again: a function that was made good is waited for, and of one that stays failed it is said that it has.
func TestChainIsMeasuredWhenItIsWell(t *testing.T) {
	nstest.Require(t, feature.BPFPeer, feature.BPFClsact, feature.NFTables, feature.ToolNFT, feature.ToolIP)
	b := newBed(t, "wiring: ebpf\nfunctions: [{name: a, kind: forward, onFailure: bypass}, {name: b, kind: forward}]\n")
	b.up(run.UpOptions{Wait: true})
	b.until("it is watched, and well", b.well) // who was never well has not failed
	measured := func() (warnings string, err error) {
		m, r := b.measurement(load(1, trial.UDP), tool{sampled})
		m.Keep = true
		err = m.Run(context.Background(), r)
		return strings.Join(b.stored(r.ID).Warnings, "; "), err
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
		b.until("it has failed", b.failing)
		warnings, err := measured()
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("after %s: %v", c.harm, err)
		}
		if strings.Contains(warnings, "a has failed (") != (c.wrong != "") {
			t.Errorf("after %s the warnings are %s", c.harm, warnings)
		}
	}
}
