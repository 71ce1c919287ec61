package steer_test

import (
	"maps"
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// port is held open while do is done with it.
func (f *forwarder) port(t testing.TB, name string, do func(*steer.Port) error) {
	t.Helper()
	p, err := steer.OpenPort(resource.At(f.Handle, f.Owner), name)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := do(p); err != nil {
		t.Fatal(err)
	}
}

// fail tells both ports of the replicas, by their numbers, that some of them do.
func (d *dealer) fail(t testing.TB, failing steer.Numbers, numbers ...int) {
	t.Helper()
	for _, port := range []string{"west", "east"} {
		d.port(t, port, func(p *steer.Port) error {
			if err := p.SetFailing("web", failing, steer.SharesWithout(failing, among(numbers...).Replicas)); err != nil {
				return err
			}
			_, shares := p.Shared("web")
			if now, err := p.Failing("web"); err != nil || now != failing || !shares {
				t.Errorf("%s shares %v, and keeps from %b, error %v; want %b", port, shares, now, err, failing)
			}
			return nil
		})
	}
}

// TestFlowsOfTheFailing go to others, both ways, and stay there; those of others stay where they are,
// and one that is well again gets new flows.
func TestFlowsOfTheFailing(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		all := flows(0, 30)
		at := d.places(t, all)
		d.fail(t, steer.Number(2), 1, 2, 3)
		without := d.places(t, all)
		for f, n := range without {
			if was := at[f]; n == 2 || was != 2 && n != was {
				t.Errorf("%+v moved from %d to %d, when 2 failed", f, was, n)
			}
		}
		if n := by(d.places(t, flows(100, 130))); n[1] == 0 || n[2] > 0 || n[3] == 0 {
			t.Errorf("new flows while 2 fails: %v", n)
		}
		if k := d.known(t, 1, 2, 3); k.Moved != uint64(by(at)[2]) || len(k.Leaving) > 0 {
			t.Errorf("%+v, want %d moved", k, by(at)[2])
		}
		d.both(t, steer.Kind{}, hook, 1, 2) // as an `up` does meanwhile
		for f, n := range d.places(t, all) {
			if n != 1 {
				t.Errorf("%+v moved from %d to %d, when 2 failed and 3 was gone", f, without[f], n)
			}
		}
		d.fail(t, 0, 1, 2)
		if n := by(d.places(t, all)); n[1] != len(all) {
			t.Errorf("when 2 was well again, flows of 1 moved: %v", n)
		}
		if n := by(d.places(t, flows(200, 230))); n[1] == 0 || n[2] == 0 {
			t.Errorf("new flows when 2 was well again: %v", n)
		}
		d.fail(t, steer.Number(1)|steer.Number(2), 1, 2) // nobody is to say so, and it costs no packet
		d.places(t, flows(300, 303))
	})
}

// TestPastReplicas: a port with replicas is led elsewhere as others are, and one that is led past what it
// faces to the replicas behind that shares packets out there; the program that comes in its place goes on
// with that as far as it can.
func TestPastReplicas(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2)
		third, all := uint32(d.index(t, "third")), flows(0, 20)
		lead := func(to uint32) {
			for _, port := range []string{"west", "east"} {
				d.port(t, port, func(p *steer.Port) error { return p.SetInstead(to) })
			}
		}
		lead(third)
		if n := by(d.places(t, all)); n[3] != len(all) {
			t.Errorf("led past both: %v", n)
		}
		lead(steer.Nowhere)
		for range 3 {
			d.number++
			d.west.send(t, all[0].packet(d.number))
			if at := d.where(t, d.number); at != 0 {
				t.Errorf("led nowhere, a packet came to %d", at)
			}
		}
		lead(0)
		at := d.places(t, all)
		if n := by(at); n[1] == 0 || n[2] == 0 {
			t.Errorf("as planned: %v", n)
		}
		past := among(1, 2)
		for _, port := range []string{"west", "east"} {
			s := steer.Spec{Device: port, To: "third", Among: past, Hook: hook}
			d.apply(t, resource.Update, s)
			if found := d.read(t)[port]; found != s.Fingerprint() {
				t.Errorf("%s reads back %q, want %q", port, found, s.Fingerprint())
			}
		}
		if n := by(d.places(t, all)); n[3] != len(all) {
			t.Errorf("before replicas: %v", n)
		}
		lead(steer.Replicas)
		if again := d.places(t, all); !maps.Equal(at, again) {
			t.Errorf("led to replicas, flows moved from %v to %v", at, again)
		}
		d.apply(t, resource.Update, steer.Spec{Device: "west", To: "first", Hook: hook})
		d.port(t, "west", func(p *steer.Port) error {
			_, shares := p.Shared("web")
			if to, err := p.Instead(); err != nil || to != 0 || shares {
				t.Errorf("one that knows no replicas leads to %d, error %v", to, err)
			}
			return nil
		})
		f := slices.IndexFunc(all, func(f flow) bool { return at[f] == 2 })
		if n := d.comes(t, all[f]); n != 1 {
			t.Errorf("came to %d", n)
		}
	})
}
