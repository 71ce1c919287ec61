package pass

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// besides are the specs of one pass at several interfaces.
func besides(s Spec, devices ...string) (all []Spec) {
	for i, d := range devices {
		s.Device, s.Beside = d, slices.Delete(slices.Clone(devices), i, i+1)
		all = append(all, s)
	}
	return all
}

// applyAll at once.
func applyAll(t *testing.T, p resource.Place, op resource.Op, all []Spec) {
	t.Helper()
	var changes []resource.Change
	for _, s := range all {
		changes = append(changes, resource.Change{Op: op, Key: s.Device, Spec: s})
	}
	if err := (Kind{}).Apply(p, changes); err != nil {
		t.Fatal(op, err)
	}
}

// areOne fails unless all interfaces have one program, and the same counters.
func areOne(t *testing.T, p resource.Place, all []Spec) ebpf.ProgramID {
	t.Helper()
	readsBack(t, p, all...)
	first := programAt(t, p, all[0].Device)
	for _, s := range all[1:] {
		if other := programAt(t, p, s.Device); other != first {
			t.Errorf("%s has program %d, and %s %d", all[0].Device, first, s.Device, other)
		}
	}
	return first
}

// TestBesideIsOne: a pass at several interfaces counts and remembers as one, when all are made at once and when one comes later; when it is
// replaced by one with the same counters, or with others, or by one that does less, one interface after the other; and when one goes.
func TestBesideIsOne(t *testing.T) {
	p := pairIn(t, pairIn(t, place(t), "eth1", "far1"), "eth2", "far2")
	wall := Firewall{Name: "fw", Slot: 4, Policy: "accept"}
	spec := func(steps ...Step) (s Spec) {
		for _, step := range steps {
			s.Of = append(s.Of, map[uint32]string{1: "one", 2: "two", 3: "lose", 4: "fw"}[step.Slot])
			if step.Act == Rules {
				s.Firewalls, s.Connections = []Firewall{wall}, LeastConnections
			}
		}
		s.Steps = steps
		return s
	}
	one, two, lose, fw := NewCount(1), NewCount(2), NewDrop(3, Share{Every: 1 << 40}), NewRules(4)
	f := udp(1).frame
	counted := uint64(0)
	comes := func(devices ...string) {
		t.Helper()
		for _, d := range devices {
			sendMany(t, p, "far"+d[3:], f, 50)
		}
		want := counted + uint64(50*len(devices))
		c := until(t, p, devices[0], func(c Counts) bool { return c.Slots[1].Packets >= want })
		counted = c.Slots[1].Packets
	}
	applyAll(t, p, resource.Create, besides(spec(one, lose), "eth0", "eth1"))
	was := areOne(t, p, besides(spec(one, lose), "eth0", "eth1"))
	comes("eth0", "eth1")
	apply(t, p, resource.Create, besides(spec(one, lose), "eth2", "eth0", "eth1")[0])
	if all := besides(spec(one, lose), "eth0", "eth1", "eth2"); areOne(t, p, all) != was {
		t.Error("one that comes later has another program")
	}
	comes("eth0", "eth1", "eth2")
	for _, steps := range [][]Step{
		{one, two, lose},     // with the same counters
		{NewCount(2), lose},  // with those of another function there
		{one, fw, lose},      // with others
		{one, fw, two, lose}, // that knows connections
		{one, two, fw, lose}, // in another order
		{one, lose},          // and none
	} {
		if steps[0].Slot == 2 { // nothing counts in the slot of the first
			applyAll(t, p, resource.Update, besides(spec(steps...), "eth0", "eth1", "eth2"))
			areOne(t, p, besides(spec(steps...), "eth0", "eth1", "eth2"))
			counted = 0
			continue
		}
		all := besides(spec(steps...), "eth0", "eth1", "eth2")
		applyAll(t, p, resource.Update, all)
		areOne(t, p, all)
		comes("eth2", "eth0", "eth1")
	}
	all := besides(spec(one), "eth0", "eth1", "eth2") // does less
	for _, s := range all {
		apply(t, p, resource.Update, s)
	}
	areOne(t, p, all)
	comes("eth0", "eth1", "eth2")
	applyAll(t, p, resource.Delete, all[:1])
	areOne(t, p, all[1:])
	comes("eth1", "eth2")
}

// interrupted is one who puts a pass at several interfaces and is killed when it is at some of them.
func interrupted(t *testing.T, p resource.Place, all []Spec, put int) {
	t.Helper()
	n := &neighbours{place: p}
	defer n.close()
	err := p.Do(func() error {
		r, err := readied(p, all, n)
		if err != nil {
			return err
		}
		defer r.close()
		defer func() { _ = r.Close() }()
		const none = 1 << 20 // an interface that is not there
		at := slices.Clone(r.sites)
		if put == len(at) {
			at = append(at, site{none, at[0].all})
		} else {
			at[put].index = none
		}
		if err := r.putFor(p, at, all[0], n, false); err == nil {
			t.Error("nothing interrupts")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// holdsWhatIsTold fails unless a pass itself holds the counters that are told with its own: the pass that was replaced goes with the last
// program that does.
func holdsWhatIsTold(t *testing.T, p resource.Place, device string) {
	t.Helper()
	err := p.Do(func() error {
		dev, err := p.Device(device)
		if err != nil {
			return err
		}
		all, err := find(p, dev.Attrs().Index)
		defer held.CloseAll(all)
		if err != nil {
			return err
		}
		told, err := all[0].carrying()
		if err != nil {
			return err
		}
		info, err := all[0].Program.Info()
		if err != nil {
			return err
		}
		has, _ := info.MapIDs()
		for number := range told.before() {
			if !slices.Contains(has, ebpf.MapID(number)) {
				t.Errorf("what is told of map %d goes with another program: this one has maps %v", number, has)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPutAgain: where one who replaces a pass at several interfaces is killed at none, at some or at all of them, whoever comes next goes
// on with what all counted, of the functions that stay: with the same, with what was there, and with others. Nothing is lost, and nothing counted twice.
func TestPutAgain(t *testing.T) {
	one, two, away := NewCount(1), NewCount(2), NewCount(3)
	spec := func(of ...string) (s Spec) {
		names := map[string]uint32{"one": 1, "two": 2, "three": 3, "new": 2}
		for _, name := range of {
			s.Of, s.Steps = append(s.Of, name), append(s.Steps, NewCount(names[name]))
		}
		return s
	}
	moved := Spec{Of: []string{"two", "one"}, Steps: []Step{one, two}} // each counts where the other did
	for name, c := range map[string]struct {
		was, begun, then Spec
		// at is the slot in which "one" counts then, and fresh another that counts for nobody who was there.
		at, fresh uint32
	}{
		"the same, of other counters": {spec("one", "two"), moved, moved, 2, 0},
		"what was there":              {spec("one", "two"), moved, spec("one", "two"), 1, 0},
		"others":                      {spec("one", "two"), moved, Spec{Of: []string{"one"}, Steps: []Step{away}}, 3, 0},
		"the same, of these counters": {spec("one"), spec("one", "new"), spec("one", "new"), 1, 2},
		"another of these counters":   {spec("one", "two"), spec("one"), spec("one", "new"), 1, 2},
		"more, of other counters":     {spec("one", "two"), moved, Spec{Of: []string{"two", "one", "three"}, Steps: []Step{one, two, away}}, 2, 3},
	} {
		for put := range 4 {
			t.Run(fmt.Sprintf("%s/%d", name, put), func(t *testing.T) {
				const each, few = 200, 100 // the kernel says something of its own, too, but not so much
				p := pairIn(t, pairIn(t, place(t), "eth1", "far1"), "eth2", "far2")
				devices := []string{"eth0", "eth1", "eth2"}
				sent, dropped := uint64(0), nstest.Dropped(t)
				lost := func() uint64 { return nstest.Dropped(t) - dropped } // of others' packets most likely
				send := func() {
					for _, d := range devices {
						sendMany(t, p, "far"+d[3:], udp(1).frame, each)
						sent += each
					}
				}
				applyAll(t, p, resource.Create, besides(c.was, devices...))
				send()
				until(t, p, "eth0", func(c Counts) bool { return c.Slots[1].Packets+lost() >= sent })
				interrupted(t, p, besides(c.begun, devices...), put)
				send()
				changed := besides(c.then, devices...)
				if c.then.Fingerprint() == c.begun.Fingerprint() {
					changed = changed[put:] // those that are not so yet
				}
				if len(changed) > 0 {
					applyAll(t, p, resource.Update, changed)
				}
				areOne(t, p, besides(c.then, devices...))
				holdsWhatIsTold(t, p, "eth1")
				send()
				now := until(t, p, "eth1", func(now Counts) bool { return now.Slots[c.at].Packets+lost() >= sent })
				if n := now.Slots[c.at].Packets; n >= sent+few || now.Came.Packets+lost() < sent || now.Came.Packets >= sent+few {
					t.Errorf("%d packets were sent, %d counted, and %d came", sent, n, now.Came.Packets)
				}
				fresh := uint64(each * len(devices))
				if c.then.Fingerprint() == c.begun.Fingerprint() {
					fresh += uint64(each * put)
				}
				if n := now.Slots[c.fresh].Packets; c.fresh != 0 && (n+lost() < fresh || n >= fresh+few) {
					t.Errorf("what is new counted %d of %d packets", n, fresh)
				}
			})
		}
	}
}
