package pass

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// programAt an interface.
func programAt(t *testing.T, p resource.Place, device string) (id ebpf.ProgramID) {
	t.Helper()
	at(t, p, device, func(a attached) {
		info, err := a.Program.Program.Info()
		if err != nil {
			t.Error(err)
			return
		}
		id, _ = info.ID()
	})
	return id
}

// among other rules, which are for nobody here.
func among(others int, rules ...ruleset.Rule) (all []ruleset.Rule) {
	for i := range others {
		r := rule("drop")
		r.Source = netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16, byte(i >> 8), byte(i)}), 32)
		all = append(all, r)
	}
	return append(all, rules...)
}

// reads back what two interfaces are to have.
func readsBack(t *testing.T, p resource.Place, all ...Spec) {
	t.Helper()
	found := read(t, p)
	for _, s := range all {
		if !slices.Contains(found, resource.Observed{Key: s.Device, Fingerprint: s.Fingerprint()}) {
			t.Fatalf("found %+v\nwant %s at %s", found, s.Fingerprint(), s.Device)
		}
	}
}

// TestAreasAreAtEase: all of them, with the counters that each core has, or there is one that is as large as it must be.
func TestAreasAreAtEase(t *testing.T) {
	of := map[int]int{}
	for _, bytes := range []int{0, 4 << 10, 1 << 20, 10 << 20, 20 << 20, 200 << 20} {
		for _, counters := range []uint32{1, 100, 10_000, 250_000} {
			for _, cores := range []int{1, 2, 64, 1024} {
				areas, room, counted := areasFor(bytes, counters, 16*cores)
				of[areas]++
				if all := areas * (room + int(counted)*16*cores); areas > 1 && (all > held.AtEase || room < bytes+bytes/4 || counted < counters+counters/4) {
					t.Errorf("%d bytes and %d counters of %d cores: %d areas of %d bytes and %d counters take %d", bytes, counters, cores, areas, room, counted, all)
				}
				if areas == 1 && (room != held.Rounded(bytes) || counted != counters) {
					t.Errorf("%d bytes and %d counters of %d cores: one area of %d bytes and %d counters", bytes, counters, cores, room, counted)
				}
			}
		}
	}
	if of[1] == 0 || of[2] == 0 || of[4] == 0 {
		t.Errorf("there are so many of so many areas: %v", of)
	}
}

// TestRulesAreReplacedInPlace, with no other program, as often as one likes: the new ones are asked, count from zero, and
// connections stay known. Where there is no room for them, or more than rules is another, there is another program.
func TestRulesAreReplacedInPlace(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	expect{{"eth0", false, 1000, syn, 0}, {"eth1", true, 1000, syn | ack, 1}}.of(t, p, f)
	before := [2]ebpf.ProgramID{programAt(t, p, "eth0"), programAt(t, p, "eth1")}
	edit := func(others int) (g Firewall, same bool) {
		t.Helper()
		g = opens()
		g.Rules = among(others, g.Rules...)
		both(t, p, g, g)
		readsBack(t, p, guards("eth0", g), guards("eth1", g))
		after := [2]ebpf.ProgramID{programAt(t, p, "eth0"), programAt(t, p, "eth1")}
		same = after == before
		before = after
		return g, same
	}
	meets := func(g Firewall, others int, port uint16) {
		t.Helper()
		expect{
			{"eth0", false, 1000, ack, others + 1}, {"eth1", true, 1000, ack, others + 1}, {"eth0", false, port, syn, others},
			{"eth1", true, port, syn | ack, others + 1}, {"eth1", true, 999, syn | ack, others + 2},
		}.of(t, p, g)
		if got := tallied(t, p, "eth1", g)[others:]; !slices.Equal(got, []uint64{1, 3, 1}) {
			t.Errorf("among %d others counted %v", others, got)
		}
	}
	for i := range 12 {
		g, same := edit(i%3 + 1)
		if !same {
			t.Fatalf("edit %d has another program", i)
		}
		meets(g, i%3+1, uint16(2000+i))
	}
	g, same := edit(500)
	if same {
		t.Error("there is room for any number of rules")
	}
	meets(g, 500, 3000)
	if g, same = edit(510); !same {
		t.Error("there is room for no more rules")
	}
	meets(g, 510, 3001)
	s := guards("eth0", opens())
	s.Connections *= 2
	apply(t, p, resource.Update, s)
	readsBack(t, p, s, guards("eth1", g))
	expect{{"eth1", true, 3001, ack, 511}}.of(t, p, g)
}

// TestCountersOfAreasAreApart, or rules are not replaced in them: there may be fewer for each area than a firewall has, where it
// has those of a pass of which the memory was made for others.
func TestCountersOfAreasAreApart(t *testing.T) {
	p, f := sides(t), opens()
	f.Rules = among(20, f.Rules...)
	apply(t, p, resource.Update, guards("eth0", f))
	at(t, p, "eth0", func(a attached) {
		has, err := a.read()
		if err != nil {
			t.Fatal(err)
		}
		e := edited{attached: a, has: has}
		if n, err := e.rulesOf(has.steps[0]); err != nil || n+1 != f.counters() {
			t.Errorf("%d rules, error %v, and %d counters", n, err, f.counters())
		}
		own := a.Maps[rulesCountedMap]
		defer func() { a.Maps[rulesCountedMap] = own }()
		for each, want := range map[uint32]bool{f.counters() - 1: false, f.counters(): true} {
			counted, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 16, MaxEntries: ruleAreas * each})
			if err != nil {
				t.Fatal(err)
			}
			a.Maps[rulesCountedMap] = counted
			if e.hasRegions() != want {
				t.Errorf("with %d counters for each area, of which %d count, they are apart: %t", each, f.counters(), !want)
			}
			_ = counted.Close()
		}
	})
}

// TestOneWayIsReplacedAlone, and the other way asks what it asked before.
func TestOneWayIsReplacedAlone(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	g := opens()
	g.Rules = among(1, g.Rules...)
	apply(t, p, resource.Update, guards("eth0", g))
	readsBack(t, p, guards("eth0", g), guards("eth1", f))
	for others := range 5 {
		h := opens()
		h.Rules = among(others+2, h.Rules...)
		apply(t, p, resource.Update, guards("eth1", h))
		readsBack(t, p, guards("eth0", g), guards("eth1", h))
		expect{{"eth0", false, uint16(others), syn, 1}}.of(t, p, g)
		expect{{"eth1", true, uint16(others), syn | ack, others + 3}}.of(t, p, h)
	}
}

// TestNoPacketMeetsAMixture of rules, while those of two firewalls are replaced all the time: either the one drops it or the
// other does, and both let it pass but by rules that are not of one time.
func TestNoPacketMeetsAMixture(t *testing.T) {
	p := sides(t)
	spec := func(n int) Spec {
		s := Spec{Device: "eth0", Connections: LeastConnections}
		for i, name := range []string{"first", "second"} {
			f := Firewall{Slot: uint32(3 + i), Name: name, Policy: "drop", Rules: among(n%5*20, rule([]string{"accept", "drop"}[(n+i)%2]))}
			s.Steps, s.Firewalls = append(s.Steps, NewRules(f.Slot)), append(s.Firewalls, f)
		}
		return s
	}
	apply(t, p, resource.Update, spec(99))
	program := programAt(t, p, "eth0")
	var over atomic.Bool
	var packets atomic.Uint32
	var cores sync.WaitGroup
	wrong := make(chan string, 2)
	at(t, p, "eth0", func(a attached) {
		for range 2 {
			own, err := a.Program.Program.Clone()
			if err != nil {
				t.Fatal(err)
			}
			cores.Add(1)
			go func() {
				defer cores.Done()
				defer func() { _ = own.Close() }()
				frame := segment(false, 0, syn)
				for !over.Load() {
					binary.BigEndian.PutUint16(frame[34:], uint16(packets.Add(1)))
					if verdict, err := own.Run(&ebpf.RunOptions{Data: frame}); err != nil || verdict == goesOn {
						wrong <- fmt.Sprintf("a packet has verdict %#x, error %v", verdict, err)
						return
					}
				}
			}()
		}
	})
	for n := range 400 {
		apply(t, p, resource.Update, spec(n))
	}
	over.Store(true)
	cores.Wait()
	close(wrong)
	for text := range wrong {
		t.Error(text)
	}
	if packets.Load() < 1000 || programAt(t, p, "eth0") != program {
		t.Errorf("%d packets came, by program %d and then %d", packets.Load(), program, programAt(t, p, "eth0"))
	}
}

// TestCountersAreOfOneTime: none are told of an area over which others are being written, and then those of the one that counts.
func TestCountersAreOfOneTime(t *testing.T) {
	p, f := sides(t), opens()
	apply(t, p, resource.Update, guards("eth0", f))
	expect{{"eth0", false, 1000, syn, 0}}.of(t, p, f)
	at(t, p, "eth0", func(a attached) {
		k, _ := a.knows()
		times := func(n uint32) {
			if err := a.Maps[rulesCurrentMap].Put(uint32(1), n); err != nil {
				t.Error(err)
			}
		}
		times(0)
		if c, found, err := k.counters(f); err == nil {
			t.Errorf("what is being written is told: %+v, %t", c, found)
		}
		times(7)
		if c, found, err := k.counters(f); err != nil || !found || c.Rules[0].Packets != 1 {
			t.Errorf("what is written is told as %+v: %t, %v", c, found, err)
		}
	})
	both(t, p, f, f)
	g := opens()
	g.Rules = among(2, g.Rules...)
	at(t, p, "eth0", func(a attached) {
		k, _ := a.knows()
		both(t, p, g, g)
		if _, found, err := k.counters(f); found || err != nil {
			t.Errorf("rules that were replaced are there: %t, %v", found, err)
		}
		if c, found, err := k.counters(g); !found || err != nil || len(c.Rules) != 5 || c.Rules[2].Packets != 0 {
			t.Errorf("the rules that are there are told as %+v: %t, %v", c, found, err)
		}
	})
}
