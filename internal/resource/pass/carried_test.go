package pass

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cilium/ebpf"

	program "nfchain.dev/nfchain/bpf/pass"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// TestCarriesOn: what takes the place of a pass goes on with the counters of the functions that
// both have, wherever they count, and begins anew with others.
func TestCarriesOn(t *testing.T) {
	p := place(t)
	const many, few = 200, 100 // the kernel says something of its own, too, but not so much
	one := Spec{Device: "eth0", Of: []string{"one"}, Steps: []Step{NewCount(1)}}
	apply(t, p, resource.Create, one)
	counted := func() Counts {
		c, found, err := CountAt(p, "eth0")
		if err != nil || !found {
			t.Fatal(found, err)
		}
		return c
	}
	sent(t, p, frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 0)), func(c Counts) bool { return c.Slots[1].Packets >= many })
	for _, c := range []struct {
		of    []string
		steps []Step
		goes  map[uint32]bool // on, by the slot
	}{
		{[]string{"one", "two"}, []Step{NewCount(1), NewCount(2)}, map[uint32]bool{1: true, 2: false}},
		{[]string{"two", "one"}, []Step{NewCount(1), NewCount(2)}, map[uint32]bool{1: false, 2: true}},
		{[]string{"one"}, []Step{NewCount(9)}, map[uint32]bool{9: true}},
		{[]string{"one"}, []Step{NewCount(9)}, map[uint32]bool{9: true}},
		{[]string{"one", "lose"}, []Step{NewCount(9), NewDrop(1, Share{Every: 7})}, map[uint32]bool{9: true, 1: false}},
		{[]string{"one", "lose"}, []Step{NewCount(9), NewDrop(1, Share{Every: 5})}, map[uint32]bool{9: true, 1: false}},
		{[]string{"other"}, []Step{NewCount(9)}, map[uint32]bool{9: false}},
	} {
		s := Spec{Device: "eth0", Of: c.of, Steps: c.steps}
		apply(t, p, resource.Update, s)
		now := counted()
		for slot, goes := range c.goes {
			if n := now.Slots[slot].Packets; goes && n < many || !goes && n > few {
				t.Errorf("%v in slot %d counted %d", c.of, slot, n)
			}
		}
		if now.Came.Packets < many || read(t, p)[0].Fingerprint != s.Fingerprint() {
			t.Errorf("%v: %+v, and reads back as %+v", c.of, now.Came, read(t, p))
		}
	}
}

// TestRemembers how far a drop is, in whichever slot.
func TestRemembers(t *testing.T) {
	p := place(t)
	apply(t, p, resource.Create, Spec{Device: "eth0", Of: []string{"a", "lose"}, Steps: []Step{NewCount(0), NewDrop(1, Share{Every: 1 << 40})}})
	const many = 200
	sent(t, p, frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 0)), func(c Counts) bool { return c.Slots[0].Packets >= many })
	apply(t, p, resource.Update, Spec{Device: "eth0", Of: []string{"lose"}, Steps: []Step{NewDrop(7, Share{Every: 1 << 40})}})
	dev, err := p.Device("eth0")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Do(func() error {
		all, err := find(p, dev.Attrs().Index)
		if err != nil {
			return err
		}
		defer all[0].Close()
		value, err := all[0].Maps[memoriesMap].LookupBytes(uint32(7))
		if err != nil || len(value) < 8 || binary.NativeEndian.Uint64(value) < many {
			t.Errorf("the drop remembers %v, error %v", value, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestCarriesOnOnce what came to a pass that itself carried nothing on.
func TestCarriesOnOnce(t *testing.T) {
	p := place(t)
	s := Spec{Device: "eth0", Of: []string{"one"}, Steps: []Step{NewCount(1)}}
	object, err := program.LoadProgram()
	if err != nil {
		t.Fatal(err)
	}
	l, err := s.furnished(object, name, numbers{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	dev, err := p.Device("eth0")
	if err == nil {
		err = p.Do(func() error {
			return held.Put(p, dev.Attrs().Index, held.Passes, l.Program)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	const many = 200 // more than the kernel says of its own
	sent(t, p, frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 0)), func(c Counts) bool { return c.Came.Packets >= many })
	before, _, err := CountAt(p, "eth0")
	if err != nil {
		t.Fatal(err)
	}
	apply(t, p, resource.Update, s)
	if now, _, err := CountAt(p, "eth0"); err != nil || now.Came.Packets < before.Came.Packets || now.Came.Packets >= before.Came.Packets+many {
		t.Errorf("%+v, error %v; before %+v", now.Came, err, before.Came)
	}
}

// TestCarriesOnFromEarlierVersions, which noted less of what they carry on: it is told, and what comes in their place goes on with it.
func TestCarriesOnFromEarlierVersions(t *testing.T) {
	p := place(t)
	const carriedOn, few = 10000, 100 // the kernel says something of its own, too, but not so much
	s := Spec{Device: "eth0", Of: []string{"one"}, Steps: []Step{NewCount(1)}}
	apply(t, p, resource.Create, s)
	dev, err := p.Device("eth0")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Do(func() error {
		l, err := s.loaded(numbers{}, nil, nil, nil)
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }()
		var noted [allCarried]earlier
		noted[1] = earlier{carriedOn, 60 * carriedOn, WhoseStep("one"), uint64(Count)}
		m, err := ebpf.NewMap(&ebpf.MapSpec{Name: carriedMap, Type: ebpf.Array, KeySize: 4, ValueSize: uint32(binary.Size(noted)), MaxEntries: 1})
		if err != nil {
			return err
		}
		defer func() { _ = m.Close() }()
		all, err := find(p, dev.Attrs().Index)
		defer held.CloseAll(all)
		return errors.Join(err, m.Put(uint32(0), noted), l.Program.BindMap(m), all[0].Replace(p, dev.Attrs().Index, l.Program))
	}); err != nil {
		t.Fatal(err)
	}
	for _, next := range []Spec{s, {Device: "eth0", Of: []string{"one", "two"}, Steps: []Step{NewCount(1), NewCount(2)}}, {Device: "eth0", Of: []string{"one"}, Steps: []Step{NewCount(9)}}} {
		apply(t, p, resource.Update, next)
		c, _, err := CountAt(p, "eth0")
		if n := c.Slots[next.Steps[0].Slot].Packets; err != nil || n < carriedOn || n > carriedOn+few {
			t.Errorf("%v counted %d, error %v", next.Of, n, err)
		}
	}
}

// TestBeginsAnew where another step counted before, or the same one that was away: beside steps that go
// on counting all the while.
func TestBeginsAnew(t *testing.T) {
	p := place(t)
	const many, few = 200, 100 // the kernel says something of its own, too, but not so much
	stays := NewCount(1)
	counted := func() Counts {
		c, found, err := CountAt(p, "eth0")
		if err != nil || !found {
			t.Fatal(found, err)
		}
		return c
	}
	apply(t, p, resource.Create, Spec{Device: "eth0", Of: []string{"stays"}, Steps: []Step{stays}})
	for round, c := range []struct {
		of    string
		comes Step
	}{
		{"two", NewCount(2)}, {"other", NewCount(2)}, {"lose", NewDrop(2, Share{Every: 1 << 40})}, {"two", NewCount(2)},
	} {
		before := counted()
		apply(t, p, resource.Update, Spec{Device: "eth0", Of: []string{"stays", c.of}, Steps: []Step{stays, c.comes}})
		now := counted()
		if now.Slots[2].Packets > few || now.Slots[1].Packets < before.Slots[1].Packets || now.Came.Packets < before.Came.Packets {
			t.Errorf("%s begins with %+v, and what stays goes on with %+v after %+v", c.of, now.Slots[2], now.Slots[1], before.Slots[1])
		}
		if remembers(t, p, 2) > few {
			t.Errorf("%s remembers %d packets of others", c.of, remembers(t, p, 2))
		}
		sent(t, p, frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 0)), func(c Counts) bool {
			return c.Slots[1].Packets >= uint64(many*(round+1)) && (c.Slots[2].Packets >= many || remembers(t, p, 2) >= many)
		})
		apply(t, p, resource.Update, Spec{Device: "eth0", Of: []string{"stays"}, Steps: []Step{stays}})
		if c := counted(); c.Slots[1].Packets < uint64(many*(round+1)) {
			t.Errorf("round %d: what stays has %+v", round, c.Slots[1])
		}
	}
}

// remembers is how many packets the step of a slot remembers.
func remembers(t *testing.T, p resource.Place, slot uint32) (n uint64) {
	t.Helper()
	dev, err := p.Device("eth0")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Do(func() error {
		all, err := find(p, dev.Attrs().Index)
		if err != nil {
			return err
		}
		defer held.CloseAll(all)
		value, err := all[0].Maps[memoriesMap].LookupBytes(slot)
		if err == nil && len(value) >= 8 {
			n = binary.NativeEndian.Uint64(value)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}
