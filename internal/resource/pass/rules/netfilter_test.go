package rules_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/pass"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// netfilter is a namespace with a rule set, and a tun device by which packets come in: what is written
// there has been judged when the write returns, so that none is lost or waited for.
type netfilter struct {
	place  resource.Place
	rules  ruleset.Spec
	device int
}

func judgedByNetfilter(t *testing.T) *netfilter {
	t.Helper()
	nstest.Require(t, feature.Root, feature.NFTables, feature.Tun)
	n := &netfilter{place: resource.At(nstest.Unnamed(t), nstest.Owner(t))}
	if err := n.place.Do(n.attach); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(n.device) })
	return n
}

// attach makes the device and brings it up.
func (n *netfilter) attach() (err error) {
	if n.device, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	request, err := unix.NewIfreq("west")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(n.device, unix.TUNSETIFF, request); err != nil {
		return err
	}
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(s) }()
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request)
}

// hold gives the namespace other rules. They are asked before the kernel looks for a route, so that
// every packet meets them.
func (n *netfilter) hold(t *testing.T, list []ruleset.Rule) {
	t.Helper()
	n.holdAt(t, "prerouting", list)
}

func (n *netfilter) holdAt(t *testing.T, hook string, list []ruleset.Rule) {
	t.Helper()
	n.rules = ruleset.Spec{Backend: ruleset.NFTables, Table: "nfchain-rules", Hook: hook, Policy: "drop", Rules: list}
	op := []resource.Change{{Key: n.rules.Key(), Spec: n.rules}}
	if err := (ruleset.Kind{}).Apply(n.place, op); err != nil {
		t.Fatal(err)
	}
}

// counted by each rule, and then by the policy.
func (n *netfilter) counted(t *testing.T) []int {
	t.Helper()
	c, err := ruleset.Count(n.place, n.rules)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(n.rules.Rules)+1)
	for _, r := range c.Rules {
		counts[r.Rule-1] = int(r.Packets)
	}
	counts[len(n.rules.Rules)] = int(c.Dropped.Packets)
	return counts
}

// The headers of RFC 791 and RFC 8200.
func bytesOf(p rules.Packet, fragment bool) []byte {
	if p.Source.Is6() {
		return bytesOf6(p, fragment)
	}
	b := make([]byte, 20, 60)
	b[0], b[8], b[9] = 0x45, 64, p.Protocol
	if fragment {
		b[7] = 1
	}
	b = append(b, payload(p, fragment)...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], p.Source.AsSlice())
	copy(b[16:], p.Destination.AsSlice())
	return summed(b)
}

// summed has the checksum of its header.
func summed(b []byte) []byte {
	b[10], b[11] = 0, 0
	sum := uint32(0)
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	binary.BigEndian.PutUint16(b[10:], ^uint16(sum+sum>>16))
	return b
}

func bytesOf6(p rules.Packet, fragment bool) []byte {
	b := make([]byte, 40, 100)
	b[0], b[6], b[7] = 0x60, p.Protocol, 64
	copy(b[8:], p.Source.AsSlice())
	copy(b[24:], p.Destination.AsSlice())
	switch {
	case p.Protocol == rules.NoProtocol:
		b[6] = unix.IPPROTO_DSTOPTS // which is cut off
	case fragment:
		b[6] = unix.IPPROTO_FRAGMENT
		b = append(b, p.Protocol, 0, 0, 8, 0, 0, 0, 1)
		fallthrough
	default:
		b = append(b, payload(p, fragment)...)
	}
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)-40))
	return b
}

// payload is cut off where there are no ports, or the rest of a fragment.
func payload(p rules.Packet, fragment bool) []byte {
	hasPorts := slices.Contains([]uint8{6, 17, 132}, p.Protocol)
	b := make([]byte, 20)
	switch {
	case fragment:
		return b[:8]
	case hasPorts && p.SourcePort < 0:
		return b[:1]
	case hasPorts && p.DestinationPort < 0:
		b = b[:2]
	case hasPorts:
		binary.BigEndian.PutUint16(b[2:], uint16(p.DestinationPort))
	default:
		return b
	}
	binary.BigEndian.PutUint16(b, uint16(p.SourcePort))
	return b
}

// realPacket is one that comes as far as netfilter.
func realPacket(r *rand.Rand) rules.Packet {
	odd := func(a netip.Addr) bool { return a.Is6() && (a.IsMulticast() || a.IsLoopback()) }
	for {
		p := randomPacket(r)
		p.State = rules.New
		extension := p.Source.Is6() && slices.Contains([]uint8{0, 43, 44, 51, 60}, p.Protocol)
		if !extension && !odd(p.Source) && !odd(p.Destination) {
			return p
		}
	}
}

// inline is a pass with one firewall.
type inline struct{ *pass.Loaded }

func judgedInline(t testing.TB, list []ruleset.Rule, policy string) inline {
	t.Helper()
	nstest.Require(t, feature.Root, feature.BPFIngress)
	l, err := pass.Load(pass.Spec{Steps: []pass.Step{pass.NewRules(5)}, Connections: connections,
		Firewalls: []pass.Firewall{{Slot: 5, Name: "inline", Policy: policy, Rules: list}}})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return inline{l}
}

// accepts tells whether it lets a packet go on.
func (i inline) accepts(t testing.TB, packet []byte) bool {
	t.Helper()
	verdict, err := i.Program.Run(&ebpf.RunOptions{Data: framed(packet)})
	if err != nil {
		t.Fatal(err)
	}
	return verdict == 1<<32-1 // TCX_NEXT
}

// framed is a packet in an Ethernet frame.
func framed(packet []byte) []byte {
	frame := make([]byte, 14, 14+len(packet))
	binary.BigEndian.PutUint16(frame[12:], unix.ETH_P_IP)
	if packet[0]>>4 == 6 {
		binary.BigEndian.PutUint16(frame[12:], unix.ETH_P_IPV6)
	}
	return append(frame, packet...)
}

func (i inline) counted(t testing.TB) (counts []int) {
	t.Helper()
	decided, err := i.Decided()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range decided {
		counts = append(counts, int(d.Packets))
	}
	return counts
}

// TestNetfilterFindsTheSame sends packets through the rule set that a namespace's firewall has and through an
// inline one, and holds what each rule counted there to what it counted here.
func TestNetfilterFindsTheSame(t *testing.T) {
	n := judgedByNetfilter(t)
	together := n.putsTogether(t)
	if together {
		t.Log("this kernel puts fragments together before it asks rules, and none are sent")
	}
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 21))
		list := randomRules(r, 1+r.IntN(150), false)
		here := judgedInline(t, list, "drop")
		n.hold(t, list)
		for range 500 {
			p := realPacket(r)
			packet := bytesOf(p, !together && p.SourcePort < 0 && p.Protocol != rules.NoProtocol && r.IntN(2) == 0)
			if _, err := unix.Write(n.device, packet); err != nil {
				t.Fatal(err)
			}
			rule := first(list, p)
			if got, want := here.accepts(t, packet), rule < len(list) && list[rule].Verdict == "accept"; got != want {
				t.Fatalf("seed %d: %+v accepted %t, want %t", seed, p, got, want)
			}
		}
		if got, want := here.counted(t), n.counted(t); !slices.Equal(got, want) {
			t.Errorf("seed %d: counted %s by netfilter", seed, difference(got, want, list))
		}
	}
}

// putsTogether tells whether the kernel puts fragments together before it asks rules, although none asks for connections: Linux 6.1 does so
// in all namespaces once Open vSwitch's modules are loaded.
func (n *netfilter) putsTogether(t *testing.T) bool {
	t.Helper()
	n.hold(t, []ruleset.Rule{{Verdict: "accept", Counted: true}})
	before := n.counted(t)
	later := bytesOf(rules.Packet{Source: netip.MustParseAddr("10.0.0.1"), Destination: netip.MustParseAddr("10.0.0.2"), Protocol: unix.IPPROTO_UDP}, true)
	if _, err := unix.Write(n.device, later); err != nil {
		t.Fatal(err)
	}
	return counts(before, n.counted(t)) < 0
}

func difference(got, want []int, list []ruleset.Rule) string {
	text := ""
	for i := range got {
		if got[i] == want[i] {
			continue
		}
		rule := "the policy"
		if i < len(list) {
			rule = fmt.Sprintf("%+v", list[i].Match)
		}
		text += fmt.Sprintf("\n%d instead of %d by rule %d, %s", got[i], want[i], i, rule)
	}
	return text
}
