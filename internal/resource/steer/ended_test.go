package steer_test

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// came is what the western port counted, when so many packets have ended there, or else a minute later.
func (d *dealer) came(t testing.TB, ended uint64) steer.Came {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		all, err := steer.Count(resource.At(d.Handle, d.Owner))
		if err != nil {
			t.Fatal(err)
		}
		if c := all["west"]; c.Ended.Packets >= ended || time.Now().After(deadline) {
			return c
		}
	}
}

// TestEndedAreCountedApart from packets that were sent on, whichever program a port has, and one that comes in the place of another
// counts on.
func TestEndedAreCountedApart(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		size := uint64(len(flow{}.packet(0)))
		west := func(to string) steer.Spec { return steer.Spec{Device: "west", To: to, Hook: hook} }
		parts := west("first")
		parts.Branch = &steer.Branch{Node: "own", Number: 100, Ways: []steer.BranchWay{{Node: "first", Number: 101, Port: "first"}}, Flows: 1 << 12}
		var ended steer.Counts
		for _, c := range []struct {
			what string
			put  func()
		}{
			{"plain", func() { d.apply(t, resource.Update, west("first")) }},
			{"with replicas", func() { d.apply(t, resource.Update, steer.Spec{Device: "west", Among: among(1, 2), Hook: hook}) }},
			{"plain again", func() { d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook)) }},
			{"where flows stay", func() { d.turn(t, wanted(shared...), leads("west", "second", hook), leads("east", "second", hook)) }},
			{"where all go the newest path", func() { d.turn(t, steer.Kind{}, leads("west", "second", hook), leads("east", "second", hook)) }},
			{"where ways part", func() { d.apply(t, resource.Update, parts) }},
			{"plain at last", func() { d.apply(t, resource.Update, west("first")) }},
		} {
			c.put()
			before := d.came(t, 0)
			d.comes(t, flow{id: 1})
			if now := d.came(t, 0); before.Ended != ended || now.Ended != before.Ended || now.Packets == before.Packets {
				t.Fatalf("%s: %+v, and when a packet was sent on %+v; %+v had ended", c.what, before, now, ended)
			}
			d.port(t, "west", func(p *steer.Port) error {
				if p.Parts() {
					return p.SetNodes(map[uint32]steer.Node{101: {Fails: steer.Ends}})
				}
				return p.SetInstead(steer.Nowhere)
			})
			before = d.came(t, 0)
			dropped := nstest.Dropped(t)
			for range 3 {
				d.number++
				d.west.send(t, flow{id: 1}.packet(d.number))
			}
			now := d.came(t, ended.Packets+3)
			n := now.Ended.Packets - ended.Packets
			if nstest.Amiss(t, n, 3, dropped) || now.Ended.Bytes != now.Ended.Packets*size || now.Packets < before.Packets+n {
				t.Fatalf("%s: 3 packets of %d bytes ended after %+v: %+v, then %+v", c.what, size, ended, before, now)
			}
			ended = now.Ended
			d.port(t, "west", func(p *steer.Port) error { return p.TurnBack() })
		}
	})
}
