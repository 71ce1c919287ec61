package pass

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"

	"nfchain.dev/nfchain/bpf/passrules"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// TCP's flags, by RFC 9293 section 3.1.
const syn, ack = 2, 16

// sides is a place with an interface for each way: eth0 and its peer far0, where one end is, and eth1
// with far1.
func sides(t *testing.T) resource.Place {
	t.Helper()
	p := place(t)
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "eth1", MTU: 9000}, PeerName: "far1"}
	if err := p.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	if err := p.LinkSetAlias(pair, resource.Mark(p.Owner)+"eth1"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"far1", "eth1"} {
		dev, err := p.LinkByName(name)
		if err == nil {
			err = p.LinkSetUp(dev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"far1", "eth1"} {
		nstest.Carries(t, p.Handle, name)
	}
	return resource.At(p.Handle, p.Owner)
}

// segment of TCP between the addresses that frames have, and port 80; or one the other way.
func segment(back bool, port uint16, flags byte) []byte {
	l4 := ports(port, 80)
	ip := ipv4(6, 0, 0, nil, len(l4))
	if back {
		l4 = ports(80, port)
		copy(ip[12:], slices.Concat(ip[16:20], ip[12:16]))
	}
	l4[13] = flags
	return frame(ether(typeIPv4), ip, l4)
}

// rule about TCP between those.
func rule(verdict string, states ...string) ruleset.Rule {
	return ruleset.Rule{Verdict: verdict, Counted: true, Match: ruleset.Match{Source: netip.MustParsePrefix("10.0.0.0/8"), Protocol: "tcp", States: states}}
}

// opens lets the end behind far0 open connections, drops what is of none, and counts each.
func opens() Firewall {
	fresh := rule("accept", "new")
	fresh.DestinationPorts = ruleset.Ports{First: 80, Last: 80}
	return Firewall{Slot: 3, Name: "fw", Policy: "drop", Rules: []ruleset.Rule{fresh, rule("accept", "established"), rule("drop")}}
}

// guards is the pass of an interface that is nothing but a firewall.
func guards(device string, f Firewall) Spec {
	return Spec{Device: device, Steps: []Step{NewRules(f.Slot)}, Firewalls: []Firewall{f}, Connections: LeastConnections}
}

// both has both interfaces guarded.
func both(t *testing.T, p resource.Place, west, east Firewall) {
	t.Helper()
	var changes []resource.Change
	for _, s := range []Spec{guards("eth0", west), guards("eth1", east)} {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	if err := (Kind{}).Apply(p, changes); err != nil {
		t.Fatalf("%+v", err)
	}
}

// tallied by each rule of a firewall.
func tallied(t *testing.T, p resource.Place, device string, f Firewall) (n []uint64) {
	t.Helper()
	c, found, err := RulesAt(p, device, f)
	if err != nil || !found {
		t.Fatalf("the rules at %s: %t, %v", device, found, err)
	}
	for _, r := range c.Rules {
		n = append(n, r.Packets)
	}
	return n
}

// none is no rule: the packet went on by itself.
const none = -1

// meets has the program of an interface look at a frame, and tells which rule decided over it. Rules
// that drop are to do that.
func meets(t *testing.T, p resource.Place, device string, f Firewall, frame []byte) (which int) {
	t.Helper()
	before, which := tallied(t, p, device, f), none
	verdict := runAt(t, p, device, frame)
	for i, n := range tallied(t, p, device, f) {
		if n != before[i] {
			which = i
		}
	}
	if goes := which == none || f.Rules[which].Verdict == "accept"; goes != (verdict == goesOn) {
		t.Errorf("rule %d at %s gives verdict %#x", which, device, verdict)
	}
	return which
}

// runAt has the first pass of an interface look at a frame.
func runAt(t *testing.T, p resource.Place, device string, frame []byte) (verdict uint32) {
	t.Helper()
	at(t, p, device, func(a attached) {
		var err error
		if verdict, err = a.Program.Program.Run(&ebpf.RunOptions{Data: frame}); err != nil {
			t.Error(err)
		}
	})
	return verdict
}

// at looks at the pass of an interface.
func at(t *testing.T, p resource.Place, device string, look func(attached)) {
	t.Helper()
	dev, err := p.Device(device)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Do(func() error {
		all, err := find(p, dev.Attrs().Index)
		for _, a := range all {
			look(a)
			a.Close()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// expect that packets meet these rules, one after the other.
type expect []struct {
	device string
	back   bool
	port   uint16
	flags  byte
	rule   int
}

func (e expect) of(t *testing.T, p resource.Place, f Firewall) {
	t.Helper()
	for i, c := range e {
		if got := meets(t, p, c.device, f, segment(c.back, c.port, c.flags)); got != c.rule {
			t.Errorf("packet %d at %s meets rule %d, want %d", i, c.device, got, c.rule)
		}
	}
}

// TestFirewallSeesBothWays: what was seen at the one interface is known at the other, and they count
// together.
func TestFirewallSeesBothWays(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	expect{
		{"eth1", true, 1000, syn | ack, 2}, {"eth0", false, 1000, syn, 0}, {"eth1", true, 1000, syn | ack, 1},
		{"eth0", false, 1000, ack, 1}, {"eth1", true, 1000, ack, 1}, {"eth1", true, 1001, syn | ack, 2},
	}.of(t, p, f)
	for _, device := range []string{"eth0", "eth1"} {
		if got := tallied(t, p, device, f); !slices.Equal(got, []uint64{1, 3, 2}) {
			t.Errorf("counted at %s: %v", device, got)
		}
	}
	if c, found, err := ConnectionsAt(p, "eth0"); err != nil || !found || c.Held != 1 {
		t.Errorf("connections %+v: %t, %v", c, found, err)
	}
}

// TestFirewallOnAWire is that by packets that come in.
func TestFirewallOnAWire(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	until := func(device string, frame []byte, rule int) {
		t.Helper()
		for deadline, next := time.Now().Add(time.Minute), time.Now(); ; time.Sleep(time.Millisecond) {
			if now := time.Now(); now.After(next) { // again where this machine lost it
				send(t, p, device, frame)
				next = now.Add(time.Second)
			}
			if tallied(t, p, "eth0", f)[rule] > 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("nothing from %s meets rule %d: %v", device, rule, tallied(t, p, "eth0", f))
			}
		}
	}
	until("far0", segment(false, 1000, syn), 0)
	until("far1", segment(true, 1000, syn|ack), 1)
	if got := tallied(t, p, "eth1", f); got[2] != 0 {
		t.Errorf("dropped of a connection that is known: %v", got)
	}
	until("far1", segment(true, 1001, syn|ack), 2)
}

// TestRulesChangeAndConnectionsStay: whatever the rules are, and whichever interface has them first, a
// connection stays what it was.
func TestRulesChangeAndConnectionsStay(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	expect{{"eth0", false, 1000, syn, 0}, {"eth1", true, 1000, syn | ack, 1}, {"eth0", false, 1000, ack, 1}}.of(t, p, f)
	closed := opens()
	closed.Rules = append([]ruleset.Rule{rule("drop", "new"), rule("drop", "invalid")}, closed.Rules...)
	apply(t, p, resource.Update, guards("eth0", closed))
	expect{{"eth0", false, 1000, ack, 3}, {"eth0", false, 1001, syn, 0}}.of(t, p, closed)
	expect{{"eth1", true, 1000, ack, 1}, {"eth1", true, 1001, syn | ack, 2}}.of(t, p, f)
	apply(t, p, resource.Update, guards("eth1", closed))
	expect{{"eth1", true, 1000, ack, 3}, {"eth1", true, 1001, syn | ack, 1}, {"eth0", false, 1000, ack, 3}}.of(t, p, closed)
	if got := tallied(t, p, "eth0", closed); !slices.Equal(got, []uint64{1, 1, 0, 3, 0}) {
		t.Errorf("both count %v", got)
	}
	// As the second of two steps, with other things in the slots.
	moved := closed
	moved.Slot = 9
	s := guards("eth0", moved)
	s.Steps = append([]Step{NewCount(3)}, s.Steps...)
	apply(t, p, resource.Update, s)
	expect{{"eth0", false, 1000, ack, 3}}.of(t, p, moved)
	if got := tallied(t, p, "eth1", closed); got[3] != 4 {
		t.Errorf("counts on as %v", got)
	}
	both(t, p, f, f)
	expect{{"eth0", false, 1000, ack, 1}, {"eth1", true, 1000, ack, 1}, {"eth0", false, 1001, syn, 0}}.of(t, p, f)
}

// TestFirstFragmentOfADatagram: UDP's length is that of all fragments, so that the first one is no less a packet of its connection for being shorter.
// Of a packet that is no fragment such a length is wrong.
func TestFirstFragmentOfADatagram(t *testing.T) {
	const part, whole = 1400, 3000
	datagram := ports(1000, 111)[:8]
	binary.BigEndian.PutUint16(datagram[4:], whole)
	data := make([]byte, part-len(datagram))
	refused := ruleset.Rule{Verdict: "drop", Counted: true, Match: ruleset.Match{Protocol: "udp", DestinationPorts: ruleset.Ports{First: 111, Last: 111}, States: []string{"new"}}}
	p, f := sides(t), Firewall{Slot: 3, Name: "fw", Policy: "accept", Rules: []ruleset.Rule{refused}}
	both(t, p, f, f)
	for name, c := range map[string]struct {
		frame []byte
		rule  int
	}{
		"IPv4":             {frame(ether(typeIPv4), ipv4(17, 0, 0x2000, nil, part), datagram, data), 0},
		"IPv6":             {frame(ether(typeIPv6), ipv6(44, 0, 8+part), fragmentHeader(17, 0, true), datagram, data), 0},
		"IPv4, no more":    {frame(ether(typeIPv4), ipv4(17, 0, 0, nil, part), datagram, data), none},
		"IPv6, no more":    {frame(ether(typeIPv6), ipv6(44, 0, 8+part), fragmentHeader(17, 0, false), datagram, data), none},
		"IPv6, whole":      {frame(ether(typeIPv6), ipv6(17, 0, part), datagram, data), none},
		"IPv4, not first":  {frame(ether(typeIPv4), ipv4(17, 0, 0x2010, nil, part), datagram, data), none},
		"IPv4, no segment": {frame(ether(typeIPv4), ipv4(6, 0, 0x2000, nil, part), datagram, data), none},
	} {
		if got := meets(t, p, "eth0", f, c.frame); got != c.rule {
			t.Errorf("%s: meets rule %d, want %d", name, got, c.rule)
		}
	}
}

// TestFragmentsBehindTheFirst go as that does, whatever is there of ports in them, where rules ask for the state of connections: others, those that come before
// it, and those of one that is dropped, are invalid.
func TestFragmentsBehindTheFirst(t *testing.T) {
	accepted := ruleset.Rule{Verdict: "accept", Counted: true, Match: ruleset.Match{Protocol: "udp", DestinationPorts: ruleset.Ports{First: 111, Last: 111}, States: []string{"new", "established"}}}
	refused := ruleset.Rule{Verdict: "drop", Counted: true, Match: ruleset.Match{Protocol: "udp", DestinationPorts: ruleset.Ports{First: 112, Last: 112}}}
	invalid := ruleset.Rule{Verdict: "drop", Counted: true, Match: ruleset.Match{States: []string{"invalid"}}}
	const accepts, refuses, invalidates = 0, 1, 2
	p, f := sides(t), Firewall{Slot: 3, Name: "fw", Policy: "accept", Rules: []ruleset.Rule{accepted, refused, invalid}}
	both(t, p, f, f)
	data := make([]byte, 1392)
	four := func(id uint16, fragment uint16, protocol byte, payload ...[]byte) []byte {
		inner := frame(payload...)
		ip := ipv4(protocol, 0, fragment, nil, len(inner))
		binary.BigEndian.PutUint16(ip[4:], id)
		return frame(ether(typeIPv4), ip, inner)
	}
	six := func(id uint16, offset uint16, more bool, protocol byte, payload ...[]byte) []byte {
		h := fragmentHeader(protocol, offset, more)
		binary.BigEndian.PutUint16(h[6:], id)
		inner := frame(append([][]byte{h}, payload...)...)
		return frame(ether(typeIPv6), ipv6(44, 0, len(inner)), inner)
	}
	from := func(f []byte) []byte { // another end
		f = slices.Clone(f)
		at := 14 + 15
		if f[12] == typeIPv6>>8 {
			at = 14 + 23
		}
		f[at]++
		return f
	}
	to := func(port uint16) []byte {
		h := ports(1000, port)[:8]
		binary.BigEndian.PutUint16(h[4:], 5000)
		return h
	}
	for name, version := range map[string]struct {
		first       func(id, port uint16) []byte
		later, last func(id uint16) []byte
	}{
		"IPv4": {
			func(id, port uint16) []byte { return four(id, 0x2000, 17, to(port), data) },
			func(id uint16) []byte { return four(id, 0x2000|175, 17, data) },
			func(id uint16) []byte { return four(id, 350, 17, data) },
		},
		"IPv6": {
			func(id, port uint16) []byte { return six(id, 0, true, 17, to(port), data) },
			func(id uint16) []byte { return six(id, 175, true, 17, data) },
			func(id uint16) []byte { return six(id, 350, false, 17, data) },
		},
		"IPv6, with an extension behind": {
			func(id, port uint16) []byte { return six(id, 0, true, 60, extension(17), to(port), data) },
			func(id uint16) []byte { return six(id, 175, true, 60, data) },
			func(id uint16) []byte { return six(id, 350, false, 60, data) },
		},
	} {
		base := uint16(len(name)) << 8 // of IPv6 two are known in one table
		for i, c := range []struct {
			frame []byte
			rule  int
		}{
			{version.later(base + 1), invalidates},
			{version.first(base+1, 111), accepts},
			{version.later(base + 1), accepts},
			{version.later(base + 2), invalidates},
			{from(version.later(base + 1)), invalidates},
			{version.first(base+2, 112), refuses},
			{version.later(base + 2), invalidates},
			{version.last(base + 1), accepts},
			{version.first(base+3, 111), accepts},
			{version.last(base + 3), accepts},
		} {
			if got := meets(t, p, "eth0", f, c.frame); got != c.rule {
				t.Errorf("%s: packet %d meets rule %d, want %d", name, i, got, c.rule)
			}
		}
		more := f
		more.Rules = append(slices.Clone(f.Rules), rule("accept"))
		for _, s := range []Firewall{more, f} { // and while edits put other programs in the place of those there
			for _, device := range []string{"eth0", "eth1"} {
				with := guards(device, s)
				with.Steps = append(with.Steps, Step{Act: Count})
				apply(t, p, resource.Update, with)
				apply(t, p, resource.Update, guards(device, s))
			}
		}
		if got := meets(t, p, "eth0", f, version.later(base+1)); got != accepts {
			t.Errorf("%s: behind an edit it meets rule %d", name, got)
		}
		f.Rules[accepts].States = []string{"new"} // and what they said of the first counts no more
		for _, device := range []string{"eth0", "eth1"} {
			apply(t, p, resource.Update, guards(device, f))
		}
		if got := meets(t, p, "eth0", f, version.later(base+3)); got != invalidates {
			t.Errorf("%s: by other rules it meets rule %d", name, got)
		}
		f.Rules[accepts].States = []string{"new", "established"}
		for _, device := range []string{"eth0", "eth1"} {
			apply(t, p, resource.Update, guards(device, f))
		}
	}
	f.Rules = []ruleset.Rule{{Verdict: "accept", Counted: true, Match: ruleset.Match{Protocol: "udp", DestinationPorts: ruleset.Ports{First: 111, Last: 111}}}, refused}
	for _, device := range []string{"eth0", "eth1"} {
		apply(t, p, resource.Update, guards(device, f))
	}
	for _, c := range []struct {
		frame []byte
		rule  int
	}{{four(9, 0x2000, 17, to(111), data), 0}, {four(9, 175, 17, data), none}} {
		if got := meets(t, p, "eth0", f, c.frame); got != c.rule {
			t.Errorf("where no rule asks for connections it meets rule %d, want %d", got, c.rule)
		}
	}
}

// TestConnectionsMove to a table of another size, and into the one of two firewalls that were apart.
func TestConnectionsMove(t *testing.T) {
	p, f := sides(t), opens()
	g := f
	g.Name, g.Slot = "other", 4
	both(t, p, f, g)
	expect{{"eth0", false, 1000, syn, 0}, {"eth0", true, 1000, syn | ack, 1}}.of(t, p, f)
	expect{{"eth1", false, 1000, syn, 0}, {"eth1", true, 1000, syn | ack, 1}, {"eth1", false, 1001, syn, 0}}.of(t, p, g)
	s := guards("eth0", f)
	s.Connections *= 2
	apply(t, p, resource.Update, s)
	expect{{"eth0", false, 1000, ack, 1}, {"eth0", false, 1001, ack, 0}}.of(t, p, f)
	s.Steps, s.Firewalls = append(s.Steps, NewRules(g.Slot)), append(s.Firewalls, g)
	apply(t, p, resource.Update, s)
	expect{{"eth0", false, 1000, ack, 1}}.of(t, p, f)
	expect{{"eth0", false, 1000, ack, 1}, {"eth0", true, 1001, syn | ack, 1}}.of(t, p, g)
}

// TestConnectionsOverVersions of the program are known, where they are laid out alike; also in a table of another size.
func TestConnectionsOverVersions(t *testing.T) {
	for _, room := range []uint32{LeastConnections, 2 * LeastConnections} {
		p, f := sides(t), opens()
		var others []knowing
		for _, device := range []string{"eth0", "eth1"} {
			object, err := passrules.LoadProgram()
			if err != nil {
				t.Fatal(err)
			}
			l, err := guards(device, f).furnished(object, held.PassMark+"another", numbers{}, nil, others)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			k, _ := l.knows()
			others = append(others, k)
			dev, err := p.Device(device)
			if err == nil {
				err = p.Do(func() error { return held.Put(p, dev.Attrs().Index, held.Passes, l.Program) })
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if verdict := runAt(t, p, "eth0", segment(false, 1000, syn)); verdict != goesOn {
			t.Fatalf("verdict %#x", verdict)
		}
		for _, device := range []string{"eth0", "eth1"} {
			s := guards(device, f)
			s.Connections = room
			apply(t, p, resource.Update, s)
		}
		expect{{"eth1", true, 1000, syn | ack, 1}, {"eth0", false, 1000, ack, 1}}.of(t, p, f)
	}
}

// TestConnectionsThatBeginMeanwhile are known where a table of another size takes over: what the pass that is replaced saw since
// the new one has its connections, and what it saw last of those.
func TestConnectionsThatBeginMeanwhile(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	expect{{"eth0", false, 1000, syn, 0}, {"eth0", false, 1002, syn, 0}}.of(t, p, f)
	wider := func(device string) Spec {
		s := guards(device, f)
		s.Connections *= 2
		return s
	}
	for _, device := range []string{"eth0", "eth1"} {
		dev, err := p.Device(device)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Do(func() error {
			n := &neighbours{place: p}
			defer n.close()
			old, err := find(p, dev.Attrs().Index)
			if err != nil {
				return err
			}
			defer held.CloseAll(old)
			l, err := replacing(wider(device), numbers{}, &old[0], n)
			if err != nil {
				return err
			}
			for _, frame := range [][]byte{segment(false, 1001, syn), segment(true, 1000, syn|ack)} {
				if verdict, err := old[0].Program.Program.Run(&ebpf.RunOptions{Data: frame}); err != nil || verdict != goesOn {
					t.Errorf("before %s is replaced: verdict %#x, error %v", device, verdict, err)
				}
			}
			defer n.made(l)
			return l.putFor(p, []site{{dev.Attrs().Index, old}}, wider(device), n, false)
		})
		if err != nil {
			t.Fatal(err)
		}
		expect{{device, true, 1001, syn | ack, 1}, {device, false, 1000, ack, 1}, {device, true, 1002, syn | ack, 1}}.of(t, p, f)
	}
	readsBack(t, p, wider("eth0"), wider("eth1"))
}

// TestConnectionsBetweenTwoPasses: what the pass of one way saw of a connection while that of the other had a table of another size
// already is known when both have it.
func TestConnectionsBetweenTwoPasses(t *testing.T) {
	p, f := sides(t), opens()
	both(t, p, f, f)
	expect{{"eth0", false, 1000, syn, 0}}.of(t, p, f)
	for i, device := range []string{"eth0", "eth1"} {
		s := guards(device, f)
		s.Connections *= 2
		apply(t, p, resource.Update, s)
		if i == 0 {
			expect{{"eth1", true, 1000, syn | ack, 1}}.of(t, p, f)
		}
	}
	expect{{"eth0", false, 1000, ack, 1}, {"eth1", true, 1000, ack, 1}}.of(t, p, f)
}

// TestConnectionsOfAPassThatGoes are known where its firewall is now, also those that began when it was there already.
func TestConnectionsOfAPassThatGoes(t *testing.T) {
	p, f := sides(t), opens()
	g := f
	g.Name, g.Slot = "other", 4
	both(t, p, f, g)
	s := guards("eth0", f)
	s.Steps, s.Firewalls = append(s.Steps, NewRules(g.Slot)), append(s.Firewalls, g)
	apply(t, p, resource.Update, s)
	expect{{"eth1", false, 1000, syn, 0}}.of(t, p, g)
	apply(t, p, resource.Delete, guards("eth1", g))
	expect{{"eth0", false, 1001, syn, 0}}.of(t, p, g)
	expect{{"eth0", true, 1001, syn | ack, 1}}.of(t, p, g)
	if c, found, err := ConnectionsAt(p, "eth0"); err != nil || !found || c.Held != 3 {
		t.Errorf("connections %+v: %t, %v", c, found, err)
	}
}

// TestFirewallOfOneWay lets the other pass, and knows the connections that were opened there. What it
// found out there counts for nothing here, whatever addresses packets bear.
func TestFirewallOfOneWay(t *testing.T) {
	p, f := sides(t), opens()
	f.Rules = []ruleset.Rule{rule("accept", "established"), rule("drop")}
	aside := f
	aside.Aside = true
	if !f.Follows() {
		t.Error("asks for no states")
	}
	both(t, p, f, aside)
	expect{
		{"eth0", false, 1000, syn | ack, 1}, {"eth1", true, 1000, syn, none}, {"eth0", false, 1000, syn | ack, 0},
		{"eth1", true, 1000, ack, none}, {"eth0", true, 1000, ack, 0}, {"eth1", true, 1000, ack, none}, {"eth0", true, 1000, ack, 0},
		{"eth1", true, 1001, ack | syn, none}, {"eth0", false, 1002, syn, 1},
	}.of(t, p, f)
}

// TestFirewallsReadBack as what they are, and share what they can.
func TestFirewallsReadBack(t *testing.T) {
	p, f := sides(t), opens()
	aside, other := f, f
	aside.Aside = true
	other.Rules = append(slices.Clone(f.Rules), rule("accept"))
	known := map[string]bool{}
	for _, pair := range [][2]Firewall{{f, f}, {f, f}, {f, aside}, {other, other}} {
		both(t, p, pair[0], pair[1])
		found := read(t, p)
		for i, device := range []string{"eth0", "eth1"} {
			want := guards(device, pair[i])
			if !slices.Contains(found, resource.Observed{Key: device, Fingerprint: want.Fingerprint()}) {
				t.Errorf("found %+v\nwant %s", found, want.Fingerprint())
			}
			known[want.Fingerprint()] = true
		}
		west, east := mapsAt(t, p, "eth0"), mapsAt(t, p, "eth1")
		for _, name := range []string{rulesFlowsMap, rulesTalliesMap, rulesPartsMap, rulesCountedMap, rulesMemoryMap} {
			if shared := west[name] == east[name]; shared != (name != rulesMemoryMap || pair[0].Aside == pair[1].Aside) {
				t.Errorf("%s is shared: %t", name, shared)
			}
		}
	}
	if len(known) != 3 {
		t.Errorf("three firewalls are described as %v", known)
	}
	more := guards("eth0", other)
	more.Connections++
	if known[more.Fingerprint()] {
		t.Error("how many connections it remembers is not told")
	}
}

// mapsAt an interface, by name.
func mapsAt(t *testing.T, p resource.Place, device string) map[string]ebpf.MapID {
	t.Helper()
	ids := map[string]ebpf.MapID{}
	at(t, p, device, func(a attached) {
		for name, m := range a.Maps {
			info, err := m.Info()
			if err != nil {
				t.Error(err)
				continue
			}
			ids[name], _ = info.ID()
		}
	})
	return ids
}

// TestFirewallsAreData: a plan that is written and read again has the same.
func TestFirewallsAreData(t *testing.T) {
	s := guards("eth0", opens())
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var again Spec
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&again); err != nil || again.Fingerprint() != s.Fingerprint() {
		t.Errorf("%v\n%s\n%s", err, s.Fingerprint(), again.Fingerprint())
	}
}

func TestRefusesFirewalls(t *testing.T) {
	f := opens()
	twice := guards("eth0", f)
	twice.Steps, twice.Firewalls = append(twice.Steps, NewRules(4)), append(twice.Firewalls, f)
	twice.Firewalls[1].Slot = 4
	stepless := guards("eth0", f)
	stepless.Steps = []Step{NewCount(f.Slot)}
	few := guards("eth0", f)
	few.Connections = LeastConnections - 1
	strange := guards("eth0", f)
	strange.Firewalls = []Firewall{f}
	strange.Firewalls[0].Rules = []ruleset.Rule{{Verdict: "accept", Match: ruleset.Match{InputDevice: "eth0"}}}
	for want, s := range map[string]Spec{
		"without rules": {Steps: []Step{NewRules(0)}}, "call it otherwise": twice, "has no step": stepless, "connections": few,
		"names an interface": strange,
	} {
		if l, err := Load(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
			if err == nil {
				_ = l.Close()
			}
		}
	}
}
