package steer_test

import (
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// parted are ports with a node behind each: the first sends packets to the others, and these to the
// last.
var parted = []string{"tell", "one", "two", "out"}

// way to the node behind a port.
func way(to int, joint bool) steer.BranchWay {
	return steer.BranchWay{Node: parted[to], Number: uint32(100 + to), Port: parted[to], Joint: joint}
}

// branches are what the ports do.
func branches(hook string) (all []steer.Spec) {
	for i, ways := range [][]steer.BranchWay{{way(3, true), way(1, false), way(2, false)}, {way(3, true)}, {way(3, true)}, {way(0, false), way(1, false), way(2, false)}} {
		b := &steer.Branch{Node: parted[i], Number: uint32(100 + i), Back: i == 3, Ways: ways, Flows: 1 << 14}
		all = append(all, steer.Spec{Device: parted[i], To: ways[0].Port, Branch: b, Hook: hook})
	}
	return all
}

// parter sends packets to where ways part, and from where they come together.
type parter struct {
	*dealer
	wires []wire
}

func newParter(t testing.TB, specs []steer.Spec) *parter {
	nstest.Require(t, feature.BPFIngress)
	p := &parter{dealer: &dealer{forwarder: newForwarderOf(t, parted)}}
	for i := range parted {
		p.wires = append(p.wires, p.wire(t, i))
	}
	p.replicas = p.wires
	for _, s := range specs {
		p.apply(t, resource.Create, s)
		if found := p.read(t)[s.Device]; found != s.Fingerprint() {
			t.Errorf("%s reads back %q, want %q", s.Device, found, s.Fingerprint())
		}
	}
	p.labels(t, label.Rule{Mark: 1, Mask: 0xf, Node: "one", Label: 101}, label.Rule{Mark: 0x20, Mask: 0xffffffff, Node: "two", Label: 102}, label.Rule{Mark: 7, Mask: 7, Node: "nowhere", Label: 999})
	return p
}

// labels what the first node sends.
func (p *parter) labels(t testing.TB, rules ...label.Rule) {
	t.Helper()
	h, err := netns.Open(p.nodes[0])
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	dev, err := h.LinkByName("eth0")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.LinkSetAlias(dev, resource.Mark(p.Owner)+"eth0"); err != nil {
		t.Fatal(err)
	}
	at, s := resource.At(h, p.Owner), label.Spec{Device: "eth0", Rules: rules}
	if err := (label.Kind{}).Apply(at, []resource.Change{{Op: resource.Update, Key: "eth0", Spec: s}}); err != nil {
		t.Fatal(err)
	}
	if found, err := (label.Kind{}).Read(at); err != nil || len(found) != 1 || found[0].Fingerprint != s.Fingerprint() {
		t.Errorf("labels read back %v, error %v, want %q", found, err, s.Fingerprint())
	}
}

// sends a packet that a node makes, with a mark, until it comes somewhere: there.
func (p *parter) sends(t testing.TB, from int, mark int, packet func(number uint32) []byte) int {
	t.Helper()
	w := p.wires[from]
	if err := unix.SetsockoptInt(w.fd, unix.SOL_SOCKET, unix.SO_MARK, mark); err != nil {
		t.Fatal(err)
	}
	for range 30 { // another test may flood this machine
		p.number++
		w.send(t, packet(p.number))
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
			if at := p.where(t, p.number); at > 0 {
				return at - 1
			}
		}
	}
	t.Fatalf("no packet from %s comes anywhere", parted[from])
	return 0
}

// TestMarksPart packets, whatever they are, and what has no mark goes the planned way, as does what
// has a label that leads nowhere.
func TestMarksPart(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p := newParter(t, branches(hook))
		for name, packet := range map[string]func(uint32) []byte{
			"arp": func(n uint32) []byte { return frame(broadcast, []byte{8, 6}, 60, n) }, "cut off": func(n uint32) []byte { return frame(stranger, []byte{8, 0}, 60, n) },
			"jumbo": func(n uint32) []byte { return frame(stranger, []byte{8, 0}, 1514, n) }, "a fragment": func(n uint32) []byte { return fragment(flow{}.packet(n)) },
			"IPv4": flow{}.packet, "IPv6": flow{six: true}.packet,
		} {
			for mark, to := range map[int]int{0: 3, 1: 1, 0x10: 3, 0x31: 1, 0x20: 2, 0x21: 1, 0x22: 3, 0xff: 3} {
				if at := p.sends(t, 0, mark, packet); at != to {
					t.Errorf("%s with mark %#x goes to %s, want %s", name, mark, parted[at], parted[to])
				}
			}
		}
		now, err := steer.PartedAt(resource.At(p.Handle, p.Owner), branches(hook))
		if err != nil || now.Aside["tell"][101].Packets < 18 || now.Aside["tell"][102].Packets < 6 || now.Strange["tell"] < 6 || len(now.Aside["tell"]) != 2 {
			t.Errorf("%+v, error %v", now, err)
		}
	})
}

// ends tells whether nothing comes of packets with a mark that a node sends.
func (p *parter) ends(t testing.TB, from int, mark int, packet func(number uint32) []byte) bool {
	t.Helper()
	if err := unix.SetsockoptInt(p.wires[from].fd, unix.SOL_SOCKET, unix.SO_MARK, mark); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p.number++
		p.wires[from].send(t, packet(p.number))
		if p.where(t, p.number) > 0 {
			return false
		}
	}
	return true
}

// TestEndsBeforeANode: packets that go to nodes which fail end, both ways, and are counted by themselves, and others go on; a
// program with other ways knows on which those are.
func TestEndsBeforeANode(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		specs := branches(hook)
		p := newParter(t, specs)
		var one, two flow
		two.id = 1
		back := func(f flow) func(uint32) []byte { f.back = true; return f.packet }
		passes := func() {
			t.Helper()
			for f, mark := range map[flow]int{one: 1, two: 0x20} {
				if at := p.sends(t, 0, mark, f.packet); at != mark&1+mark>>4 {
					t.Errorf("with mark %#x it comes to %s", mark, parted[at])
				}
				if at := p.sends(t, mark&1+mark>>4, 0, f.packet); at != 3 {
					t.Errorf("with mark %#x it comes on to %s", mark, parted[at])
				}
				if at := p.sends(t, 3, 0, back(f)); at != mark&1+mark>>4 {
					t.Errorf("with mark %#x it comes back to %s", mark, parted[at])
				}
			}
		}
		set := func(nodes ...uint32) {
			t.Helper()
			for _, at := range []string{"tell", "out"} {
				p.port(t, at, func(port *steer.Port) error {
					if !port.Parts() {
						t.Errorf("at %s no ways part", at)
					}
					failing := map[uint32]steer.Node{}
					for _, n := range nodes {
						failing[n] = steer.Node{Fails: steer.Ends}
					}
					return port.SetNodes(failing)
				})
			}
			if is, err := steer.Diverted(resource.At(p.Handle, p.Owner)); err != nil || is != (len(nodes) > 0) {
				t.Errorf("packets to %v end: diverted %v, error %v", nodes, is, err)
			}
		}
		counted := func() *steer.Parted {
			t.Helper()
			now, err := steer.PartedAt(resource.At(p.Handle, p.Owner), specs)
			if err != nil {
				t.Fatal(err)
			}
			return now
		}
		// ended is what is counted when so many packets ended, and a while later: others may be on their way yet.
		ended := func(enough func(*steer.Parted) bool) *steer.Parted {
			t.Helper()
			for deadline := time.Now().Add(time.Minute); !enough(counted()) && time.Now().Before(deadline); {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(20 * time.Millisecond)
			return counted()
		}
		passes()
		if now := counted(); len(now.Ended["tell"])+len(now.Ended["out"]) > 0 {
			t.Errorf("nothing fails, and packets ended: %+v", now.Ended)
		}
		set(102)
		before, dropped := counted(), nstest.Dropped(t)
		for range 2 {
			if !p.ends(t, 0, 0x20, two.packet) || !p.ends(t, 3, 0, back(two)) {
				t.Errorf("packets come to a node that fails")
			}
			if at := p.sends(t, 0, 1, one.packet); at != 1 {
				t.Errorf("it comes to %s", parted[at])
			}
			if at := p.sends(t, 3, 0, back(one)); at != 1 {
				t.Errorf("it comes back to %s", parted[at])
			}
			if at := p.sends(t, 0, 0, flow{id: 9}.packet); at != 3 {
				t.Errorf("what has no mark comes to %s", parted[at])
			}
			s := specs[0] // another program comes
			b := *s.Branch
			b.Ways = slices.Clone(b.Ways)
			slices.Reverse(b.Ways[1:])
			s.Branch = &b
			p.apply(t, resource.Update, s)
		}
		if now := ended(func(now *steer.Parted) bool {
			return !nstest.Amiss(t, now.Ended["tell"][102].Packets, 6, dropped) && !nstest.Amiss(t, now.Ended["out"][102].Packets, 6, dropped)
		}); now.Aside["tell"][102] != before.Aside["tell"][102] || now.Aside["tell"][101].Packets < before.Aside["tell"][101].Packets+2 ||
			nstest.Amiss(t, now.Ended["tell"][102].Packets, 6, dropped) || now.Ended["tell"][102].Bytes != now.Ended["tell"][102].Packets*uint64(len(two.packet(0))) || nstest.Amiss(t, now.Ended["out"][102].Packets, 6, dropped) {
			t.Errorf("6 packets ended before a node, each way: %+v, before that %+v", now, before)
		}
		set(103, 101)
		if !p.ends(t, 0, 1, one.packet) || !p.ends(t, 0, 0, flow{id: 9}.packet) {
			t.Errorf("packets come to nodes that fail")
		}
		if now := ended(func(now *steer.Parted) bool {
			return !nstest.Amiss(t, now.Ended["tell"][101].Packets, 3, dropped) && !nstest.Amiss(t, now.Ended["tell"][103].Packets, 3, dropped)
		}); nstest.Amiss(t, now.Ended["tell"][101].Packets, 3, dropped) || nstest.Amiss(t, now.Ended["tell"][103].Packets, 3, dropped) {
			t.Errorf("3 packets ended on each of two ways, one of them the planned one: %+v", now.Ended)
		}
		p.port(t, "tell", func(port *steer.Port) error {
			if nodes, err := port.Nodes(); err != nil || len(nodes) != 2 || nodes[101].Fails != steer.Ends || nodes[103].Fails != steer.Ends {
				t.Errorf("packets end before %v, error %v", nodes, err)
			}
			return nil
		})
		set()
		passes()
	})
}

// TestAnswersComeBack by the way that their flow came last, with errors about it; fragments by that of
// the newest between their addresses. What is not known goes the planned way.
func TestAnswersComeBack(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p := newParter(t, branches(hook))
		for i, f := range flows(0, 12) {
			from, back := i%3, f
			back.back = true
			if at := p.sends(t, 3, 0, back.packet); at != 0 {
				t.Errorf("an answer in a flow that nobody knows goes to %s", parted[at])
			}
			for _, from := range []int{from, (from + 1) % 3} { // and then another way
				if at := p.sends(t, from, 0, f.packet); at != 3 {
					t.Fatalf("from %s to %s", parted[from], parted[at])
				}
				for name, packet := range map[string]func(uint32) []byte{
					"an answer": back.packet, "an error": f.complaint, "the same again": f.packet,
					"a fragment": func(n uint32) []byte { return fragmentOf(back, n) },
				} {
					if at := p.sends(t, 3, 0, packet); at != from {
						t.Errorf("%+v came by %s, and %s goes back by %s", f, parted[from], name, parted[at])
					}
				}
			}
			// An error on the way there is of no flow that comes this way.
			p.sends(t, (from+2)%3, 0, f.complaint)
			if at := p.sends(t, 3, 0, back.packet); at != (from+1)%3 {
				t.Errorf("behind an error about it, %+v goes back by %s", f, parted[at])
			}
		}
		for name, packet := range map[string][]byte{"arp": frame(broadcast, []byte{8, 6}, 60, 1), "cut off": frame(stranger, []byte{8, 0}, 60, 1)} {
			if at := p.sends(t, 3, 0, func(n uint32) []byte {
				return append(slices.Clone(packet), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
			}); at != 0 {
				t.Errorf("%s goes back by %s", name, parted[at])
			}
		}
		now, err := steer.PartedAt(resource.At(p.Handle, p.Owner), branches(hook))
		// 24 flows, and two pairs of addresses.
		if err != nil || now.New != 24 || now.Moved < 24 || now.Unkept != 0 || now.Strange["out"] < 24 || now.Known[103][100]+now.Known[103][101]+now.Known[103][102] != 26 {
			t.Errorf("%+v, error %v", now, err)
		}
	})
}

func fragmentOf(f flow, number uint32) []byte {
	packet := f.packet(number)
	if !f.six {
		return fragment(packet)
	}
	// RFC 8200 §4.5: a header between that of IPv6 and what is in parts.
	const at = 14 + 40
	packet[14+5] += 8
	packet[14+6] = 44
	return slices.Insert(packet, at, 17, 0, 0, 1, 0, 0, 0, byte(number))
}

// TestAnswersComeBackOverVersions of the program, by the way that their flow came.
func TestAnswersComeBackOverVersions(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		thisOne, specs := another(t, &steer.BranchName), branches(hook)
		p := newParter(t, specs)
		for i, f := range flows(0, 6) {
			p.sends(t, i%3, 0, f.packet)
		}
		thisOne()
		for _, s := range specs {
			p.apply(t, resource.Update, s)
		}
		for i, f := range flows(0, 6) {
			f.back = true
			if at := p.sends(t, 3, 0, f.packet); at != i%3 {
				t.Errorf("%+v goes back by %s, and came by %s", f, parted[at], parted[i%3])
			}
		}
	})
}

// TestAnswersComeBackWithOtherRoom for flows: a table of another size knows those that the one before did.
func TestAnswersComeBackWithOtherRoom(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		specs := branches(hook)
		p := newParter(t, specs)
		for i, f := range flows(0, 6) {
			p.sends(t, i%3, 0, f.packet)
		}
		for _, room := range []uint32{1 << 15, 1 << 13} {
			var changes []resource.Change
			for i := range specs {
				specs[i].Branch.Flows = room
				changes = append(changes, resource.Change{Op: resource.Update, Key: specs[i].Device, Spec: specs[i]})
			}
			if err := (steer.Kind{}).Apply(resource.At(p.Handle, p.Owner), changes); err != nil {
				t.Fatal(err)
			}
			for i, f := range flows(0, 6) {
				f.back = true
				if at := p.sends(t, 3, 0, f.packet); at != i%3 {
					t.Errorf("with room for %d flows %+v goes back by %s, and came by %s", room, f, parted[at], parted[i%3])
				}
			}
		}
	})
}

// TestBranchesForget: what knows too many flows forgets those not seen for longest, and no packet is
// lost for it.
func TestBranchesForget(t *testing.T) {
	specs := branches(steer.Clsact)
	for i := range specs {
		specs[i].Branch.Flows = 1024
	}
	p := newParter(t, specs)
	nstest.OnOneCore()
	for i := range uint16(4000) {
		p.wires[1].send(t, flow{id: i}.packet(0))
	}
	last := flow{id: 5000}
	p.sends(t, 1, 0, last.packet)
	last.back = true
	if at := p.sends(t, 3, 0, last.packet); at != 1 {
		t.Errorf("the newest of many flows goes back by %s", parted[at])
	}
	if at := p.sends(t, 3, 0, flow{id: 0, back: true}.packet); at != 0 {
		t.Errorf("the oldest of many flows goes back by %s", parted[at])
	}
}

// TestWaysAreLeft to packets with labels from before while they are told of new ones, and flows that
// came by a way that is gone go back as planned.
func TestWaysAreLeft(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p := newParter(t, branches(hook))
		f := flow{id: 1}
		p.sends(t, 1, 0, f.packet)
		fewer := branches(hook)
		fewer[0].Branch.Ways, fewer[3].Branch.Ways = fewer[0].Branch.Ways[:1:1], fewer[3].Branch.Ways[:1:1]
		set := func(k steer.Kind) {
			for _, s := range fewer {
				if err := k.Apply(resource.At(p.Handle, p.Owner), []resource.Change{{Op: resource.Update, Key: s.Device, Spec: s}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		f.back = true
		for _, c := range []struct {
			leave    bool
			to, back int
		}{{true, 2, 1}, {true, 2, 1}, {false, 3, 0}} {
			set(steer.Kind{Leave: c.leave})
			if at := p.sends(t, 0, 0x20, flow{id: 9}.packet); at != c.to {
				t.Errorf("left %v: a label from before leads to %s", c.leave, parted[at])
			}
			if at := p.sends(t, 3, 0, f.packet); at != c.back {
				t.Errorf("left %v: a flow from before goes back to %s", c.leave, parted[at])
			}
			if found := p.read(t)["tell"]; (found == fewer[0].Fingerprint()) == c.leave {
				t.Errorf("left %v: it reads back %q", c.leave, found)
			}
		}
	})
}
