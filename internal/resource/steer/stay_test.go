package steer_test

import (
	"context"
	"errors"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// leads from one port to another, where flows stay.
func leads(from, to, hook string) steer.Spec {
	return steer.Spec{Device: from, To: to, Hook: hook, Stay: &steer.Stay{Flows: 1 << 14, Idle: api.Duration(time.Hour), Census: api.Duration(time.Hour)}}
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
		if found[s.Device] != s.Fingerprint() {
			t.Fatalf("%s reads back %q, want %q", s.Device, found[s.Device], s.Fingerprint())
		}
	}
}

// wanted turns ports by a new version of the path; these are the chain's.
func wanted(ports ...string) steer.Kind {
	t := &steer.Turn{Wanted: map[string]bool{}, New: map[string]bool{}}
	for _, p := range ports {
		t.Wanted[p] = true
	}
	return steer.Kind{Turn: t}
}

// on tells whether flows are all at one place, both ways.
func (d *dealer) on(t testing.TB, place int, all []flow) {
	t.Helper()
	if n := by(d.places(t, all)); n[place] != len(all) {
		t.Errorf("%d flows are at %v, want all at %d", len(all), n, place)
	}
}

// staying is what is known of flows on older versions.
func (d *dealer) staying(t testing.TB) steer.Staying {
	t.Helper()
	s, err := steer.StayingOn(resource.At(d.Handle, d.Owner))
	if err != nil || s == nil {
		t.Fatal("no flow can stay: ", err)
	}
	return *s
}

// census is long enough for flows to be seen in it, which go to a place now, however busy the machine is.
func (d *dealer) census(t testing.TB, place int, all []flow) api.Duration {
	t.Helper()
	began := time.Now()
	d.on(t, place, all)
	return api.Duration(max(4*time.Second, 8*time.Since(began))) // a packet that the machine drops is sent again after 2 s
}

// soon is a census that is over at once: no flow is taken for one from before.
func soon(specs ...steer.Spec) (all []steer.Spec) {
	for _, s := range specs {
		stay := *s.Stay
		stay.Census = 0
		s.Stay = &stay
		all = append(all, s)
	}
	return all
}

// TestFlowsStayOnTheirPath while ports are turned, where a packet of theirs came in the census, and go the
// newest when all do.
func TestFlowsStayOnTheirPath(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		all := wanted(shared...)
		d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook))
		old := flows(0, 10)
		d.on(t, 1, old)
		if s, err := steer.StayingOn(resource.At(d.Handle, d.Owner)); s != nil || err != nil {
			t.Errorf("at rest: %+v, %v", s, err)
		}
		to := []steer.Spec{leads("west", "second", hook), leads("east", "second", hook)}
		d.turn(t, all, to...)
		d.on(t, 1, old)
		fresh := flow{id: 1000}
		d.on(t, 1, []flow{fresh})
		if s := d.staying(t); s.Flows != len(old)+1 || s.Census == 0 || s.Kept != uint64(len(old)+1) || s.Moved+s.Unkept != 0 {
			t.Errorf("in the census: %+v", s)
		}
		d.turn(t, steer.Kind{}, leads("west", "second", hook), leads("east", "second", hook))
		d.on(t, 2, append(old, fresh))
	})
}

// TestNewFlowsGoTheNewPath once the census is over, while older ones stay, through as many versions as come, and none
// stays when all packets are to go the newest.
func TestNewFlowsGoTheNewPath(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		all := wanted(shared...)
		var census api.Duration
		to := func(port string) []steer.Spec {
			specs := []steer.Spec{leads("west", port, hook), leads("east", port, hook)}
			for _, s := range specs {
				s.Stay.Census = census
			}
			return specs
		}
		d.turn(t, steer.Kind{}, to("first")...)
		first := flows(0, 5)
		census = d.census(t, 1, first)
		d.turn(t, all, to("second")...)
		d.on(t, 1, first)
		time.Sleep(d.staying(t).Census)
		d.on(t, 2, flows(100, 110))
		d.on(t, 1, first)
		d.turn(t, all, to("third")...)
		second := flows(200, 205)
		d.on(t, 2, second)
		time.Sleep(d.staying(t).Census)
		d.on(t, 3, flows(300, 305))
		d.on(t, 2, second)
		d.on(t, 1, first)
		if s := d.staying(t); s.Flows != len(first)+len(second) {
			t.Errorf("on older versions: %+v", s)
		}
		if err := steer.Unite(resource.At(d.Handle, d.Owner)); err != nil {
			t.Fatal(err)
		}
		d.on(t, 3, append(first, second...))
		for port, text := range d.read(t) {
			if want := map[string]string{"west": to("third")[0].Fingerprint(), "east": to("third")[1].Fingerprint()}[port]; text != want {
				t.Errorf("%s is %q, want %q", port, text, want)
			}
		}
	})
}

// TestIdleFlowsGoTheNewPath, whatever version they were on.
func TestIdleFlowsGoTheNewPath(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	f, census := flow{id: 1}, api.Duration(time.Second)
	to := func(port string) []steer.Spec {
		specs := []steer.Spec{leads("west", port, hook), leads("east", port, hook)}
		for _, s := range specs {
			s.Stay.Idle, s.Stay.Census = census, census
		}
		return specs
	}
	d.turn(t, steer.Kind{}, to("first")...)
	census = d.census(t, 1, []flow{f})
	d.turn(t, wanted(shared...), to("second")...)
	d.on(t, 1, []flow{f})
	for time.Sleep(2 * time.Second); d.staying(t).Flows > 0; time.Sleep(time.Second) {
	}
	d.on(t, 2, []flow{f})
}

// TestPortsOfOneVersion give flows theirs: what comes out of a new node is of the newest, and what comes out of
// one that goes is of the one before, whenever that is.
func TestPortsOfOneVersion(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	specs := soon(leads("east", "second", hook))
	d.turn(t, steer.Kind{}, leads("west", "third", hook), leads("east", "first", hook), leads("third", "second", hook))
	// West is not wanted any more.
	d.turn(t, wanted("east", "first", "second", "third"), specs...)
	old := flow{id: 7}
	d.replicas[2].pass(t, flow{id: 9}.packet(0xdead0001), d.replicas[1]) // third is not concerned
	d.west.pass(t, old.packet(0xdead0002), d.replicas[2])
	back := old
	back.back = true
	d.east.pass(t, back.packet(0xdead0003), d.replicas[0])
	d.east.pass(t, flow{id: 8, back: true}.packet(0xdead0004), d.replicas[1])
	// Third is new.
	k := wanted("east", "first", "second", "third")
	k.Turn.New["third"] = true
	d.turn(t, k, leads("east", "third", hook)) // in whose census flows are taken for those from before
	d.replicas[2].pass(t, flow{id: 10}.packet(0xdead0005), d.replicas[1])
	d.east.pass(t, flow{id: 10, back: true}.packet(0xdead0006), d.replicas[2])
	d.east.pass(t, flow{id: 11, back: true}.packet(0xdead0007), d.replicas[1])
	d.east.pass(t, back.packet(0xdead0008), d.replicas[0])
}

// TestFlowsLeaveWhatIsGone: on a version of the path that leads to a port which has gone no flow stays, neither
// when ports are turned because of that, nor when it goes later.
func TestFlowsLeaveWhatIsGone(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		all := wanted(shared...)
		d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook))
		old := flows(0, 5)
		to, census := []steer.Spec{leads("west", "second", hook), leads("east", "second", hook)}, d.census(t, 1, old)
		for _, s := range to {
			s.Stay.Census = census
		}
		d.turn(t, all, to...)
		d.on(t, 1, old) // in the census
		remove := func(port string) {
			if l, err := d.LinkByName(port); err != nil || d.LinkDel(l) != nil {
				t.Fatal("cannot remove ", port, ": ", err)
			}
			d.replicas = d.replicas[1:] // the next is the first then
		}
		remove("first")
		if s := d.staying(t); s.Flows != 0 {
			t.Errorf("on the path that is gone: %+v", s)
		}
		if _, err := steer.ForgetLost(resource.At(d.Handle, d.Owner)); err != nil {
			t.Fatal(err)
		}
		d.on(t, 1, old)
		remove("second")
		d.turn(t, all, soon(leads("west", "third", hook), leads("east", "third", hook))...)
		d.on(t, 1, old)
		d.on(t, 1, flows(10, 15))
	})
}

// TestUnitedInPart: who was killed while flows were moved, when some ports had plain programs already, leaves none that
// goes one way there and another back, and whoever comes next finds none that stay.
func TestUnitedInPart(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	var census api.Duration
	to := func(port string) []steer.Spec {
		specs := []steer.Spec{leads("west", port, hook), leads("east", port, hook)}
		for _, s := range specs {
			s.Stay.Census = census
		}
		return specs
	}
	d.turn(t, steer.Kind{}, to("first")...)
	old := flows(0, 3)
	census = d.census(t, 1, old)
	d.turn(t, wanted(shared...), to("second")...)
	d.on(t, 1, old)
	time.Sleep(d.staying(t).Census)
	if n, err := steer.ForgetOlder(resource.At(d.Handle, d.Owner)); err != nil || n != len(old) {
		t.Errorf("%d flows move: %v", n, err)
	}
	d.turn(t, steer.Kind{}, to("second")[0])
	if s := d.staying(t); s.Flows != 0 || s.Ports != 1 {
		t.Errorf("flows stay: %+v", s)
	}
	d.on(t, 2, old)
}

// TestNewFlowsTakeNoRoom once the census is over: the table is for those that stay.
func TestNewFlowsTakeNoRoom(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	small := func(from, to string, census api.Duration) steer.Spec {
		s := leads(from, to, hook)
		s.Stay.Flows, s.Stay.Census = 8, census
		return s
	}
	d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook), leads("third", "west", hook))
	k := wanted(shared...)
	k.Turn.New["third"] = true
	d.turn(t, k, small("west", "second", 0), small("east", "second", 0))
	for i := range uint16(20) {
		d.replicas[2].pass(t, flow{id: 100 + i}.packet(0xdead0000+uint32(i)), d.west)
	}
	if s := d.staying(t); s.Kept+s.Unkept != 0 {
		t.Errorf("new flows out of a new node are kept: %+v", s)
	}
	old := flows(0, 2)
	census := d.census(t, 2, old)
	d.turn(t, wanted(shared...), small("west", "third", census), small("east", "third", census))
	d.on(t, 2, old)
	time.Sleep(d.staying(t).Census)
	d.on(t, 2, old)
}

// ofTheLink are packets to groups of a link's own, numbered from one on.
func ofTheLink(number uint32) (packets [][]byte) {
	for i, group := range []string{"ff02::16", "224.0.0.22"} {
		to := net.ParseIP(group)
		f := flow{id: 1, six: to.To4() == nil}
		packet, at := f.packet(number+uint32(i)), 14+24
		if !f.six {
			to, at = to.To4(), 14+16
		}
		copy(packet[at:], to)
		packets = append(packets, packet)
	}
	return packets
}

// TestGroupsOfALinkDoNotStay: what a host asks its routers of its own accord, in the census, keeps no version.
func TestGroupsOfALinkDoNotStay(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook))
	d.turn(t, wanted(shared...), leads("west", "second", hook), leads("east", "second", hook))
	for _, packet := range ofTheLink(0xdead0000) {
		d.west.pass(t, packet, d.replicas[1])
	}
	if s := d.staying(t); s.Flows != 0 || s.Kept != 0 {
		t.Errorf("they stay: %+v", s)
	}
	d.on(t, 1, flows(0, 2)) // others do
}

// TestNoRoomToStay: flows for which there is none go the newest path when the census is over, and lose nothing.
func TestNoRoomToStay(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	specs, all := []steer.Spec{leads("west", "second", hook), leads("east", "second", hook)}, flows(0, 10)
	d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook))
	census := d.census(t, 1, all)
	for _, s := range specs {
		s.Stay.Flows, s.Stay.Census = 4, census
	}
	d.turn(t, wanted(shared...), specs...)
	n := by(d.places(t, all))
	if n[1]+n[2] != len(all) {
		t.Errorf("flows are at %v", n)
	}
	if s := d.staying(t); s.Unkept == 0 || s.Flows == 0 || s.Flows >= len(all) {
		t.Errorf("with no room: %+v", s)
	}
	time.Sleep(d.staying(t).Census)
	if n := by(d.places(t, all)); n[1] != d.staying(t).Flows || n[1]+n[2] != len(all) {
		t.Errorf("flows are at %v then", n)
	}
	d.on(t, 1, all[:4]) // who was first
}

// crowded turns ports where flows stay, of which few are known at once. The time of a census is given later.
func (d *dealer) crowded(t testing.TB, hook string, flows uint32, idle time.Duration) (turn func(to string, census api.Duration)) {
	t.Helper()
	d.turn(t, steer.Kind{}, leads("west", "first", hook), leads("east", "first", hook))
	return func(to string, census api.Duration) {
		t.Helper()
		specs := []steer.Spec{leads("west", to, hook), leads("east", to, hook)}
		for _, s := range specs {
			s.Stay.Flows, s.Stay.Idle, s.Stay.Census = flows, api.Duration(idle), census
		}
		d.turn(t, wanted(shared...), specs...)
	}
}

// TestIdlestMakeRoom where flows are found for which there is none: those without a packet for as long as flows are looked for, whether
// they are over or not. Those in use stay, whoever comes, and nobody loses a packet.
func TestIdlestMakeRoom(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		turn, old, later, last := d.crowded(t, hook, 8, time.Hour), flows(0, 4), flows(100, 102), flows(200, 202)
		census := d.census(t, 1, slices.Concat(old, later, last))
		turn("second", census)
		d.on(t, 1, old)
		time.Sleep(d.staying(t).Census + time.Duration(census)) // none had a packet for so long
		turn("third", census)
		d.on(t, 1, old[4:])
		d.on(t, 2, later)
		if s := d.staying(t); s.Flows != 8 || s.Kept != 12 || s.Displaced != 4 || s.Unkept != 0 {
			t.Errorf("where some are not in use: %+v", s)
		}
		d.on(t, 2, last) // as all from before, but nobody makes room
		if s := d.staying(t); s.Flows != 8 || s.Kept != 12 || s.Displaced != 4 || s.Unkept < uint64(len(last)) {
			t.Errorf("where all are in use: %+v", s)
		}
		time.Sleep(d.staying(t).Census)
		d.on(t, 1, old[4:])
		d.on(t, 2, later)
		d.on(t, 3, append(old[:4:4], last...))
	})
}

// TestFlowsThatAreOverMakeRoom in a census that goes on, with nobody there to take them out; they are not counted, as they go
// the newest path anyway. So it is time and again, also of those that somebody took out.
func TestFlowsThatAreOverMakeRoom(t *testing.T) {
	d := newDealer(t)
	idle := 2 * time.Second
	turn := d.crowded(t, itsHook(), 8, idle)
	turn("second", api.Duration(time.Hour))
	for round := range uint16(4) {
		all := flows(10*round, 10*round+4)
		d.on(t, 1, all)
		time.Sleep(idle + 20*time.Millisecond) // a clock's step more
		if round != 1 {
			continue
		}
		if s := d.staying(t); s.Flows != 0 {
			t.Errorf("flows are not over: %+v", s)
		}
	}
	if s := d.staying(t); s.Kept < 32 || s.Displaced+s.Unkept != 0 {
		t.Errorf("they made no room: %+v", s)
	}
}

// TestManyVersions of the path follow each other, more than there are numbers for: those that no flow goes by
// are given again.
func TestManyVersions(t *testing.T) {
	hook := itsHook()
	d := newDealer(t)
	to := []string{"first", "second", "third"}
	d.turn(t, steer.Kind{}, leads("west", to[0], hook), leads("east", to[0], hook))
	last := 0
	for i := range 80 {
		last = (i + 1) % 3
		d.turn(t, wanted(shared...), soon(leads("west", to[last], hook), leads("east", to[last], hook))...)
	}
	d.on(t, last+1, flows(0, 3))
	// A port that is to do something else has all packets go at once.
	d.turn(t, wanted(shared...), steer.Spec{Device: "west", To: "first", Hook: hook}, leads("east", "first", hook))
	if s, err := steer.StayingOn(resource.At(d.Handle, d.Owner)); s != nil || err != nil {
		t.Errorf("flows can stay still: %+v, %v", s, err)
	}
	d.on(t, 1, flows(0, 3))
}

// TestInterruptedInACensus: who is interrupted while the census of the turn before goes on has turned nothing, and whoever comes next
// turns all.
func TestInterruptedInACensus(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		to := func(port string) []steer.Spec {
			return []steer.Spec{leads("west", port, hook), leads("east", port, hook)}
		}
		d.turn(t, steer.Kind{}, to("first")...)
		d.turn(t, wanted(shared...), to("second")...)
		old := flows(0, 5)
		d.on(t, 1, old)
		k, waits := wanted(shared...), time.Duration(0)
		k.Turn.Pause = func(while time.Duration) error {
			waits = while
			return context.Canceled
		}
		var changes []resource.Change
		for _, s := range to("third") {
			changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
		}
		before := d.read(t)
		if err := k.Apply(d.Place, changes); !errors.Is(err, context.Canceled) || waits == 0 {
			t.Fatalf("interrupted: error %v, after a wait of %v", err, waits)
		}
		if now := d.read(t); !maps.Equal(now, before) {
			t.Errorf("ports read back %v, and were %v", now, before)
		}
		d.on(t, 1, old)
		k.Turn.Pause = func(time.Duration) error { return nil } // as long has gone by
		d.turn(t, k, to("third")...)
		d.on(t, 1, old)
	})
}
