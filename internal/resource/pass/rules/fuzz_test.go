package rules_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"nfchain.dev/nfchain/bpf/framestest"
	"nfchain.dev/nfchain/internal/feature"
	"nfchain.dev/nfchain/internal/nstest"
	"nfchain.dev/nfchain/internal/resource/ruleset"
)

// several packets as one text: each behind its length.
func several(packets ...[]byte) (text []byte) {
	for _, p := range packets {
		text = append(binary.BigEndian.AppendUint16(text, uint16(len(p))), p...)
	}
	return text
}

// apart are the packets of a text, of which none is empty; the last may be shorter than it says.
func apart(text []byte) (packets [][]byte) {
	for len(text) > 2 && len(packets) < 200 {
		n := min(int(binary.BigEndian.Uint16(text)), len(text)-2, 2000)
		if n > 0 {
			packets = append(packets, slices.Clone(text[2:2+n]))
		}
		text = text[2+n:]
	}
	return packets
}

// oddPackets are those of IP among the odd frames, by the order of their names.
func oddPackets() (packets [][]byte) {
	odd := framestest.Odd()
	for name, frame := range odd {
		if typ := binary.BigEndian.Uint16(frame[12:]); typ == unix.ETH_P_IP || typ == unix.ETH_P_IPV6 {
			packets = append(packets, odd[name][14:])
		}
	}
	slices.SortFunc(packets, slices.Compare)
	return packets
}

// oddTransports have lengths of their own that are not those of their packet.
func oddTransports() (packets [][]byte) {
	four, six := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")
	for _, from := range []netip.Addr{four, six} {
		p := said{what: syn}
		p.Source, p.Destination, p.SourcePort, p.DestinationPort, p.Protocol = from, from.Next(), 1000, 80, unix.IPPROTO_TCP
		for _, offset := range []byte{0, 4, 5, 6, 15} {
			b := p.bytes()
			b[len(b)-8] = offset << 4
			packets = append(packets, b)
		}
		if from.Is6() { // what is behind a length of 0 is no part of a packet
			b := p.bytes()
			b[5] = 0
			packets = append(packets, b)
		}
		p.Protocol = unix.IPPROTO_UDP
		for _, length := range []byte{0, 7, 8, 20, 21, 255} {
			b := p.bytes()
			b[len(b)-15] = length
			packets = append(packets, b)
		}
	}
	return packets
}

// FuzzNetfilterFindsTheSame sends any packets through rules in a namespace and through inline ones, and holds what each
// rule counted there to what it counted here. What the kernel refuses before it asks rules is not tried.
func FuzzNetfilterFindsTheSame(f *testing.F) {
	nstest.Require(f, feature.Root, feature.NFTables, feature.Tun, feature.BPFIngress, feature.Conntrack)
	r := rand.New(rand.NewPCG(3, 41))
	var found, talks [][]byte
	for range 60 {
		found = append(found, bytesOf(realPacket(r), false))
	}
	for range 8 {
		for _, p := range conversation(r) {
			talks = append(talks, p.bytes())
		}
	}
	for i, packets := range [][][]byte{oddPackets(), oddTransports(), found, talks} {
		f.Add(uint64(i), false, several(packets...))
		f.Add(uint64(i), true, several(packets...))
	}
	f.Fuzz(func(t *testing.T, seed uint64, stateful bool, text []byte) {
		r := rand.New(rand.NewPCG(seed, 43))
		n, list := judgedByNetfilter(t), randomRules(r, 1+r.IntN(60), false)
		if stateful {
			list = statefulRules(r)
			n.forwards(t)
			n.holdAt(t, "forward", list)
		} else {
			n.hold(t, list)
		}
		same(t, r, n, judgedInline(t, list, "drop"), apart(text), stateful)
	})
}

// same holds what rules find about packets here to what they find in the namespace, and the verdicts to the rules'. Where
// states are asked for, some come in fragments.
func same(t *testing.T, r *rand.Rand, n *netfilter, here inline, packets [][]byte, stateful bool) {
	t.Helper()
	there, is := n.counted(t), here.counted(t)
	asked, closed := 0, ends{}
	for i, b := range packets {
		if b = tried(b, stateful); b == nil || closed.begins(b) {
			continue
		}
		if c, can := cutUp(r, b, uint16(i+1)); can && stateful && r.IntN(3) == 0 {
			had, agree := sameInPieces(t, n, here, c, one(r, inOrder, inOrder, inOrder, firstLast, firstMissing))
			if !agree {
				return
			}
			if there, is = n.counted(t), here.counted(t); had {
				asked++
			}
			continue
		}
		if _, err := unix.Write(n.device, b); err != nil && err != unix.EINVAL {
			t.Fatal(err)
		}
		now := n.counted(t)
		want := counts(there, now)
		if there = now; want < 0 {
			continue // it did not come to the rules
		}
		asked++
		dropped := beyond(b) && asksBehind(n.rules.Rules)
		goes := here.accepts(t, b)
		now = here.counted(t)
		got := counts(is, now)
		is = now
		if dropped {
			if goes || got >= 0 {
				t.Fatalf("packet %d with too many extensions meets rule %d, accepted %t, of %s\n%x", i, got, goes, texts(n.rules.Rules), b)
			}
			continue
		}
		if accepts := want < len(n.rules.Rules) && n.rules.Rules[want].Verdict == "accept"; got != want || goes != accepts {
			t.Fatalf("packet %d meets rule %d, accepted %t, and in a namespace rule %d, accepted %t, of %s\n%x", i, got, goes, want, accepts, texts(n.rules.Rules), b)
		}
	}
	if len(packets) >= 50 && asked == 0 {
		t.Errorf("the kernel had rules for none of %d packets", len(packets))
	}
}

// counts is the first that is another; -1 where all are the same.
func counts(before, after []int) int {
	for i := range before {
		if before[i] != after[i] {
			return i
		}
	}
	return -1
}

func texts(list []ruleset.Rule) (text string) {
	for i, r := range list {
		text += fmt.Sprintf("\n%d: %s %+v", i, r.Verdict, r.Match)
	}
	return text
}

// tried is a packet with right checksums of IP; nil where it has no header. Where states are asked for, it is not what
// the two do not agree about, see docs/functions.md: a segment with a sequence number outside of a window, or of a
// protocol that netfilter knows more of; nor a fragment, into which it is cut behind this ([cutUp]). And it is one that is
// forwarded, since the kernel otherwise tells netfilter about it, and not the rules: between few addresses, with hops left,
// and without options that lead elsewhere.
func tried(b []byte, stateful bool) []byte {
	b = slices.Clone(b)
	switch {
	case b[0]>>4 == 6 && len(b) >= 40:
		if !stateful {
			return b
		}
		return forwarded6(b)
	case b[0]>>4 != 4 || len(b) < 20 || b[0]&15 < 5 || len(b) < int(b[0]&15)*4:
		return nil
	}
	if stateful && !forwarded4(b) {
		return nil
	}
	return headed(b)
}

// headed has the checksum of its header, with options.
func headed(b []byte) []byte {
	b[10], b[11] = 0, 0
	binary.BigEndian.PutUint16(b[10:], uint16(0xffff-framestest.Sum(b[:int(b[0]&15)*4])))
	return b
}

func forwarded4(b []byte) bool {
	at, _ := behind(b)
	b[6], b[7], b[8] = b[6]&0x40, 0, 64
	for i := 20; i < at; i++ {
		b[i] = 1
	}
	near, far := netip.AddrFrom4([4]byte{10, b[13] & 1, 0, 2 - b[15]&1}), netip.AddrFrom4([4]byte{10, b[17] & 1, 0, 2 - b[19]&1})
	copy(b[12:], near.AsSlice())
	copy(b[16:], far.AsSlice())
	return near != far && likewise(b, at, b[9])
}

// behind IP: where the transport begins, and whose it is. Packets with more than eight extensions are not in [tried] where states are asked for.
func behind(b []byte) (at int, protocol byte) {
	if b[0]>>4 == 4 {
		return int(b[0]&15) * 4, b[9]
	}
	at, protocol = 40, b[6]
	for n := 0; n < 8 && slices.Contains([]uint8{0, 43, 51, 60}, protocol) && at+2 <= len(b); n++ {
		size := (int(b[at+1]) + 1) * 8
		if protocol == 51 {
			size = (int(b[at+1]) + 2) * 4
		}
		protocol, at = b[at], at+size
	}
	return at, protocol
}

func forwarded6(b []byte) []byte {
	at, next := behind(b)
	address := func(b []byte) netip.Addr {
		return netip.AddrFrom16([16]byte{0: 0x20, 1: 1, 2: 0xd, 3: 0xb8, 5: b[5] & 1, 15: 2 - b[15]&1})
	}
	near, far := address(b[8:]), address(b[24:])
	b[7] = 64
	copy(b[8:], near.AsSlice())
	copy(b[24:], far.AsSlice())
	if near == far || slices.Contains([]uint8{0, 43, 44, 51, 60}, next) || !likewise(b, at, next) {
		return nil
	}
	return b
}

// ends are the connections of TCP that an end has closed. When they are over, so that another may begin with the same ports,
// is said by netfilter when it saw FIN twice, from whomever, and something behind that; and inline when it saw one from each
// end. TestNetfilterSeesTheSameStates has them close and open as they should.
type ends map[string]bool

// begins tells whether a segment is the first of a connection that may not be over.
func (e ends) begins(b []byte) bool {
	at, protocol := behind(b)
	if protocol != unix.IPPROTO_TCP || at+14 > len(b) {
		return false
	}
	addresses := b[12:20]
	if b[0]>>4 == 6 {
		addresses = b[8:40]
	}
	half := len(addresses) / 2
	there := string(addresses[:half]) + string(b[at:at+2])
	here := string(addresses[half:]) + string(b[at+2:at+4])
	if key := min(there, here) + max(there, here); b[at+13]&fin != 0 {
		e[key] = true
	} else if b[at+13]&syn != 0 {
		return e[key]
	}
	return false
}

// likewise leaves a segment of TCP without numbers, and tells whether both know a protocol alike.
func likewise(b []byte, at int, protocol byte) bool {
	if protocol == unix.IPPROTO_TCP && at+12 <= len(b) {
		clear(b[at+4 : at+12])
	}
	return !slices.Contains([]byte{unix.IPPROTO_SCTP, unix.IPPROTO_DCCP, unix.IPPROTO_UDPLITE, unix.IPPROTO_GRE}, protocol)
}
