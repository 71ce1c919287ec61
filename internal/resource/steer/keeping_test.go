package steer_test

import (
	"fmt"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// deals out among replicas, where flows stay.
func deals(from, hook string, census api.Duration, numbers ...int) steer.Spec {
	s := steer.Spec{Device: from, Among: among(numbers...), Hook: hook}
	s.Stay = &steer.Stay{Flows: 1 << 14, Idle: api.Duration(time.Hour), Census: census}
	return s
}

// parts ways, to one of which labels lead, where flows stay.
func parts(from, hook string, back bool, census api.Duration, to string, others ...string) steer.Spec {
	s := steer.Spec{Device: from, To: to, Hook: hook, Branch: &steer.Branch{Node: from, Number: 100, Back: back, Flows: 1 << 14}}
	for i, port := range append([]string{to}, others...) {
		s.Branch.Ways = append(s.Branch.Ways, steer.BranchWay{Node: port, Number: uint32(200 + i), Port: port})
	}
	s.Stay = &steer.Stay{Flows: 1 << 14, Idle: api.Duration(time.Hour), Census: census}
	return s
}

// TestKilledUpdatesGoOn: who turns ports that lead to replicas, or by which ways part, and is killed at any place, leaves all flows where they were,
// new ones too; who comes next has those go the new way, and others stay.
func TestKilledUpdatesGoOn(t *testing.T) {
	hook := itsHook()
	plain := func(d *dealer, census api.Duration) []steer.Spec {
		west, east := leads("west", "first", hook), leads("east", "first", hook)
		west.Stay.Census, east.Stay.Census = census, census
		return []steer.Spec{west, east}
	}
	for name, to := range map[string]func(census api.Duration) []steer.Spec{
		"to replicas": func(census api.Duration) []steer.Spec {
			return []steer.Spec{deals("west", hook, census, 2), deals("east", hook, census, 2)}
		},
		"to ways that part": func(census api.Duration) []steer.Spec {
			return []steer.Spec{parts("west", hook, false, census, "second", "third"), parts("east", hook, true, census, "second")}
		},
	} {
		for killed := range 3 {
			t.Run(fmt.Sprintf("%s, when %d ports were turned", name, killed), func(t *testing.T) {
				d := newDealer(t)
				all := wanted(shared...)
				d.turn(t, steer.Kind{}, plain(d, 0)...)
				old := flows(0, 10)
				census := d.census(t, 1, old)
				before := steer.Soon(time.Duration(census))
				t.Cleanup(func() { steer.Soon(before) })
				specs := to(census)
				var changes, left []resource.Change
				for i, s := range specs {
					c := resource.Change{Op: resource.Update, Key: s.Device, Spec: s}
					if changes = append(changes, c); i >= killed {
						left = append(left, c)
					}
				}
				if err := all.Killed(resource.At(d.Handle, d.Owner), killed, changes); err != nil {
					t.Fatal(err)
				}
				d.on(t, 1, old)
				d.on(t, 1, flows(50, 60))
				if err := all.Apply(resource.At(d.Handle, d.Owner), left); err != nil {
					t.Fatal(err)
				}
				if older, err := steer.ForgetLost(resource.At(d.Handle, d.Owner)); !older || err != nil {
					t.Fatalf("no flow stays: %v", err)
				}
				d.on(t, 1, old)
				time.Sleep(d.staying(t).Census)
				d.on(t, 1, old)
				d.on(t, 2, flows(100, 110))
				found := d.read(t)
				for _, s := range specs {
					if found[s.Device] != s.Fingerprint() {
						t.Errorf("%s reads back %q, want %q", s.Device, found[s.Device], s.Fingerprint())
					}
				}
				if err := steer.Unite(resource.At(d.Handle, d.Owner)); err != nil {
					t.Fatal(err)
				}
				d.on(t, 2, append(old, flows(100, 110)...))
				if s, err := steer.StayingOn(resource.At(d.Handle, d.Owner)); s != nil || err != nil {
					t.Errorf("all go the newest path: %+v, %v", s, err)
				}
			})
		}
	}
}

// TestMovedThoughAnUpdateWasKilled: who has all flows go the newest path, as when a function fails, has them go the one that was being made
// when who turned ports was killed, for only there packets are led past what fails.
func TestMovedThoughAnUpdateWasKilled(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	all := wanted(shared...)
	d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook))
	old := flows(0, 10)
	census := d.census(t, 1, old)
	var changes []resource.Change
	for _, s := range []steer.Spec{deals("west", hook, census, 2), deals("east", hook, census, 2)} {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	if err := all.Killed(resource.At(d.Handle, d.Owner), len(changes), changes); err != nil {
		t.Fatal(err)
	}
	d.on(t, 1, old)
	if _, err := steer.ForgetOlder(resource.At(d.Handle, d.Owner)); err != nil {
		t.Fatal(err)
	}
	d.on(t, 2, append(old, flows(50, 60)...))
}

// TestFlowsStayThroughManyVersions at ports that lead to one node, then to replicas, then by ways that part, and back.
func TestFlowsStayThroughManyVersions(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		all := wanted(shared...)
		west, east := leads("west", "first", hook), leads("east", "first", hook)
		d.turn(t, steer.Kind{}, west, east)
		first := flows(0, 5)
		census := d.census(t, 1, first)
		west, east = leads("west", "second", hook), leads("east", "second", hook)
		west.Stay.Census, east.Stay.Census = census, census
		d.turn(t, all, west, east) // by plain ports
		d.on(t, 1, first)
		time.Sleep(d.staying(t).Census)
		second := flows(100, 105)
		d.on(t, 2, second)
		d.turn(t, all, deals("west", hook, census, 3), deals("east", hook, census, 3))
		d.on(t, 1, first)
		d.on(t, 2, second)
		time.Sleep(d.staying(t).Census)
		third := flows(200, 205)
		d.on(t, 3, third)
		d.turn(t, all, parts("west", hook, false, census, "first", "second"), parts("east", hook, true, census, "first"))
		d.on(t, 3, third)
		d.on(t, 1, first)
		d.on(t, 2, second)
		time.Sleep(d.staying(t).Census)
		d.on(t, 1, flows(300, 305))
		west, east = leads("west", "second", hook), leads("east", "second", hook)
		west.Stay.Census, east.Stay.Census = census, census
		d.turn(t, all, west, east)
		d.on(t, 3, third)
		d.on(t, 1, append(first, flows(300, 305)...))
		time.Sleep(d.staying(t).Census)
		d.on(t, 2, append(second, flows(400, 405)...))
		if s := d.staying(t); s.Flows != 40 || s.Moved+s.Unkept != 0 {
			t.Errorf("on older versions: %+v", s)
		}
		if flows, err := steer.ForgetOlder(resource.At(d.Handle, d.Owner)); err != nil || flows != 40 {
			t.Errorf("%d flows moved, error %v", flows, err)
		}
		d.on(t, 2, append(first, third...))
	})
}
