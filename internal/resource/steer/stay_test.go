package steer_test

import (
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// leads from one port to another, where flows stay.
func leads(from, to, hook string) steer.Spec {
	return steer.Spec{Device: from, To: to, Hook: hook, Stay: &steer.Stay{Flows: 1 << 14, Idle: api.Duration(time.Hour)}}
}

// turn ports at once.
func (f *forwarder) turn(t testing.TB, k steer.Kind, specs ...steer.Spec) {
	t.Helper()
	f.Place = resource.At(f.Handle, f.Owner)
	var changes []resource.Change
	for _, s := range specs {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	if err := k.Apply(f.Place, changes); err != nil {
		t.Fatal(err)
	}
	found := f.read(t)
	for _, s := range specs {
		if !k.Leave && found[s.Device] != s.Fingerprint() {
			t.Fatalf("%s reads back %q, want %q", s.Device, found[s.Device], s.Fingerprint())
		}
	}
}

// on tells whether flows are all at one place, both ways.
func (d *dealer) on(t testing.TB, place int, all []flow) {
	t.Helper()
	if n := by(d.places(t, all)); n[place] != len(all) {
		t.Errorf("%d flows are at %v, want all at %d", len(all), n, place)
	}
}

// TestFlowsStayOnTheirPath while ports are turned, and go the new one when they are no longer
// left. A port that is not turned knows the new path, too.
func TestFlowsStayOnTheirPath(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		side := leads("third", "west", hook)
		d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook), side)
		old := flows(0, 10)
		d.on(t, 1, old)
		turned := []steer.Spec{leads("west", "second", hook), leads("east", "second", hook)}
		d.turn(t, steer.Kind{Leave: true}, turned...)
		d.on(t, 1, old)
		fresh := flow{id: 1000}
		d.replicas[2].pass(t, fresh.packet(0xdead0001), d.west)
		d.on(t, 2, append(flows(100, 110), fresh))
		d.on(t, 1, old)
		known := func() *steer.Flows {
			all, err := steer.FlowsOf(resource.At(d.Handle, d.Owner), append(slices.Clone(turned), side))
			if err != nil || all[steer.WholeChain] == nil {
				t.Fatal(all, err)
			}
			return all[steer.WholeChain]
		}
		if k := known(); len(k.Leaving) != 1 || k.Staying() != len(old) || k.Moved != 0 {
			t.Errorf("while flows stay: %+v", k)
		}
		d.turn(t, steer.Kind{}, turned...)
		d.on(t, 2, old)
		if k := known(); len(k.Leaving) != 0 || k.Moved != uint64(len(old)) {
			t.Errorf("when they have moved: %+v", k)
		}
		if found := d.read(t)["third"]; found != side.Fingerprint() {
			t.Errorf("a port beside is %q", found)
		}
	})
}

// TestManyVersions of the path follow each other, more than there are numbers for, with and
// without flows that are left.
func TestManyVersions(t *testing.T) {
	nstest.Require(t, feature.BPFTCX)
	d := newDealer(t)
	to := []string{"first", "second", "third"}
	for i := range 2*steer.Most + 3 {
		d.turn(t, steer.Kind{Leave: i%(steer.Most+5) > 0}, leads("west", to[i%3], steer.TCX), leads("east", to[i%3], steer.TCX))
	}
	last := (2*steer.Most + 2) % 3
	d.on(t, last+1, flows(0, 3))
	d.turn(t, steer.Kind{}, leads("west", to[last], steer.TCX), leads("east", to[last], steer.TCX))
	d.turn(t, steer.Kind{}, steer.Spec{Device: "west", To: "first", Hook: steer.TCX}, leads("east", "first", steer.TCX))
	d.on(t, 1, flows(0, 3))
}
