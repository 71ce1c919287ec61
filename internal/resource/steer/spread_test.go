package steer_test

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// shared are ports with a node in the west behind the first and one in the east behind the
// last, and replicas between.
var shared = []string{"west", "first", "second", "third", "east"}

// among replicas by their numbers, from 1 to 3. One that is only left the flows which it has is below 0.
func among(numbers ...int) *steer.Among {
	a := &steer.Among{Of: "web", Flows: 1 << 14, Idle: api.Duration(time.Hour)}
	for _, n := range numbers {
		a.Replicas = append(a.Replicas, replica(n, shared))
	}
	return a
}

// replica of a number behind one of some ports.
func replica(n int, ports []string) steer.Replica {
	if n < 0 {
		return steer.Replica{Number: -n, Port: ports[-n]}
	}
	return steer.Replica{Number: n, Port: ports[n], Weight: 1}
}

// both ports that face the replicas are given them.
func (f *forwarder) both(t testing.TB, k steer.Kind, hook string, numbers ...int) {
	t.Helper()
	f.Place = resource.At(f.Handle, f.Owner)
	for _, port := range []string{"west", "east"} {
		s := steer.Spec{Device: port, Among: among(numbers...), Hook: hook}
		if err := k.Apply(f.Place, []resource.Change{{Op: resource.Update, Key: port, Spec: s}}); err != nil {
			t.Fatal(err)
		}
		if found := f.read(t)[port]; found != s.Fingerprint() {
			t.Fatalf("%s reads back %q, want %q", port, found, s.Fingerprint())
		}
	}
}

// flow is what tells one from another; the number is that of a packet of it.
type flow struct {
	id   uint16
	six  bool
	back bool
}

// packet of UDP.
func (f flow) packet(number uint32) []byte {
	kind, header := []byte{8, 0}, []byte{0x45, 0, 0, 20 + 8 + 8, 0, 0, 0, 0, 64, 17, 0, 0, 198, 18, 0, 1, 198, 18, 1, 2}
	if f.six {
		kind, header = []byte{0x86, 0xdd}, []byte{0x60, 0, 0, 0, 0, 8 + 8, 17, 64}
		header = append(header, 0x20, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x20, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2)
	}
	udp := binary.BigEndian.AppendUint16(nil, 1024+f.id)
	udp = binary.BigEndian.AppendUint16(udp, 80)
	if f.back {
		size := map[bool]int{false: 4, true: 16}[f.six] // of an address
		ends := len(header) - 2*size
		header = slices.Concat(header[:ends], header[ends+size:], header[ends:ends+size])
		udp = slices.Concat(udp[2:], udp[:2])
	}
	udp = append(udp, 0, 8+8, 0, 0, 0, 0, 0, 0)
	return binary.BigEndian.AppendUint32(slices.Concat(stranger, sender, kind, header, udp), number)
}

// dealer sends packets of flows and finds the replicas that they come to.
type dealer struct {
	*forwarder
	west, east wire
	replicas   []wire
	number     uint32
}

func newDealer(t testing.TB) *dealer {
	d := &dealer{forwarder: newForwarderOf(t, shared)}
	d.west, d.east = d.wire(t, 0), d.wire(t, 4)
	for i := 1; i <= 3; i++ {
		d.replicas = append(d.replicas, d.wire(t, i))
	}
	return d
}

// comes tells the replica that a packet of a flow comes to, by its number. Another test that
// floods this machine may make it drop one; then it is sent again.
func (d *dealer) comes(t testing.TB, f flow) int {
	t.Helper()
	from := d.west
	if f.back {
		from = d.east
	}
	for range 30 {
		d.number++
		from.send(t, f.packet(d.number))
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			if at := d.where(t, d.number); at > 0 {
				return at
			}
		}
	}
	t.Fatalf("no packet of flow %+v comes to any replica", f)
	return 0
}

// flows of both families.
func flows(from, to uint16) (all []flow) {
	for id := from; id < to; id++ {
		all = append(all, flow{id: id}, flow{id: id, six: true})
	}
	return all
}

// places of flows, there; back each must be at the same.
func (d *dealer) places(t testing.TB, all []flow) map[flow]int {
	t.Helper()
	at := map[flow]int{}
	for i, f := range all {
		back := f
		back.back = true
		if i%2 == 1 { // the answer is first seen
			at[f] = d.comes(t, back)
		}
		if n := d.comes(t, f); at[f] == 0 {
			at[f] = n
		} else if n != at[f] {
			t.Errorf("%+v is at replica %d, and at %d back", f, n, at[f])
		}
		if n := d.comes(t, back); n != at[f] {
			t.Errorf("%+v is at replica %d, and at %d back", f, at[f], n)
		}
	}
	return at
}

// by replica, how many flows it has.
func by(at map[flow]int) map[int]int {
	n := map[int]int{}
	for _, replica := range at {
		n[replica]++
	}
	return n
}

// staying are the flows that are not idle with numbers that are leaving.
func staying(f *steer.Flows) (flows int) {
	for _, n := range f.Leaving {
		flows += f.Busy[n]
	}
	return flows
}

func (d *dealer) known(t testing.TB, numbers ...int) *steer.Flows {
	t.Helper()
	at, specs := resource.At(d.Handle, d.Owner), []steer.Spec{{Device: "west", Among: among(numbers...)}, {Device: "east", Among: among(numbers...)}}
	all, err := steer.FlowsOf(at, specs)
	if err != nil || all["web"] == nil {
		t.Fatal(all, err)
	}
	left, err := steer.LeavingAt(at, specs)
	if err != nil || (left != nil) != (len(all["web"].Leaving) > 0) || left.Flows() > staying(all["web"]) {
		t.Errorf("there leave %+v, and %v do: %v", left, all["web"].Leaving, err)
	}
	return all["web"]
}

// TestFlowsStay with their replica, both ways, whichever came first, while others come and go:
// one that comes gets new flows alone, one that leaves keeps its own, and only those of one
// that is gone move.
func TestFlowsStay(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2)
		first := flows(0, 20)
		at := d.places(t, first)
		if n := by(at); n[1] == 0 || n[2] == 0 || n[3] > 0 {
			t.Fatalf("flows by replica: %v", n)
		}
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		if again := d.places(t, first); !maps.Equal(at, again) {
			t.Errorf("when one came, flows moved from %v to %v", at, again)
		}
		later := d.places(t, flows(100, 120))
		if n := by(later); n[1] == 0 || n[2] == 0 || n[3] == 0 {
			t.Errorf("new flows by replica: %v", n)
		}
		d.both(t, steer.Kind{}, hook, 1, -2, 3)
		if again := d.places(t, first); !maps.Equal(at, again) {
			t.Errorf("of one that is leaving, flows moved from %v to %v", at, again)
		}
		if n := by(d.places(t, flows(200, 220))); n[2] > 0 {
			t.Errorf("one that is leaving has new flows: %v", n)
		}
		k := d.known(t, 1, 3)
		if !slices.Equal(k.Leaving, []int{2}) || staying(k) != by(at)[2]+by(later)[2] || k.Moved != 0 || k.New != 3*40 || k.Unkept != 0 {
			t.Errorf("while one is leaving: %+v", k)
		}
		d.both(t, steer.Kind{}, hook, 1, 3)
		for f, n := range d.places(t, first) {
			if was := at[f]; n == 2 || was != 2 && n != was {
				t.Errorf("%+v moved from %d to %d, when 2 was gone", f, was, n)
			}
		}
		if k := d.known(t, 1, 3); len(k.Leaving) > 0 || k.Moved != uint64(by(at)[2]) {
			t.Errorf("when it was gone: %+v, want %d moved", k, by(at)[2])
		}
	})
}

// another version made what is made until this one does: its program has the same maps and another name.
func another(t testing.TB, name *string) (thisOne func()) {
	this := *name
	*name = steer.Mark + "1234567"
	thisOne = func() { *name = this }
	t.Cleanup(thisOne)
	return thisOne
}

// TestFlowsStayOverVersions of the program, whichever has put it there, and with a replica that is leaving too.
func TestFlowsStayOverVersions(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d, first := newDealer(t), flows(0, 20)
		thisOne := another(t, &steer.SpreadName)
		d.both(t, steer.Kind{}, hook, 1, 2)
		at := d.places(t, first)
		thisOne()
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		if now := d.places(t, first); !maps.Equal(at, now) {
			t.Errorf("when another version had one come, flows moved from %v to %v", at, now)
		}
		thisOne = another(t, &steer.SpreadName)
		d.both(t, steer.Kind{}, hook, 1, -2, 3)
		thisOne()
		d.both(t, steer.Kind{}, hook, 1, -2, 3)
		if now := d.places(t, first); !maps.Equal(at, now) {
			t.Errorf("of one that is leaving, flows moved from %v to %v by another version", at, now)
		}
		if k := d.known(t, 1, 3); !slices.Equal(k.Leaving, []int{2}) || k.New != 40 || k.Moved != 0 {
			t.Errorf("while one is leaving: %+v", k)
		}
	})
}

// TestFlowsStayInATableOfAnotherSize, whichever replicas come and go by the same edit.
func TestFlowsStayInATableOfAnotherSize(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d, first := newDealer(t), flows(0, 20)
		d.both(t, steer.Kind{}, hook, 1, 2)
		at := d.places(t, first)
		for _, c := range []struct {
			flows    uint32
			replicas []int
		}{{1 << 15, []int{1, 2, 3}}, {1 << 13, []int{1, -2, 3}}} {
			for _, port := range []string{"west", "east"} {
				a := among(c.replicas...)
				a.Flows = c.flows
				s := steer.Spec{Device: port, Among: a, Hook: hook}
				if err := (steer.Kind{}).Apply(resource.At(d.Handle, d.Owner), []resource.Change{{Op: resource.Update, Key: port, Spec: s}}); err != nil {
					t.Fatal(err)
				}
			}
			if now := d.places(t, first); !maps.Equal(at, now) {
				t.Errorf("with %d flows known, of replicas %v, they moved from %v to %v", c.flows, c.replicas, at, now)
			}
		}
	})
}

// TestSharesAreEven within what chance makes of so many buckets, and one that comes takes from
// others alone.
func TestSharesAreEven(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 32, steer.Most - 1} {
		var few []steer.Replica
		for i := range n {
			few = append(few, steer.Replica{Number: i + 1, Weight: 1})
		}
		have, more := steer.SharesOf(few), steer.SharesOf(append(few, steer.Replica{Number: n + 1, Weight: 1}))
		each := map[byte]int{}
		for bucket, replica := range have {
			each[replica]++
			if now := more[bucket]; now != replica && int(now) != n+1 {
				t.Fatalf("of %d, bucket %d goes from %d to %d when %d comes", n, bucket, replica, now, n+1)
			}
		}
		for replica := 1; replica <= n; replica++ {
			even := float64(len(have)) / float64(n)
			if off := math.Abs(float64(each[byte(replica)]) - even); off > 5*math.Sqrt(even) || n == 1 && off > 0 {
				t.Errorf("of %d, replica %d has %d of %d buckets", n, replica, each[byte(replica)], len(have))
			}
		}
	}
}

// TestSharesAreByWeight, and another weight moves buckets to the one that is heavier alone.
func TestSharesAreByWeight(t *testing.T) {
	weigh := func(weights ...int) (all []steer.Replica) {
		for i, w := range weights {
			all = append(all, steer.Replica{Number: i + 1, Weight: w})
		}
		return all
	}
	light, heavy := steer.SharesOf(weigh(1, 1, 2)), steer.SharesOf(weigh(1, 1, 6))
	each := map[byte]int{}
	for bucket, replica := range heavy {
		each[replica]++
		if was := light[bucket]; was != replica && replica != 3 {
			t.Fatalf("bucket %d goes from %d to %d when 3 is heavier", bucket, was, replica)
		}
	}
	for bucket, replica := range steer.SharesOf(weigh(0, 1, 1, 0)) {
		if replica != 2 && replica != 3 {
			t.Fatalf("bucket %d goes to %d, of weight 0", bucket, replica)
		}
	}
	if steer.SharesOf(weigh(0, 0, 0)) != steer.SharesOf(weigh(1, 1, 1)) {
		t.Error("where all have weight 0, as when others fail, not all get as many")
	}
	for i, part := range []float64{1. / 8, 1. / 8, 6. / 8} {
		n := float64(len(heavy))
		if off := math.Abs(float64(each[byte(i+1)]) - part*n); off > 5*math.Sqrt(part*(1-part)*n) {
			t.Errorf("replica %d has %d of %g buckets, want %g", i+1, each[byte(i+1)], n, part*n)
		}
	}
}

// TestOneOrSeveral: a port goes from one node to several and back, and counts on.
func TestOneOrSeveral(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		f, last := newForwarderOf(t, shared), uint64(0)
		for _, s := range []steer.Spec{
			{Device: "west", To: "east", Hook: hook}, {Device: "west", Among: among(1, 2), Hook: hook}, {Device: "west", Among: among(1, 2), Hook: hook},
			{Device: "west", To: "first", Hook: hook}, {Device: "west", Among: among(3), Hook: hook},
		} {
			f.apply(t, resource.Update, s)
			if found := f.read(t); len(found) != 1 || found["west"] != s.Fingerprint() {
				t.Errorf("%+v reads back %v", s, found)
			}
			west, deadline := f.wire(t, 0), time.Now().Add(time.Minute)
			for counted := uint64(0); counted <= last; time.Sleep(10 * time.Millisecond) { // until the next try
				west.send(t, flow{}.packet(1))
				all, err := steer.Count(resource.At(f.Handle, f.Owner))
				if err != nil || all["west"].Packets < last || time.Now().After(deadline) {
					t.Fatalf("%d packets are counted after %d, error %v", all["west"].Packets, last, err)
				}
				counted = all["west"].Packets
			}
			last++
		}
	})
}

// TestNoFlow: what has no flow, such as ARP, and fragments, come to one replica and no other.
func TestNoFlow(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		arrived := map[string]int{}
		for i := range uint32(10) {
			for name, packet := range map[string][]byte{
				"arp": frame(broadcast, []byte{8, 6}, 60, 0xaa0000+i), "cut off": frame(stranger, []byte{8, 0}, 60, 0xbb0000+i),
				"fragments": fragment(flow{id: uint16(i)}.packet(0xcc0000 + i)),
			} {
				d.west.send(t, packet)
				number := binary.BigEndian.Uint32(packet[len(packet)-4:])
				for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
					if at := d.where(t, number); at > 0 {
						if was := arrived[name]; was > 0 && was != at {
							t.Errorf("%s came to replica %d, and to %d before", name, at, was)
						}
						arrived[name] = at
						break
					}
				}
			}
		}
		if len(arrived) != 3 {
			t.Errorf("of some nothing came: %v", arrived)
		}
	})
}

// TestGroupsOfALinkAreNoFlows: what a host asks its routers of its own accord comes to a replica, which it does not
// stay with.
func TestGroupsOfALinkAreNoFlows(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		for i, packet := range ofTheLink(0xdd0000) {
			at := 0
			for range 30 { // another test may flood this machine
				d.west.send(t, packet)
				for end := time.Now().Add(2 * time.Second); at == 0 && time.Now().Before(end); {
					at = d.where(t, 0xdd0000+uint32(i))
				}
				if at > 0 {
					break
				}
			}
			if at == 0 {
				t.Errorf("%x comes to none", packet)
			}
		}
		if k := d.known(t, 1, 2, 3); k.New != 0 || staying(k) != 0 {
			t.Errorf("they are flows: %+v", k)
		}
	})
}

// TestErrorsFollow the flows that they are about, from whomever they come.
func TestErrorsFollow(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		for f, at := range d.places(t, flows(0, 20)) {
			come := 0
			for range 30 { // another test may flood this machine
				d.number++
				d.east.send(t, f.complaint(d.number))
				for end := time.Now().Add(2 * time.Second); come == 0 && time.Now().Before(end); {
					come = d.where(t, d.number)
				}
				if come > 0 {
					break
				}
			}
			if come != at {
				t.Errorf("%+v is at replica %d, and an error about it came to %d", f, at, come)
			}
		}
	})
}

// complaint about a packet of a flow that is too long for a router on the way.
func (f flow) complaint(number uint32) []byte {
	about := f.packet(number)[14:]
	if f.six {
		header := []byte{0x60, 0, 0, 0, 0, byte(8 + len(about)), 58, 64, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}
		return slices.Concat(stranger, sender, []byte{0x86, 0xdd}, header, about[8:24], []byte{2, 0, 0, 0, 0, 0, 5, 0}, about)
	}
	header := []byte{0x45, 0, 0, byte(20 + 8 + len(about)), 0, 0, 0, 0, 64, 1, 0, 0, 203, 0, 113, 9}
	return slices.Concat(stranger, sender, []byte{8, 0}, header, about[12:16], []byte{3, 4, 0, 0, 0, 0, 5, 0}, about)
}

// where a packet came to, 0 if it did not within a tenth of a second.
func (d *dealer) where(t testing.TB, number uint32) int {
	t.Helper()
	var ready []unix.PollFd
	for _, w := range d.replicas {
		ready = append(ready, unix.PollFd{Fd: int32(w.fd), Events: unix.POLLIN})
	}
	_, _ = unix.Poll(ready, 100)
	for i, w := range d.replicas {
		came := map[uint32]int{}
		if w.numbers(t, came); came[number] > 0 {
			return i + 1
		}
	}
	return 0
}

// TestGoneReplicaIsLeftNoFlow: one that is taken out keeps its flows, unless its port has gone.
func TestGoneReplicaIsLeftNoFlow(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		d := newDealer(t)
		d.both(t, steer.Kind{}, hook, 1, 2, 3)
		all := flows(0, 15)
		before := d.places(t, all)
		d.both(t, steer.Kind{}, hook, 1, -2, 3)
		if after := d.places(t, all); !maps.Equal(before, after) {
			t.Errorf("flows were at %v, and are at %v", by(before), by(after))
		}
		if l, err := d.LinkByName("third"); err != nil || d.LinkDel(l) != nil {
			t.Fatal("cannot remove a port: ", err)
		}
		d.replicas = d.replicas[:2]
		d.both(t, steer.Kind{}, hook, 1, -2)
		after := d.places(t, all)
		for f, at := range before {
			if at != 3 && after[f] != at {
				t.Errorf("%+v was at %d, and is at %d", f, at, after[f])
			}
		}
	})
}

// fragment makes a packet the first fragment of a longer one.
func fragment(packet []byte) []byte {
	packet[14+6] = 0x20
	return packet
}
