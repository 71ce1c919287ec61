package pass

import (
	"slices"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
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
