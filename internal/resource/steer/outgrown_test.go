package steer_test

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// change ports as specs say.
func (f *forwarder) change(t testing.TB, specs ...steer.Spec) {
	t.Helper()
	var changes []resource.Change
	for _, s := range specs {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	if err := (steer.Kind{}).Apply(resource.At(f.Handle, f.Owner), changes); err != nil {
		t.Fatal(err)
	}
	found := f.read(t)
	for _, s := range specs {
		if found[s.Device] != s.Fingerprint() {
			t.Errorf("%s reads back %q, want %q", s.Device, found[s.Device], s.Fingerprint())
		}
	}
}

// TestReplicasWithOtherRoomMeanwhile: what one port enters in a table of flows while another has one of another size already,
// all ports know when all have that; where both know a flow, as the one has it that saw it last.
func TestReplicasWithOtherRoomMeanwhile(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		for _, room := range []uint32{1 << 15, 1 << 13} {
			d := newDealer(t)
			at := func(port string, room uint32, numbers ...int) steer.Spec {
				a := among(numbers...)
				a.Flows = room
				return steer.Spec{Device: port, Among: a, Hook: hook}
			}
			d.change(t, at("west", 1<<14, 1), at("east", 1<<14, 1))
			known, fresh := flows(0, 12), flows(100, 112)
			for _, f := range known {
				d.comes(t, f)
			}
			d.change(t, at("west", room, 1, 2, 3))
			d.change(t, at("east", 1<<14, 2)) // flows move
			for _, f := range slices.Concat(known, fresh) {
				f.back = true
				if n := d.comes(t, f); n != 2 {
					t.Fatalf("%+v is at replica %d", f, n)
				}
			}
			d.change(t, at("east", room, 1, 2, 3))
			for _, f := range slices.Concat(known, fresh) {
				if n := d.comes(t, f); n != 2 {
					t.Errorf("with room for %d: %+v went to replica 2, and goes to %d", room, f, n)
				}
			}
		}
	})
}

// TestPathsWithOtherRoomMeanwhile: the same for the paths of flows.
func TestPathsWithOtherRoomMeanwhile(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		for _, room := range []uint32{1 << 15, 1 << 13} {
			d := newDealer(t)
			by := func(otherwise string, room uint32) []steer.Spec {
				all := classified(hook, byIDs(nil, otherwise), waysTo("a", "a b", ""))
				for i := range all {
					all[i].Paths.Flows = room
				}
				return all
			}
			d.change(t, by("a b", 1<<14)...)
			d.change(t, by("a b", room)[0])
			for _, f := range flows(0, 6) {
				f.back = true
				if n := d.comes(t, f); n != 2 {
					t.Fatalf("%+v is at %d", f, n)
				}
			}
			d.change(t, by("a", room)...)
			d.at(t, 2, flows(0, 6)...)
			d.at(t, 1, flows(6, 9)...)
		}
	})
}

// TestAnswersComeBackWithOtherRoomMeanwhile: the same for the ways that flows came where some come together.
func TestAnswersComeBackWithOtherRoomMeanwhile(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		for _, room := range []uint32{1 << 15, 1 << 13} {
			specs := branches(hook)
			p := newParter(t, specs)
			for i := range specs {
				specs[i].Branch.Flows = room
			}
			p.change(t, specs[0], specs[3])
			for i, f := range flows(0, 6) {
				p.sends(t, 1+i%2, 0, f.packet)
			}
			p.change(t, specs[1], specs[2])
			for i, f := range flows(0, 6) {
				f.back = true
				if at := p.sends(t, 3, 0, f.packet); at != 1+i%2 {
					t.Errorf("with room for %d: %+v goes back by %s, and came by %s", room, f, parted[at], parted[1+i%2])
				}
			}
		}
	})
}
