package pass

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/netns"
	"nfchain.dev/nfchain/internal/netns/ethtool"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
)

// hiding is a NAT that hides where connections come from.
func hiding(from string) NAT {
	return NAT{Name: "hides", Rules: []Translation{{Source: true, Targets: targets(from)}}}
}

// translating is the pass of an interface that is nothing but a NAT.
func translating(device string, n NAT, answers bool) Spec {
	n.Answers = answers
	return Spec{Device: device, Steps: []Step{NewNAT(n.Slot)}, NATs: []NAT{n}, Connections: LeastFlows}
}

// through runs the pass of an interface on a packet of a flow, and tells as what it goes on.
func through(t *testing.T, p resource.Place, device string, flow tuple) (verdict uint32, to tuple) {
	t.Helper()
	dev, err := p.Device(device)
	if err != nil {
		t.Fatal(err)
	}
	f := frame(ether(typeIPv4), flow.packet([]byte("payload"), true))
	if err := p.Do(func() error {
		all, err := find(p, dev.Attrs().Index)
		if err != nil {
			return err
		}
		defer held.CloseAll(all)
		if len(all) != 1 {
			return fmt.Errorf("%d passes", len(all))
		}
		o := ebpf.RunOptions{Data: f, DataOut: make([]byte, len(f))}
		verdict, err = all[0].Program.Program.Run(&o)
		to = parse(o.DataOut[14:]).tuple
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return verdict, to
}

// TestNATAddresses are told of the passes that are there, by whose they are.
func TestNATAddresses(t *testing.T) {
	p := pairIn(t, place(t), "eth1", "far1")
	out, in := hiding("10.9.0.1"), NAT{Name: "leads", Slot: 1, Rules: []Translation{
		{Address: addr("10.9.0.2"), Targets: targets("10.2.0.1", "10.2.0.2")}, {Address: addr("2001:db8::2"), Targets: targets("2001:db8::5")}}}
	out.Rules = append(out.Rules, Translation{Source: true, Targets: targets("2001:db8::1")})
	s := translating("eth1", out, false)
	s.Steps, s.NATs = append(s.Steps, NewNAT(1)), append(s.NATs, in)
	told := func(want map[uint32][]netip.Addr) {
		t.Helper()
		if all, err := NATAddresses(p); err != nil || !reflect.DeepEqual(all, want) {
			t.Errorf("%v %v, want %v", all, err, want)
		}
	}
	told(map[uint32][]netip.Addr{})
	apply(t, p, resource.Create, s)
	apply(t, p, resource.Create, translating("far1", hiding("10.9.0.1"), true))
	told(map[uint32][]netip.Addr{WhoseNAT("hides"): {addr("10.9.0.1"), addr("2001:db8::1")}, WhoseNAT("leads"): {addr("10.9.0.2"), addr("2001:db8::2")}})
}

// TestNATKnowsBothWays: what one interface's pass opened, the other's answers to, whatever is replaced.
func TestNATKnowsBothWays(t *testing.T) {
	p := pairIn(t, place(t), "eth1", "far1")
	asked := tuple{version: 4, protocol: 6, source: addr("10.1.0.1"), destination: addr("10.2.0.1"), ports: [2]uint16{4000, 80}}
	hidden := asked
	hidden.source = addr("10.9.0.1")
	put := func(n NAT, devices ...string) {
		t.Helper()
		for _, device := range devices {
			apply(t, p, resource.Update, translating(device, n, device == "eth1"))
		}
		for _, o := range read(t, p) {
			if want := translating(o.Key, n, o.Key == "eth1").Fingerprint(); len(devices) == 2 && o.Fingerprint != want {
				t.Errorf("found %s\nwant %s", o.Fingerprint, want)
			}
		}
	}
	goes := func(device string, flow, want tuple) {
		t.Helper()
		if verdict, to := through(t, p, device, flow); verdict != goesOn || to != want {
			t.Errorf("at %s %+v goes on as %+v (%d), want %+v", device, flow, to, int32(verdict), want)
		}
	}
	put(hiding("10.9.0.1"), "eth0", "eth1")
	goes("eth0", asked, hidden)
	goes("eth1", hidden.answer(), asked.answer())
	put(hiding("10.9.0.2"), "eth0")
	goes("eth1", hidden.answer(), asked.answer())
	put(hiding("10.9.0.2"), "eth0", "eth1")
	goes("eth0", asked, hidden)
	goes("eth1", hidden.answer(), asked.answer())
	asked.ports[0], hidden.ports[0], hidden.source = 4001, 4001, addr("10.9.0.2")
	goes("eth0", asked, hidden)
	hidden.ports[0] = 4002
	if verdict, _ := through(t, p, "eth1", hidden.answer()); verdict != dropped {
		t.Errorf("what nobody asked for goes on: %d", int32(verdict))
	}
}

// TestNATMeetsAPacketTwice: while a chain is changed, what one pass translated comes to another with the same NAT, which
// leaves it as it is, both ways. It translates what comes to it alone, then, as the other did.
func TestNATMeetsAPacketTwice(t *testing.T) {
	p := pairIn(t, pairIn(t, pairIn(t, place(t), "eth1", "far1"), "eth2", "far2"), "eth3", "far3")
	n := hiding("10.9.0.1")
	n.Rules = append(n.Rules, Translation{Address: addr("10.0.0.80"), Protocol: 6, First: 80, Last: 80, Port: 8080, Targets: targets("10.2.0.1")})
	for i, device := range []string{"eth0", "eth1", "eth2", "eth3"} {
		apply(t, p, resource.Update, translating(device, n, i%2 == 1))
	}
	goes := func(device string, flow, want tuple) {
		t.Helper()
		if verdict, to := through(t, p, device, flow); verdict != goesOn || to != want {
			t.Errorf("at %s %+v goes on as %+v (%d), want %+v", device, flow, to, int32(verdict), want)
		}
	}
	asked := tuple{version: 4, protocol: 6, source: addr("10.1.0.1"), destination: addr("10.0.0.80"), ports: [2]uint16{4000, 80}}
	became := tuple{version: 4, protocol: 6, source: addr("10.9.0.1"), destination: addr("10.2.0.1"), ports: [2]uint16{4000, 8080}}
	goes("eth0", asked, became)
	goes("eth2", became, became)
	goes("eth3", became.answer(), asked.answer())
	goes("eth1", asked.answer(), asked.answer())
	goes("eth2", asked, became)
	goes("eth0", became, became)
	goes("eth1", became.answer(), asked.answer())
	goes("eth3", asked.answer(), asked.answer())
	goes("eth2", asked, became)
	if verdict, to := through(t, p, "eth2", became); verdict != goesOn || to == became || to.source != became.source {
		t.Errorf("somebody else's connection goes on as %+v (%d), so that answers to it are not told from another's", to, int32(verdict))
	}
	echo := tuple{version: 4, protocol: 1, echo: asks, source: addr("10.1.0.1"), destination: addr("10.2.0.1"), ports: [2]uint16{7, 0}}
	hidden := echo
	hidden.source = addr("10.9.0.1")
	goes("eth0", echo, hidden)
	goes("eth2", hidden, hidden)
	goes("eth1", hidden.answer(), echo.answer())
	goes("eth3", echo.answer(), echo.answer())
}

// TestNATForgetsTheIdlest: connections that are opened in the full table make room for each other, and what
// made room is counted; what goes on is translated all the same.
func TestNATForgetsTheIdlest(t *testing.T) {
	require(t)
	l, err := Load(translating("", hiding("10.9.0.1"), false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	const n = 4 * LeastFlows
	for i := range n {
		flow := tuple{version: 4, protocol: 17, source: addr("10.1.0.1"), destination: addr("10.2.0.1"), ports: [2]uint16{uint16(1024 + i), 53}}
		if verdict, out, _ := run(t, l.Program, given{frame: frame(ether(typeIPv4), flow.packet(nil, true))}); verdict != goesOn || parse(out[14:]).source != addr("10.9.0.1") {
			t.Fatalf("connection %d: %d, %x", i, int32(verdict), out)
		}
	}
	known, err := l.Translated()
	if err != nil || known.Held > 2*LeastFlows || known.Evicted < n {
		t.Errorf("%+v: %v", known, err)
	}
}

// ends of a wire in namespaces of their own: a, which opens connections, and b.
type ends struct{ a, b *netns.Handle }

// wired has NATs where packets come in at both ends: connections to 10.77.9.9 and fd77::9:9 are taken to b's
// own addresses, from 10.77.0.77 and fd77::77.
func wired(t *testing.T) (e ends) {
	t.Helper()
	require(t)
	e.a, e.b = nstest.Open(t, nstest.Namespace(t)), nstest.Open(t, nstest.Namespace(t))
	if err := e.a.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "wire"}, PeerName: "wire", PeerNamespace: netlink.NsFd(e.b.FD())}); err != nil {
		t.Fatal(err)
	}
	n := NAT{Name: "n", Rules: []Translation{
		{Address: addr("10.77.9.9"), Protocol: 6, First: 80, Last: 80, Port: 8080, Targets: targets("10.77.0.2")},
		{Address: addr("fd77::9:9"), Protocol: 6, First: 80, Last: 80, Port: 8080, Targets: targets("fd77::2")},
		{Source: true, Targets: targets("10.77.0.77")}, {Source: true, Targets: targets("fd77::77")},
	}}
	programs := [2]*Loaded{}
	var others []knowing
	for way := range programs {
		l, err := attachable(translating("wire", n, way == 1), others)
		if err != nil {
			t.Fatalf("%+v", err)
		}
		t.Cleanup(func() { _ = l.Close() })
		k, _ := l.knows()
		programs[way], others = l, []knowing{k}
	}
	macA, macB := raised(t, e.a, programs[1], "10.77.0.1/16", "fd77::1/64"), raised(t, e.b, programs[0], "10.77.0.2/16", "fd77::2/64")
	stays(t, e.a, macB, "10.77.9.9", "fd77::9:9", "10.77.0.2", "fd77::2")
	stays(t, e.b, macA, "10.77.0.77", "fd77::77", "10.77.0.1", "fd77::1")
	for _, h := range []*netns.Handle{e.a, e.b} {
		nstest.Carries(t, h, "wire")
	}
	return e
}

// attachable is the program of a spec, beside others.
func attachable(s Spec, others []knowing) (*Loaded, error) {
	spec, called, err := s.program()
	if err != nil {
		return nil, err
	}
	return s.furnished(spec, called, numbers{}, nil, others)
}

// raised is an end with its addresses, and a program for what comes in.
func raised(t *testing.T, h *netns.Handle, l *Loaded, addresses ...string) net.HardwareAddr {
	t.Helper()
	dev, err := h.LinkByName("wire")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		parsed, err := netlink.ParseAddr(a)
		if err != nil {
			t.Fatal(err)
		}
		parsed.Flags = unix.IFA_F_NODAD
		if err := h.AddrAdd(dev, parsed); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.LinkSetUp(dev); err != nil {
		t.Fatal(err)
	}
	if err := h.Do(func() error {
		return held.Put(resource.At(h, ""), dev.Attrs().Index, held.Passes, l.Program)
	}); err != nil {
		t.Fatal(err)
	}
	return dev.Attrs().HardwareAddr
}

// stays has addresses be the other end's without asking for them.
func stays(t *testing.T, h *netns.Handle, mac net.HardwareAddr, addresses ...string) {
	t.Helper()
	dev, err := h.LinkByName("wire")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range addresses {
		n := netlink.Neigh{LinkIndex: dev.Attrs().Index, State: netlink.NUD_PERMANENT, IP: addr(text).AsSlice(), HardwareAddr: mac}
		if err := h.NeighSet(&n); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNATOnAWire carries bytes of TCP there and back, in segments as they are sent and as the kernel merges
// them, whose checksums the other end checks.
func TestNATOnAWire(t *testing.T) {
	e := wired(t)
	for _, offloaded := range []bool{false, true} {
		for _, h := range []*netns.Handle{e.a, e.b} {
			s, err := ethtool.Open(h.Ref)
			if err != nil {
				t.Fatal(err)
			}
			err = s.SetTxChecksum("wire", offloaded)
			s.Close()
			if err != nil {
				t.Fatal(err)
			}
		}
		echoed(t, e, "10.77.0.2", "10.77.9.9", "10.77.0.77")
		echoed(t, e, "fd77::2", "fd77::9:9", "fd77::77")
	}
}

// echoed sends bytes to a service that has them come back.
func echoed(t *testing.T, e ends, server, service, hidden string) {
	t.Helper()
	var listener net.Listener
	if err := e.b.Do(func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(server, "8080"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	from, served := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(served)
		c, err := listener.Accept()
		if err != nil {
			from <- err.Error()
			return
		}
		defer func() { _ = c.Close() }()
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		from <- host
		_, _ = io.Copy(c, c)
	}()
	var c net.Conn
	if err := e.a.Do(func() (err error) {
		c, err = net.DialTimeout("tcp", net.JoinHostPort(service, "80"), time.Minute)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Close()
		<-served
	}()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 1<<18)
	random := rand.NewChaCha8([32]byte{3})
	_, _ = random.Read(data)
	wrote := make(chan error, 1)
	go func() {
		_, err := c.Write(data)
		wrote <- err
	}()
	back := make([]byte, len(data))
	_, err := io.ReadFull(c, back)
	if wrong := <-wrote; err != nil || wrong != nil || !bytes.Equal(back, data) {
		t.Errorf("%s: %v, %v; what came back is the same: %t", service, err, wrong, bytes.Equal(back, data))
	}
	if got := <-from; got != hidden {
		t.Errorf("%s was connected to from %s, want %s", service, got, hidden)
	}
}
