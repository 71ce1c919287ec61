package deploy_test

import (
	"fmt"
	"testing"

	"nfchain.dev/nfchain/internal/feature"
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
			dropped := nstest.Dropped(t)
			both, one := listen(t, namespace.Name(owner, "m.tap")), listen(t, namespace.Name(owner, "n.tap"))
			there, back := 0, 0
			for _, family := range []int{0, 1} {
				there += carried(t, p.Client(), p.Server(), p.Server().West.Addresses[family], packets/2)
				back += carried(t, p.Server(), p.Client(), p.Client().East.Addresses[family], packets/2)
			}
			if there != packets || back != packets {
				t.Errorf("%d and %d packets of %d arrived at the ends", there, back, packets)
			}
			if seen := captured(t, both, 2*packets); nstest.Amiss(t, seen["forward"], packets, dropped) || nstest.Amiss(t, seen["reverse"], packets, dropped) {
				t.Errorf("captured %v, want %d of either", seen, packets)
			}
			if seen := captured(t, one, packets); seen["forward"] != 0 || nstest.Amiss(t, seen["reverse"], packets, dropped) {
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

// TestMirrorsByAddress copy what comes from a prefix, and what goes to another, whichever way that is.
func TestMirrorsByAddress(t *testing.T) {
	needsForwarder(t)
	nstest.Require(t, feature.Redirect)
	const packets = 5
	for name, mirrors := range map[string][2]string{"netns": {forwarders["tcx"], ""}, "inline": {forwarders["tcx"], ", runtime: inline"}, "veth": {"wiring: veth\n", ""}} {
		t.Run(name, func(t *testing.T) {
			owner := nstest.Owner(t)
			downAfter(t, owner)
			client := planned(t, owner, mirrors[0]+spec(forward("a"))).Client().East.Addresses
			p := planned(t, owner, mirrors[0]+spec(forward("a"),
				fmt.Sprintf("{name: m, kind: mirror%s, mirror: {source: %s/32}}", mirrors[1], client[0]),
				fmt.Sprintf("{name: n, kind: mirror%s, mirror: {destination: \"%s\"}}", mirrors[1], client[1])))
			up(t, p)
			unchanged(t, p)
			crosses(t, p)
			dropped := nstest.Dropped(t)
			from, to := listen(t, namespace.Name(owner, "m.tap")), listen(t, namespace.Name(owner, "n.tap"))
			for family := range client {
				there := carried(t, p.Client(), p.Server(), p.Server().West.Addresses[family], packets)
				back := carried(t, p.Server(), p.Client(), p.Client().East.Addresses[family], packets)
				if there != packets || back != packets {
					t.Errorf("%d and %d packets of %d arrived at the ends", there, back, packets)
				}
			}
			if seen := captured(t, from, packets); nstest.Amiss(t, seen["forward"], packets, dropped) || seen["reverse"] != 0 {
				t.Errorf("of what comes from %s, captured %v, want %d", client[0], seen, packets)
			}
			if seen := captured(t, to, packets); seen["forward"] != 0 || nstest.Amiss(t, seen["reverse"], packets, dropped) {
				t.Errorf("of what goes to %s, captured %v, want %d", client[1], seen, packets)
			}
		})
	}
}
