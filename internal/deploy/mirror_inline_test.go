package deploy_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/namespace"
)

// TestInlineMirrors copy what passes in their direction, once, while it goes on; each has a tap, which goes with
// it.
func TestInlineMirrors(t *testing.T) {
	needsForwarder(t)
	const packets = 10
	for hook, wiring := range forwarders {
		t.Run(hook, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			p := planned(t, owner, wiring+spec(forward("a"), "{name: m, kind: mirror, runtime: inline}", "{name: n, kind: mirror, direction: reverse, runtime: inline, mirror: {protocol: udp, port: 7002}}"))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			both, one := listen(t, namespace.Name(owner, "m.tap")), listen(t, namespace.Name(owner, "n.tap"))
			there, back := 0, 0
			for _, family := range []int{0, 1} {
				there += carried(t, p.Client(), p.Server(), p.Server().West.Addresses[family], packets/2)
				back += carried(t, p.Server(), p.Client(), p.Client().East.Addresses[family], packets/2)
			}
			if there != packets || back != packets {
				t.Errorf("%d and %d packets of %d arrived at the ends", there, back, packets)
			}
			if seen := captured(t, both, 2*packets); seen["forward"] != packets || seen["reverse"] != packets {
				t.Errorf("captured %v, want %d of either", seen, packets)
			}
			if seen := captured(t, one, packets); seen["forward"] != 0 || seen["reverse"] != packets {
				t.Errorf("captured %v, want %d in reverse", seen, packets)
			}
			p = planned(t, owner, wiring+spec(forward("a"), "{name: n, kind: mirror, runtime: inline}"))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			if netns.Exists(namespace.Name(owner, "m.tap")) || !netns.Exists(namespace.Name(owner, "n.tap")) {
				t.Error("the tap of a mirror that went is there, or that of one that stays is not")
			}
		})
	}
}
