package steer_test

import (
	"testing"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// seated is a program with the replicas of "web" at its first seat.
func seated(t *testing.T) *steer.Entered {
	t.Helper()
	e := between(t)
	of := among(1, 2, 3)
	if _, err := e.Seat(*of, []uint32{11, 12, 13}); err != nil {
		t.Fatal(err)
	}
	return e
}

func between(t *testing.T) *steer.Entered {
	t.Helper()
	nstest.Require(t, feature.Root, feature.BPFPeer)
	paths := steer.Paths{Ways: []steer.Way{{Path: "web", Number: 9, Of: "web"}}, Usual: "web", Flows: 1 << 16, Idle: 1 << 40}
	e, err := steer.Between(paths, []uint32{steer.Replicas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// TestSeatOfAnotherVersion is kept, without its table where this version has others.
func TestSeatOfAnotherVersion(t *testing.T) {
	old := seated(t)
	if seat, has, knows, err := between(t).Follow(old, "web"); err != nil || seat != 0 || !has || !knows {
		t.Errorf("of this version: seat %d, %t, with a table %t, error %v", seat, has, knows, err)
	}
	if err := old.Otherwise("web"); err != nil {
		t.Fatal(err)
	}
	if seat, has, knows, err := between(t).Follow(old, "web"); err != nil || seat != 0 || !has || knows {
		t.Errorf("of another version: seat %d, %t, with a table %t, error %v", seat, has, knows, err)
	}
}

// TestSeatIsCleared of what was counted for the function that had it.
func TestSeatIsCleared(t *testing.T) {
	e := seated(t)
	anyFrames(func(frame []byte) { steered(t, e.Program, frame) })
	before, err := e.Dealt()
	if err != nil || before == 0 {
		t.Fatalf("%d packets, error %v", before, err)
	}
	if err := e.Clear(); err != nil {
		t.Fatal(err)
	}
	if after, err := e.Dealt(); err != nil || after != 0 {
		t.Errorf("of %d packets %d are another function's, error %v", before, after, err)
	}
}

// TestSeatIsLeft when the older paths that lead there are forgotten, and not before; others are kept.
func TestSeatIsLeft(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.Place = resource.At(d.Handle, d.Owner)
		web, other := *among(1, 2), *among(3)
		other.Of = "other"
		lead := func(k steer.Kind, path string, ways []steer.Way, among ...steer.Among) {
			t.Helper()
			specs := classified(hook, steer.Choice{Otherwise: path}, ways)
			for i := range specs {
				specs[i].Stay, specs[i].Paths.Among = leads("west", "third", hook).Stay, among
			}
			d.turn(t, k, specs...)
		}
		seats := func(web, other bool) {
			t.Helper()
			for _, at := range []string{"west", "east"} {
				d.port(t, at, func(p *steer.Port) error {
					if _, is := p.Shared("web"); is != web {
						t.Errorf("%s leads to web: %t", at, is)
					}
					if _, is := p.Shared("other"); is != other {
						t.Errorf("%s leads to another: %t", at, is)
					}
					return nil
				})
			}
		}
		to := []steer.Way{{Path: "web", Number: 7, Of: "web"}, {Path: "other", Number: 9, Of: "other"}}
		lead(steer.Kind{}, "web", to, web, other)
		old := flows(0, 6)
		was := d.places(t, old)
		lead(wanted(shared...), "other", to[1:], other)
		d.on(t, 3, flows(20, 24))
		for f, at := range d.places(t, old) {
			if at != was[f] {
				t.Errorf("%+v was at replica %d, and is at %d", f, was[f], at)
			}
		}
		seats(true, true)
		if err := steer.Unite(d.Place); err != nil {
			t.Fatal(err)
		}
		seats(false, true)
		d.on(t, 3, old)
		d.on(t, 3, flows(20, 24))
	})
}
