package function_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/function"
	"nfchain.dev/nfchain/internal/function/loadbalancer"
	"nfchain.dev/nfchain/internal/function/nat"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/held"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

func TestMain(m *testing.M) { os.Exit(nstest.Main(m)) }

// translator is a kind that has both forms.
type translator interface {
	function.Translator
	function.Inline
}

// site is where a function is: clients are in the west, in 10.1.0.0/16 and fd01::/64, and servers in the
// east, in 10.2.0.0/16 and fd02::/64.
func site(direction api.Direction) function.Site {
	list := func(words ...string) []netip.Addr { return function.Addresses(words).Parse() }
	s := function.Site{West: "west", East: "east", Direction: direction,
		WestAddresses: list("10.1.255.1", "fd01::ff:1"), EastAddresses: list("10.2.255.1", "fd02::ff:1"),
		Target: list("10.2.0.1", "fd02::1"), Further: list("10.2.0.2", "10.2.0.3", "fd02::2")}
	if direction == api.Reverse {
		s.Target, s.Further = list("10.1.0.1", "fd01::1"), list("10.1.0.2")
	}
	return s
}

// forms are a function with a namespace, through which packets come by tun devices: what is written to one has
// been translated when the write returns, and is read from the other; and one without, in its programs.
type forms struct {
	function.Translation
	devices  [2]int
	programs [2]*ebpf.Program
	// ends are addresses at which packets end that are not translated.
	ends []netip.Addr
	// sent are the packets so far, by which fragments are told.
	sent uint32
	// opens is the way of those whose connections are translated.
	opens int
}

// inBothForms is a function at a site.
func inBothForms(t *testing.T, kind translator, options any, direction api.Direction) *forms {
	t.Helper()
	nstest.Require(t, feature.Root, feature.NFTables, feature.NFTNAT, feature.Tun, feature.BPFIngress)
	s := site(direction)
	f := &forms{Translation: kind.Translates(s, options), opens: function.Opens(direction)}
	f.ends = slices.Concat(s.WestAddresses, s.EastAddresses, f.Service, f.Source)
	f.withNamespace(t, kind, options, s)
	f.withoutNamespace(t, kind, options, s)
	return f
}

func (f *forms) withNamespace(t *testing.T, kind translator, options any, s function.Site) {
	t.Helper()
	h := nstest.Unnamed(t)
	err := h.Do(f.attach)
	t.Cleanup(func() { _ = unix.Close(f.devices[0]); _ = unix.Close(f.devices[1]) })
	if err != nil {
		t.Fatal(err)
	}
	made, err := kind.Contribute(s, options)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range made {
		if err := (ruleset.Kind{}).Apply(resource.At(h, nstest.Owner(t)), []resource.Change{{Key: r.Spec.Key(), Spec: r.Spec}}); err != nil {
			t.Fatal(err)
		}
	}
}

// attach makes the devices, and has the namespace of the thread route between them.
func (f *forms) attach() error {
	for i, name := range []string{"west", "east"} {
		device, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		f.devices[i] = device
		request, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		if err := unix.IoctlIfreq(device, unix.TUNSETIFF, request); err != nil {
			return err
		}
	}
	ip := exec.Command("ip", "-batch", "-")
	ip.Stdin = strings.NewReader(strings.Join([]string{"link set lo up", "link set west up", "link set east up", "addr add 10.1.255.1/16 dev west",
		"addr add 10.2.255.1/16 dev east", "addr add fd01::ff:1/64 dev west nodad", "addr add fd02::ff:1/64 dev east nodad", ""}, "\n"))
	if out, err := ip.CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, out)
	}
	// Connections are known for as long as a test may take. How long is left to either: netfilter forgets after 30 s what
	// nobody answered, and RFC 4787 REQ-5, which the programs keep to, would have it known for 2 minutes at least.
	for _, knob := range []string{"ipv4/ip_forward=1", "ipv6/conf/all/forwarding=1", "ipv4/conf/all/rp_filter=0", "ipv4/conf/west/rp_filter=0",
		"ipv4/conf/east/rp_filter=0", "netfilter/nf_conntrack_tcp_be_liberal=1", "netfilter/nf_conntrack_udp_timeout=3600",
		"netfilter/nf_conntrack_icmp_timeout=3600", "netfilter/nf_conntrack_icmpv6_timeout=3600", "netfilter/nf_conntrack_generic_timeout=3600",
		"netfilter/nf_conntrack_tcp_timeout_syn_sent=3600", "netfilter/nf_conntrack_tcp_timeout_syn_recv=3600", "netfilter/nf_conntrack_tcp_timeout_fin_wait=3600",
		"netfilter/nf_conntrack_tcp_timeout_close_wait=3600", "netfilter/nf_conntrack_tcp_timeout_last_ack=3600", "netfilter/nf_conntrack_tcp_timeout_time_wait=3600",
		"netfilter/nf_conntrack_tcp_timeout_close=3600"} {
		name, value, _ := strings.Cut(knob, "=")
		if err := os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// withoutNamespace has the passes of both ways at interfaces, whose programs are run.
func (f *forms) withoutNamespace(t *testing.T, kind translator, options any, s function.Site) {
	t.Helper()
	steps, err := kind.Steps(options)
	if err != nil {
		t.Fatal(err)
	}
	h, owner := nstest.Unnamed(t), nstest.Owner(t)
	for way, device := range []string{"west", "east"} {
		pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: device}, PeerName: device + "-peer"}
		if err := h.LinkAdd(pair); err != nil {
			t.Fatal(err)
		}
		if err := h.LinkSetAlias(pair, resource.Mark(owner)+device); err != nil {
			t.Fatal(err)
		}
		n := steps.NAT(s)
		n.Name, n.Answers = "same", way != function.Opens(s.Direction)
		spec := pass.Spec{Device: device, Steps: []pass.Step{steps.Step(way)}, NATs: []pass.NAT{n}, Connections: steps.Connections}
		at := resource.At(h, owner)
		if err := (pass.Kind{}).Apply(at, []resource.Change{{Key: device, Spec: spec}}); err != nil {
			t.Fatal(err)
		}
		if err := h.Do(func() error {
			found, err := held.Find(at, pair.Index, held.Passes)
			if err == nil && len(found) == 1 {
				f.programs[way] = found[0].Program
				t.Cleanup(found[0].Close)
				return nil
			}
			return fmt.Errorf("%d passes at %s: %w", len(found), device, err)
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// pair is what becomes of a packet in the form with a namespace, and in the one without; nil where it goes
// no farther.
type pair [2]*packet

// send a packet a way, as it is in either form; in fragments, if a length of the first is told, where it is longer.
func (f *forms) send(t *testing.T, way int, p pair, first int) (got pair) {
	t.Helper()
	f.sent++
	if all := inFragments(p[1].bytes(), first, f.sent); f.takes(t, way, all) {
		if got[1] = f.gone(t, way, all); slices.Contains(f.ends, got[1].to.Addr()) {
			got[1] = nil
		}
	}
	for _, b := range inFragments(p[0].bytes(), first, f.sent) {
		if _, err := unix.Write(f.devices[way], b); err != nil {
			t.Fatal(err)
		}
	}
	got[0] = f.read(t, 1-way, got[1] != nil)
	f.read(t, way, false) // what the kernel says to the sender
	return got
}

// takes tells whether the form without a namespace lets packets go on, and makes of them what they become. It takes all
// fragments of a packet, or none.
func (f *forms) takes(t *testing.T, way int, packets [][]byte) bool {
	t.Helper()
	gone := 0
	for i, b := range packets {
		frame := append(framestest.Ether(map[bool]uint16{true: framestest.TypeIPv4, false: framestest.TypeIPv6}[b[0]>>4 == 4]), b...)
		o := ebpf.RunOptions{Data: frame, DataOut: make([]byte, len(frame))}
		verdict, err := f.programs[way].Run(&o)
		if err != nil {
			t.Fatal(err)
		}
		if packets[i] = o.DataOut[14:]; verdict == 1<<32-1 { // TCX_NEXT
			gone++
		}
	}
	if gone > 0 && gone < len(packets) {
		t.Fatalf("%d of %d fragments go on: %x", gone, len(packets), packets)
	}
	return gone > 0
}

// gone is the packet that went on, maybe in fragments.
func (f *forms) gone(t *testing.T, way int, packets [][]byte) *packet {
	t.Helper()
	var some pieces
	for _, b := range packets {
		if whole := some.add(t, b); whole != nil {
			return parsed(t, whole)
		}
	}
	t.Fatalf("the last fragment is missing: %x", packets)
	return nil
}

// read a packet that came out of a device, and wait for one that should. What the kernel says to its link is none.
func (f *forms) read(t *testing.T, device int, comes bool) (p *packet) {
	t.Helper()
	b := make([]byte, 2048)
	var some pieces
	for until := time.Now().Add(time.Minute); ; {
		n, err := unix.Read(f.devices[device], b)
		switch {
		case err == unix.EAGAIN && (!comes || time.Now().After(until)):
			return p
		case err == unix.EAGAIN:
			time.Sleep(time.Millisecond)
		case err != nil:
			t.Fatal(err)
		case b[0]>>4 == 6 && (b[24] == 0xff || b[8] == 0xfe): // of neighbours and groups
		default:
			if whole := some.add(t, slices.Clone(b[:n])); whole != nil {
				p, comes = parsed(t, whole), false
			}
		}
	}
}

// connection as both forms translate it.
type connection struct {
	way      int
	opened   packet
	went     pair
	answered bool
	ended    ending
	// had is what it went on as at one time or another, in the form without a namespace.
	had []string
}

// traffic of ends on both sides of a function.
type traffic struct {
	*rand.Rand
	*forms
	t     *testing.T
	by    string // how connections are shared out over several addresses, if they are
	known map[string]*connection
	order []*connection
	// taken are where connections to a service went, by it and its port, in either form.
	taken [2]map[netip.AddrPort]map[netip.Addr]int
	// sticky is where those from one source went.
	sticky [2]map[netip.AddrPort]netip.Addr
	// used are what connections went on as.
	used [2]map[string]bool
}

// some of several.
func some[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// fresh is a packet by which an end of a way opens a connection.
func (w *traffic) fresh(way int) packet {
	sides := [2][2][]string{{{"10.1.0.1", "10.1.0.2"}, {"10.2.0.1", "10.2.0.2", "10.2.0.3", "10.2.0.9"}}, {{"fd01::1", "fd01::2"}, {"fd02::1", "fd02::2", "fd02::9"}}}
	family := w.IntN(2)
	near, far := sides[family][way], slices.Clone(sides[family][1-way])
	for _, a := range w.ends { // services, and where nobody is
		if a.Is4() == (family == 0) {
			far = append(far, a.String())
		}
	}
	from, to := netip.MustParseAddr(some(w.Rand, near...)), netip.MustParseAddr(some(w.Rand, far...))
	protocols := []byte{tcp, tcp, udp, udp, icmp}
	// Of other no two connections can be told apart that end at the same address, which is another in either form where
	// several serve. Nor can one of the far side's be from an answer, or the kernel's own from one of those.
	if w.by == "" && way == w.opens {
		protocols = append(protocols, other)
	}
	p := packet{protocol: some(w.Rand, protocols...), flags: syn}
	sources := [2][]uint16{{300, 700, 4000, 4001, 4002}, {5000, 5001}}[way]
	p.from, p.to = netip.AddrPortFrom(from, some(w.Rand, sources...)), netip.AddrPortFrom(to, some[uint16](w.Rand, 53, 80, 81, 8080))
	switch p.protocol {
	case other:
		p.from, p.to, p.flags = netip.AddrPortFrom(from, 0), netip.AddrPortFrom(to, 0), 0
	case icmp:
		if from.Is4() {
			p.asks = some[byte](w.Rand, 0, 0, 13, 17)
		}
		p.to = netip.AddrPortFrom(to, 0)
		fallthrough
	case udp:
		p.flags = 0
	}
	return w.odd(p)
}

// odd gives some packets what few have.
func (w *traffic) odd(p packet) packet {
	if w.IntN(6) == 0 {
		p.options = 1 + w.IntN(4)
	}
	p.unsummed = p.protocol == udp && p.from.Addr().Is4() && w.IntN(6) == 0
	return p
}

// first is the length of a packet's first fragment: 0 where it is whole.
func (w *traffic) first() int { return some(w.Rand, 0, 0, 0, 0, 0, 64) }

// step sends one packet more.
func (w *traffic) step() {
	if len(w.order) == 0 || w.IntN(3) == 0 {
		w.open(w.IntN(2))
		return
	}
	c := w.order[w.IntN(len(w.order))]
	if c.ended == refused {
		w.reopen(c, [2]bool{true, true})
		return
	}
	switch w.IntN(5) {
	case 0:
		w.again(c)
	case 4:
		w.end(c)
	case 1:
		w.fails(1-c.way, c.went, pair{&c.opened, &c.opened})
	case 2:
		back, there := c.opened.answer(), [2]packet{c.went[0].answer(), c.went[1].answer()}
		w.fails(c.way, pair{&back, &back}, pair{&there[0], &there[1]})
	default:
		w.answer(c)
	}
}

// open a connection, or go on with one.
func (w *traffic) open(way int) {
	p := w.fresh(way)
	key := fmt.Sprint(p.protocol, p.asks, p.from, p.to)
	if c := w.known[key]; c != nil {
		if c.ended == closed || c.ended == refused {
			w.reopen(c, [2]bool{true, true})
		} else {
			w.again(c)
		}
		return
	}
	p.payload = w.said()
	c := &connection{way: way, opened: p, went: w.send(w.t, way, pair{&p, &p}, w.first())}
	w.alike(p, c.went)
	if c.went[0] == nil {
		return
	}
	w.known[key], w.order = c, append(w.order, c)
	for form, went := range c.went {
		w.note(form, c, *went)
	}
}

// again sends more the way that a connection was opened.
func (w *traffic) again(c *connection) {
	flags := c.opened.flags
	if c.answered && c.opened.protocol == tcp {
		flags = ack
	}
	w.onward(c, flags)
}

// onward sends more of a connection the way that it was opened.
func (w *traffic) onward(c *connection, flags byte) {
	p := w.odd(c.opened)
	p.payload, p.flags = w.said(), flags
	got := w.send(w.t, c.way, pair{&p, &p}, w.first())
	w.alike(p, got)
	for form, went := range got {
		if went == nil || went.from != c.went[form].from || went.to != c.went[form].to {
			w.t.Fatalf("%s went on as %s, and then as %s", p, c.went[form], went)
		}
	}
}

// answer what went.
func (w *traffic) answer(c *connection) {
	var flags byte
	if c.opened.protocol == tcp {
		flags = ack
		if !c.answered {
			flags |= syn
		}
	}
	w.back(c, flags)
	c.answered = true
}

// back sends something of a connection the other way.
func (w *traffic) back(c *connection, flags byte) {
	var p pair
	said := w.said()
	for form, went := range c.went {
		back := went.answer()
		back.payload, back.flags = said, flags
		p[form] = &back
	}
	for _, got := range w.send(w.t, 1-c.way, p, w.first()) {
		if got == nil || got.from != c.opened.to || got.to != c.opened.from || string(got.payload) != string(said) {
			w.t.Fatalf("%s\nthe answers %s\nand %s\ncame as %s", c.opened, *p[0], *p[1], got)
		}
	}
}

// fails tells who sent packets that they did not arrive, on behalf of who should have got them or of a router. It is
// told about the packets that were sent.
func (w *traffic) fails(way int, came, sent pair) {
	w.t.Helper()
	if w.IntN(4) == 0 {
		w.redirects(way, came, sent)
		return
	}
	var p pair
	router := w.IntN(2) == 0
	for form, about := range came {
		e := packet{protocol: icmp, about: about, from: netip.AddrPortFrom(about.to.Addr(), 0), to: netip.AddrPortFrom(about.from.Addr(), 0)}
		if router {
			e.from = routerOf(way, e.to.Addr())
		}
		p[form] = &e
	}
	got := w.send(w.t, way, p, 0)
	for form, e := range got {
		if e == nil || e.about == nil || e.to.Addr() != sent[form].from.Addr() || e.about.from != sent[form].from || e.about.to != sent[form].to {
			w.t.Fatalf("form %d: the error %s\ncame as %s\nto who sent %s", form, p[form], e, sent[form])
		}
		// From where the sender knows the other end to be, if it does not know who that is.
		from, end := e.from.Addr(), sent[form].to.Addr()
		if from != end && (from != p[form].from.Addr() || end != came[form].to.Addr()) {
			w.t.Fatalf("form %d: the error %s\ncomes from %s to who sent %s", form, p[form], from, sent[form])
		}
	}
}

// alike tells that both forms had a packet go on as the same, but for what they may choose: a port where another
// has the packet's own, and which of several serves it.
func (w *traffic) alike(p packet, got pair) {
	w.t.Helper()
	a, b := got[0], got[1]
	if (a == nil) != (b == nil) {
		w.t.Fatalf("%s\nwent on as %s with a namespace, and as %s without", p, a, b)
	}
	if a == nil {
		return
	}
	same := a.from.Addr() == b.from.Addr() && a.to.Port() == b.to.Port() && string(a.payload) == string(b.payload)
	for _, got := range got {
		same = same && got.protocol == p.protocol && got.flags == p.flags && got.asks == p.asks && got.answers == p.answers && got.options == p.options && got.unsummed == p.unsummed
	}
	if !same || w.by == "" && a.to != b.to || class(*a) != class(p) || class(*b) != class(p) {
		w.t.Fatalf("%s\nwent on as %s with a namespace, and as %s without", p, a, b)
	}
}

// class of a packet's port: those that connections get in the place of one are of the same.
func class(p packet) int {
	switch port := p.from.Port(); {
	case p.protocol == icmp || p.protocol == other || port < 512:
		return 0
	case port < 1024:
		return 1
	}
	return 2
}

// note where a connection went. No two go on as the same, and one keeps its port if that is free, where there is no
// namespace. Netfilter gives connections from the same place the same port, if it can.
func (w *traffic) note(form int, c *connection, went packet) {
	opened, own := c.opened, went
	own.from = netip.AddrPortFrom(went.from.Addr(), opened.from.Port())
	is, kept := asWent(&went), asWent(&own)
	if w.used[form][is] || form == 1 && is != kept && !w.used[form][kept] {
		w.t.Fatalf("%s goes on as %s, which is another's: %t; its own port is another's: %t", opened, went, w.used[form][is], w.used[form][kept])
	}
	w.used[form][is] = true
	if form == 1 {
		c.had = append(c.had, is)
	}
	if went.to.Addr() == opened.to.Addr() {
		return
	}
	if !slices.Contains(w.Served, went.to.Addr()) {
		w.t.Fatalf("%s is taken to %s", opened, went.to)
	}
	at := netip.AddrPortFrom(opened.to.Addr(), 0)
	if w.taken[form][at] == nil {
		w.taken[form][at] = map[netip.Addr]int{}
	}
	w.taken[form][at][went.to.Addr()]++
	if opened.protocol == icmp || opened.protocol == other {
		return // it has no ports that tell
	}
	if to, known := w.sticky[form][opened.from]; known && to != went.to.Addr() {
		w.sticky[form][opened.from] = netip.Addr{} // of several
	} else if !known {
		w.sticky[form][opened.from] = went.to.Addr()
	}
}

// said is what a packet carries.
func (w *traffic) said() []byte {
	b, first := make([]byte, some(w.Rand, w.IntN(40), 60+w.IntN(200))), w.IntN(256)
	for i := range b {
		b[i] = byte(first + 7*i)
	}
	return b
}

// translators with options of every kind.
func translators() map[string]func(t *testing.T) (*forms, string) {
	all := map[string]func(t *testing.T) (*forms, string){}
	for name, o := range map[string]*nat.Options{
		"source":      {Source: &nat.Source{}},
		"masquerade":  {Source: &nat.Source{Masquerade: true}, Destination: &nat.Destination{}},
		"destination": {Destination: &nat.Destination{Protocol: "tcp", Port: "80-90"}},
		"port":        {Source: &nat.Source{}, Destination: &nat.Destination{Protocol: "udp", Port: "53", ToPort: 5353}},
		"public": {Source: &nat.Source{Addresses: function.Addresses{"203.0.113.1", "2001:db8::1"}},
			Destination: &nat.Destination{Addresses: function.Addresses{"203.0.113.2"}, Protocol: "tcp", Port: "80", ToPort: 8080}},
		"elsewhere": {Destination: &nat.Destination{Addresses: function.Addresses{"203.0.113.2", "2001:db8::2"}, To: function.Addresses{"10.2.0.9"}}},
	} {
		for _, direction := range []api.Direction{api.Both, api.Reverse} {
			if direction == api.Reverse && name == "elsewhere" {
				continue // it would be on the side where it is asked for
			}
			all["nat "+name+" "+string(direction)] = func(t *testing.T) (*forms, string) { return inBothForms(t, nat.Kind{}, o, direction), "" }
		}
	}
	for _, by := range []string{"round-robin", "hash"} {
		for name, o := range map[string]loadbalancer.Options{
			"all": {}, "web": {Protocol: "tcp", Port: "80"}, "public": {Addresses: function.Addresses{"203.0.113.2", "2001:db8::2"}, Backends: function.Addresses{"10.2.0.1", "10.2.0.2", "10.2.0.3", "fd02::1"}},
		} {
			o.By = by
			all["loadbalancer "+name+" "+by] = func(t *testing.T) (*forms, string) { return inBothForms(t, loadbalancer.Kind{}, &o, api.Both), by }
		}
	}
	return all
}

// TestTranslatesAsWithNamespace sends the same packets through a function with a namespace, where netfilter
// translates, and through one that is inline, and has answers and errors follow what either made of them.
//
// Either is free to choose a port where another connection has the packet's own, the back end of a connection, and how long
// it knows one without packets; not for a single connection, of which all is held to what its first packet became. Not tried
// is what each does by itself, see docs/functions.md: fragments that come before their first, packets whose checksum is wrong or
// whose header is cut off, segments and answers of no connection.
func TestTranslatesAsWithNamespace(t *testing.T) {
	for name, made := range translators() {
		t.Run(name, func(t *testing.T) {
			w := between(t, made, rand.NewPCG(0, 5))
			for range 600 {
				w.step()
			}
			w.shared()
		})
	}
}

// FuzzTranslatesAsWithNamespace is that by options and packets that bytes say.
func FuzzTranslatesAsWithNamespace(f *testing.F) {
	all := translators()
	names := slices.Sorted(maps.Keys(all))
	random := rand.NewChaCha8([32]byte{3})
	for range 6 {
		data := make([]byte, 1200)
		_, _ = random.Read(data)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		draws := framestest.NewDraws(data)
		w := between(t, all[names[rand.New(draws).IntN(len(names))]], draws)
		for n := 0; n < 200 && draws.Left(); n++ {
			w.step()
		}
		w.shared()
	})
}

// between are both forms of a function, with nobody's traffic yet.
func between(t *testing.T, made func(t *testing.T) (*forms, string), source rand.Source) *traffic {
	t.Helper()
	f, by := made(t)
	w := &traffic{Rand: rand.New(source), forms: f, t: t, by: by, known: map[string]*connection{}}
	for form := range w.taken {
		w.used[form] = map[string]bool{}
		w.taken[form], w.sticky[form] = map[netip.AddrPort]map[netip.Addr]int{}, map[netip.AddrPort]netip.Addr{}
	}
	return w
}

// shared checks how connections were shared out.
func (w *traffic) shared() {
	w.t.Helper()
	for form := range w.taken {
		for service, taken := range w.taken[form] {
			least, most, sum, all := 1<<30, 0, 0, len(function.AllOfFamily(service.Addr(), w.Served))
			for _, n := range taken {
				least, most, sum = min(least, n), max(most, n), sum+n
			}
			if w.by == "round-robin" && (most-least > 1 && len(taken) == all || len(taken) < min(all, 2, sum)) {
				w.t.Errorf("form %d shares connections to %s out as %v", form, service, taken)
			}
		}
		for from, to := range w.sticky[form] {
			if w.by == "hash" && !to.IsValid() {
				w.t.Errorf("form %d takes connections from %s to several", form, from)
			}
		}
	}
}
