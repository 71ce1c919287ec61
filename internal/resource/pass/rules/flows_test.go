package rules_test

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/rulestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/pass/rules"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// TCP's flags, by RFC 9293 section 3.1.
const fin, syn, rst, psh, ack, urg = 1, 2, 4, 8, 16, 32

// said is a packet of a conversation: with the flags of TCP or the type of ICMP, and the number of an echo.
type said struct {
	rules.Packet
	what byte
	id   uint16
	// of is the packet that an error of ICMP is about.
	of *said
}

// follows asks the kernel about a packet of a connection, at a time in ns.
func follows(t testing.TB, o *rulestest.ProgramObjects, p said, slot, generation uint32, now uint64) (rule int, state rules.State) {
	t.Helper()
	q := question(p.Packet, 0)
	q[whatAt] = p.what
	binary.NativeEndian.PutUint32(q[idAt:], uint32(p.id))
	binary.NativeEndian.PutUint32(q[slotAt:], slot)
	binary.NativeEndian.PutUint32(q[generationAt:], generation)
	binary.NativeEndian.PutUint64(q[nowAt:], now)
	_, out, err := o.Followed.Test(q)
	if err != nil {
		t.Fatal(err)
	}
	return int(int32(binary.NativeEndian.Uint32(out[answerAt:])) >> 1), rules.State(out[foundAt])
}

// bytes on the wire.
func (p said) bytes() []byte {
	if p.of != nil {
		return errorOf(p)
	}
	b := bytesOf(p.Packet, false)
	l4 := b[len(b)-20:]
	switch p.Protocol {
	case unix.IPPROTO_TCP:
		l4[12], l4[13] = 5<<4, p.what
	case unix.IPPROTO_UDP:
		l4[5] = 20
	case unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6:
		l4[0] = p.what
		binary.BigEndian.PutUint16(l4[4:], p.id)
	}
	return b
}

// errorOf has the packet that it is about behind eight bytes of its own (RFC 792, RFC 4443).
func errorOf(p said) []byte {
	b := bytesOf(p.Packet, false)
	b = b[:len(b)-12]
	b[len(b)-8] = p.what
	b = append(b, p.of.bytes()...)
	if p.Source.Is6() {
		binary.BigEndian.PutUint16(b[4:], uint16(len(b)-40))
		return b
	}
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	return summed(b)
}

// back is the same from the other end.
func (p said) back(what byte) said {
	p.Source, p.Destination, p.SourcePort, p.DestinationPort = p.Destination, p.Source, p.DestinationPort, p.SourcePort
	p.what = what
	return p
}

// conversation between two ends of few, of which the first packets may not have been seen; or two with the
// same ports, one after the other.
func conversation(r *rand.Rand) []said {
	client, server := "10.0.0.", "10.1.0."
	six := r.IntN(3) == 0
	if six {
		client, server = "2001:db8::", "2001:db8:1::"
	}
	p := said{Packet: rules.Packet{Source: netip.MustParseAddr(client + one(r, "1", "2")), Destination: netip.MustParseAddr(server + one(r, "1", "2")),
		SourcePort: rules.NoPort, DestinationPort: rules.NoPort, Protocol: one[uint8](r, 6, 6, 17, 1, 253)}}
	if r.IntN(2) == 0 { // the lower address is not always the first to speak
		p.Source, p.Destination = p.Destination, p.Source
	}
	switch p.Protocol {
	case 6, 17:
		p.SourcePort, p.DestinationPort = int32(2000+r.IntN(40)), one[int32](r, 80, 443)
	}
	if p.Protocol == 6 {
		talk := tcp(r, p)
		if r.IntN(2) == 0 {
			return append(talk, tcp(r, p)...)
		}
		return talk[min(len(talk), one(r, 0, 1, 2, r.IntN(8))):]
	}
	return exchange(r, p, six)
}

// tcp opens, talks and ends, or is broken off.
func tcp(r *rand.Rand, p said) (talk []said) {
	from := func(flags byte) said { p.what = flags; return p }
	talk = append(talk, from(syn), p.back(syn|ack), from(ack))
	for range r.IntN(5) {
		talk = append(talk, one(r, from(ack|psh), p.back(ack), p.back(ack|psh), from(ack|urg), from(0), p.back(syn|fin)))
	}
	if r.IntN(3) == 0 {
		return append(talk, from(rst))
	}
	return append(talk, from(fin|ack), p.back(ack), p.back(fin|ack), from(ack))
}

// exchange is questions and answers in any order.
func exchange(r *rand.Rand, p said, six bool) (talk []said) {
	question, answer := byte(0), byte(0)
	if p.Protocol == 1 {
		question, answer, p.id = 8, 0, uint16(r.IntN(5))
		if six {
			p.Protocol, question, answer = 58, 128, 129
		}
	}
	p.what = question
	for range 1 + r.IntN(4) {
		talk = append(talk, one(r, p, p, p.back(answer), unreachable(r, p, six)))
	}
	return talk
}

// unreachable is said about a packet by who should have had it, or by another; seldom to another than who
// sent it.
func unreachable(r *rand.Rand, of said, six bool) said {
	e := of.back(3)
	e.of, e.Protocol, e.SourcePort, e.DestinationPort = &of, 1, rules.NoPort, rules.NoPort
	router, stranger := "10.1.0.99", "10.1.0.98"
	if six {
		e.Protocol, e.what = 58, 1
		router, stranger = "2001:db8::99", "2001:db8::98"
	}
	e.Source = one(r, e.Source, netip.MustParseAddr(router))
	e.Destination = one(r, e.Destination, e.Destination, e.Destination, netip.MustParseAddr(stranger))
	return e
}

// statefulRules tell the states apart, and let some connections begin.
func statefulRules(r *rand.Rand) []ruleset.Rule {
	var list []ruleset.Rule
	for _, s := range []string{"established", "related", "invalid"} {
		list = append(list, ruleset.Rule{Match: ruleset.Match{States: []string{s}, Protocol: "tcp"}, Verdict: one(r, "accept", "drop")},
			ruleset.Rule{Match: ruleset.Match{States: []string{s}}, Verdict: one(r, "accept", "drop")})
	}
	list = append(list, ruleset.Rule{Match: ruleset.Match{Protocol: "tcp", DestinationPorts: ruleset.Ports{First: 443, Last: 443}}, Verdict: "drop"},
		ruleset.Rule{Match: ruleset.Match{Source: netip.MustParsePrefix("10.0.0.1/32"), States: []string{"new"}}, Verdict: one(r, "accept", "drop")},
		ruleset.Rule{Match: ruleset.Match{Destination: netip.MustParsePrefix("2001:db8:1::2/128")}, Verdict: "drop"},
		ruleset.Rule{Match: ruleset.Match{States: []string{"new"}}, Verdict: "accept"})
	for i := range list {
		list[i].Counted = true
	}
	return list
}

// forwards makes the namespace one that packets go through, back to where they came from, and its
// connection tracking one that looks neither at checksums nor at sequence numbers.
func (n *netfilter) forwards(t *testing.T) {
	t.Helper()
	err := n.place.Do(func() error {
		for path, value := range map[string]string{
			"ipv4/ip_forward": "1", "ipv6/conf/all/forwarding": "1", "ipv4/conf/all/rp_filter": "0", "ipv4/conf/west/rp_filter": "0",
			"netfilter/nf_conntrack_checksum": "0", "netfilter/nf_conntrack_tcp_be_liberal": "1",
		} {
			if err := os.WriteFile("/proc/sys/net/"+path, []byte(value), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	west, err := n.place.LinkByName("west")
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"10.0.0.0/15", "2001:db8::/32"} {
		net, err := netlink.ParseIPNet(to)
		if err == nil {
			err = n.place.RouteAdd(&netlink.Route{LinkIndex: west.Attrs().Index, Dst: net})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNetfilterSeesTheSameStates has conversations go on at the same time through a stateful rule set in a
// namespace and through an inline one, and holds what each rule counted there to what it counted here.
func TestNetfilterSeesTheSameStates(t *testing.T) {
	nstest.Require(t, feature.Conntrack)
	total := make([]int, len(statefulRules(rand.New(rand.NewPCG(0, 0))))+1)
	for seed := range uint64(5) {
		n := judgedByNetfilter(t)
		n.forwards(t)
		r := rand.New(rand.NewPCG(seed, 31))
		list := statefulRules(r)
		here := judgedInline(t, list, "drop")
		n.holdAt(t, "forward", list)
		var talks [][]said
		for range 100 {
			talks = append(talks, conversation(r))
		}
		var order []said
		for len(talks) > 0 {
			i := r.IntN(min(len(talks), 4))
			if len(talks[i]) == 0 {
				talks = slices.Delete(talks, i, i+1)
				continue
			}
			p := talks[i][0]
			talks[i] = talks[i][1:]
			order = append(order, p)
			if _, err := unix.Write(n.device, p.bytes()); err != nil {
				t.Fatal(err)
			}
			here.accepts(t, p.bytes())
			if got, want := here.counted(t), n.counted(t); !slices.Equal(got, want) {
				t.Fatalf("seed %d: counted %s by netfilter\nafter %+v", seed, difference(got, want, list), order[max(0, len(order)-12):])
			}
		}
		for i, n := range here.counted(t) {
			total[i] += n
		}
	}
	for i, n := range total[:len(total)-1] {
		if n == 0 && i != 2 { // errors of ICMP are not TCP
			t.Errorf("no packet met rule %d: %v", i, total)
		}
	}
}
