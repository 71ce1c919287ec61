package pass

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"nfchain.dev/nfchain/bpf/passnattest"
)

// ways are the programs of both ways of a hop, by the clock that packets bring along.
type ways [2]*Loaded

// natted loads a NAT for both ways.
func natted(t testing.TB, n NAT, more ...Step) (w ways) {
	t.Helper()
	require(t)
	var others []knowing
	for way := range w {
		spec, err := passnattest.LoadProgram()
		if err != nil {
			t.Fatal(err)
		}
		n.Answers = way == 1
		s := Spec{Steps: append([]Step{NewNAT(n.Slot)}, more...), NATs: []NAT{n}, Connections: LeastFlows * 4, Flows: LeastFlows}
		l, err := s.furnished(spec, natName, numbers{}, nil, others)
		if err != nil {
			t.Fatalf("%+v", err)
		}
		t.Cleanup(func() { _ = l.Close() })
		k, _ := l.knows()
		w[way], others = l, []knowing{k}
	}
	return w
}

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

// targets of equal weight.
func targets(texts ...string) (all []Target) {
	for _, text := range texts {
		all = append(all, Target{Address: addr(text)})
	}
	return all
}

// everyKind of rule, for both families.
func everyKind() NAT {
	return NAT{Slot: 7, Name: "n", Rules: []Translation{
		{Address: addr("10.0.0.80"), Protocol: 6, First: 80, Last: 80, Port: 8080, Targets: targets("10.2.0.1", "10.2.0.2", "10.2.0.3")},
		{Address: addr("10.0.0.80"), Targets: targets("10.2.0.4", "10.2.0.5"), ByHash: true},
		{Address: addr("fd00::80"), Protocol: 17, First: 50, Last: 60, Targets: targets("fd02::1", "fd02::2"), ByHash: true},
		{Source: true, Targets: targets("10.9.0.1")},
		{Source: true, Targets: targets("fd09::1")},
	}}
}

// world is where packets go to and come from: ends on both sides, and what went on from the one side to the
// other, by which answers are known.
type world struct {
	*rand.Rand
	now  uint64
	went [2][][]byte // frames, by the way that they went
}

// some of several.
func some[T any](w *world, of ...T) T { return of[w.IntN(len(of))] }

// fresh is a flow that an end on a side begins.
func (w *world) fresh(way int) (t tuple) {
	near, far := []string{"10.1.0.1", "10.1.0.2"}, []string{"10.2.0.1", "10.2.0.4", "10.0.0.80", "10.0.0.80", "224.0.0.5"}
	t.version = 4
	if w.IntN(2) == 0 {
		near, far, t.version = []string{"fd01::1", "fd01::2"}, []string{"fd02::1", "fd00::80", "fd00::80", "fe80::1"}, 6
	}
	if way == 1 {
		near, far = far[:2], append(near, map[byte]string{4: "10.9.0.1", 6: "fd09::1"}[t.version])
	}
	t.source, t.destination = addr(some(w, near...)), addr(some(w, far...))
	t.protocol = some[byte](w, 6, 6, 17, 17, 1, 58, 33, 136, 132, 50)
	switch {
	case isICMP(t.version, t.protocol):
		t.echo = some[byte](w, asks, asks, asks, answers)
		t.ports[t.echo-1] = uint16(w.IntN(3))
		if t.version == 4 { // what is asked, which is in the place of the other port
			t.ports[2-t.echo] = some[uint16](w, 0, 0, 13, 15, 17)
		}
	case ported(t.protocol):
		t.ports = [2]uint16{some[uint16](w, 5, 700, 4000, 4001), some[uint16](w, 80, 53, 55)}
	}
	return t
}

// known gives the flow of a packet that went some way, or of its answers.
func (w *world) known(way int) (t tuple, frame []byte) {
	if len(w.went[way]) == 0 {
		return w.fresh(way), nil
	}
	frame = w.went[way][w.IntN(len(w.went[way]))]
	t = parse(frame[14:]).tuple
	if t.protocol == 0 { // of a fragment
		t.protocol = 17
	}
	return t, frame
}

// packet that comes by one of the ways.
func (w *world) packet(way int) []byte {
	var t tuple
	var quoted []byte
	switch w.IntN(10) {
	case 0, 1, 2:
		t = w.fresh(way)
	case 3, 4, 5, 6:
		t, _ = w.known(1 - way)
		t = t.answer()
	default:
		t, quoted = w.known(1 - way)
	}
	payload := make([]byte, w.IntN(30))
	for i := range payload {
		payload[i] = byte(w.Uint32())
	}
	var ip []byte
	switch {
	case quoted != nil:
		ip = w.quoting(t, quoted[14:])
	case w.IntN(6) == 0:
		ip = w.fragment(t, payload)
	case t.protocol == 6:
		ip = t.segment(some[byte](w, syn, syn|ack, ack, ack, fin|ack, fin|ack, rst, rst|ack, byte(w.IntN(64))), payload)
	default:
		ip = t.packet(payload, t.protocol != 17 || w.IntN(4) > 0)
	}
	if w.IntN(16) == 0 { // somebody bent the payload or its checksum
		ip[len(ip)-1] ^= 1
	}
	return frame(ether(map[byte]uint16{4: typeIPv4, 6: typeIPv6}[t.version]), ip)
}

// quoting is an error about a packet, of who got it or of a router on the way.
func (w *world) quoting(t tuple, ip []byte) []byte {
	from := t.destination
	if w.IntN(2) == 0 {
		from = addr(map[byte]string{4: "10.7.7.7", 6: "fd07::7"}[t.version])
	}
	if w.IntN(2) == 0 {
		return w.redirecting(t, ip)
	}
	e := tuple{version: t.version, protocol: map[byte]byte{4: 1, 6: 58}[t.version], source: from, destination: t.source}
	icmp := append([]byte{some[byte](w, map[byte][]byte{4: {3, 4, 11, 12}, 6: {1, 2, 3, 4, 100}}[t.version]...), 0, 0, 0, 0, 0, 0, 0}, ip[:min(len(ip), 28+w.IntN(60))]...)
	return e.over(icmp, true)
}

// redirecting is what a router says to who sent a packet, about another; some of IPv6 is not as it must be.
func (w *world) redirecting(t tuple, ip []byte) []byte {
	if t.version == 4 {
		e := tuple{version: 4, protocol: 1, source: addr("10.7.7.7"), destination: t.source}
		return e.over(append([]byte{5, byte(w.IntN(4)), 0, 0, 10, 7, 7, 8}, ip[:min(len(ip), 28+w.IntN(60))]...), true)
	}
	wrong := w.IntN(12) // of these at most one is
	e := tuple{version: 6, protocol: 58, source: addr(some(w, "fe80::7", "febf::7")), destination: t.source}
	if wrong == 0 {
		e.source = addr("fd07::7")
	}
	icmp := make([]byte, 48, 200)
	icmp[0], icmp[40], icmp[41] = 137, 4, 9
	switch wrong {
	case 1:
		icmp[1] = 1
	case 2:
		icmp[40] = 2
	case 3:
		icmp[41] = 0
	}
	icmp = append(icmp, ip[:min(len(ip), 48+w.IntN(60))]...)
	if wrong == 4 {
		icmp = icmp[:8+w.IntN(len(icmp)-8)]
	}
	out := e.over(icmp, true)
	if out[7] = 255; wrong == 5 {
		out[7] = 254
	}
	return out
}

// fragment of a packet, the first one or another, in any order.
func (w *world) fragment(t tuple, payload []byte) []byte {
	whole, id := t.packet(payload, true), byte(w.IntN(4))
	offset := some[uint16](w, 0, 0, 5)
	if t.version == 4 {
		if offset > 0 {
			whole = t.over(payload, false)
		}
		whole[5] = id
		whole[6], whole[7] = 0x20, byte(offset)
		whole[10], whole[11] = 0, 0
		sum := ^uint16(ones(whole[:20]))
		whole[10], whole[11] = byte(sum>>8), byte(sum)
		return whole
	}
	l4 := whole[40:]
	if offset > 0 {
		l4 = payload
	}
	h := fragmentHeader(t.protocol, offset, true)
	h[7] = id
	out := slices.Concat(whole[:40], h, l4)
	out[4], out[5], out[6] = byte((len(out)-40)>>8), byte(len(out)-40), 44
	return out
}

// TestTranslatesLikeTheModel, both ways, and leaves checksums as right or wrong as they were.
func TestTranslatesLikeTheModel(t *testing.T) {
	var redirected [7]int
	for seed := range uint64(3) {
		n := everyKind()
		if seed == 1 {
			n.Rules = n.Rules[3:] // hides alone
		} else if seed == 2 {
			n.Rules = n.Rules[:3] // serves alone
		}
		programs, m := natted(t, n), newTranslator(n)
		w := &world{Rand: rand.New(rand.NewPCG(seed, 2))}
		for range 2000 {
			w.now += w.Uint64() >> (28 + w.IntN(36))
			way := w.IntN(2)
			f := w.packet(way)
			verdict, out, _ := run(t, programs[way].Program, given{frame: f, now: w.now})
			wantVerdict, want := m.run(f, w.now, way == 1)
			if verdict != wantVerdict || verdict == goesOn && !translatedTo(f, out, want) {
				t.Fatalf("way %d at %d ns: %x\n%+v\nverdict %d\n%x\nby the model %d\n%x", way, w.now, f, parse(f[14:]), int32(verdict), out, int32(wantVerdict), want)
			}
			if verdict == goesOn {
				w.went[way] = append(w.went[way], out)
			}
		}
		tallies(t, programs, m)
		for version, n := range m.redirected {
			redirected[version] += n
		}
	}
	if redirected[4] < 5 || redirected[6] < 5 {
		t.Errorf("redirects that were dropped, by version: %v", redirected)
	}
}

// translatedTo tells whether a frame has become another, and all its checksums are as right as they were.
func translatedTo(before, after, want []byte) bool {
	at, was := layer(trimmed(before[14:]), 14)
	_, is := layer(trimmed(after[14:]), 14)
	if !slices.Equal(was, is) {
		return false
	}
	a, b := slices.Clone(after), slices.Clone(want)
	for _, i := range at {
		copy(a[i:i+2], []byte{0, 0})
		copy(b[i:i+2], []byte{0, 0})
	}
	return slices.Equal(a, b)
}

// tallies are as the model has them.
func tallies(t *testing.T, programs ways, m *translator) {
	t.Helper()
	var done, strays, full uint64
	var taken []uint64
	for _, l := range programs {
		c := counted(t, l)
		done, strays, full = done+c.Slots[m.Slot].Packets, strays+c.Lost[m.Slot], full+c.Full[m.Slot]
		got, err := l.Taken()
		if err != nil {
			t.Fatal(err)
		}
		if taken == nil {
			taken = got
		}
	}
	if done != m.done || strays != m.strays || full != m.full || !slices.Equal(taken, m.taken) {
		t.Errorf("translated %d, %d strays, %d full, targets %v\nby the model %d, %d, %d, %v", done, strays, full, taken, m.done, m.strays, m.full, m.taken)
	}
	if done == 0 || strays == 0 {
		t.Errorf("nothing was tried: %d translated, %d strays", done, strays)
	}
	for _, l := range programs {
		known, err := l.Translated()
		if err != nil || known.Held != uint64(len(m.flows)) || known.Evicted != 0 {
			t.Errorf("%+v: %v, want %d", known, err, len(m.flows))
		}
	}
}

// TestStepsBehindNAT see what it made of packets, and what they write leaves checksums as they were.
func TestStepsBehindNAT(t *testing.T) {
	n := hiding("10.9.0.1")
	n.Slot = 7
	w := natted(t, n, NewLimit(1, Bucket{Rate: 1e6, Burst: 5000, Per: Source, Bits4: 32}), NewDSCP(2, 46))
	one, two := udp(1), udp(2)
	two.frame[14+15]++ // from another address
	_, out, _ := run(t, w[0].Program, one)
	_, was := layer(trimmed(one.frame[14:]), 14)
	if _, is := layer(trimmed(out[14:]), 14); !slices.Equal(was, is) || out[15] != 46<<2 || parse(out[14:]).source != addr("10.9.0.1") {
		t.Errorf("%x became %x", one.frame, out)
	}
	if first, second := passed(t, w[0], one, 10, 0), passed(t, w[0], two, 10, 0); first != 4 || second != 0 {
		t.Errorf("%d and %d packets of one address passed, want 4 and none", first, second)
	}
}

// TestQuestionsAreKept: an answer is known as one for as long as RFC 5508 REQ-2 and RFC 4787 REQ-5 say, behind the last packet and
// not behind the one that was noted, up to a second before.
func TestQuestionsAreKept(t *testing.T) {
	for protocol, keeps := range map[byte]uint64{1: 60 * second, 17: 300 * second} {
		asked := tuple{version: 4, protocol: protocol, source: addr("10.1.0.1"), destination: addr("10.2.0.1"), ports: [2]uint16{4000, 53}}
		if protocol == 1 {
			asked.echo, asked.ports[1] = asks, 0
		}
		programs, last := natted(t, hiding("10.9.0.1")), uint64(2*second-1)
		var went tuple
		for _, at := range []uint64{second, last} { // the first alone is noted
			_, out, _ := run(t, programs[0].Program, given{frame: frame(ether(typeIPv4), asked.packet(nil, true)), now: at})
			went = parse(out[14:]).tuple
		}
		for _, c := range []struct {
			now   uint64
			knows bool
		}{{last + keeps + second, false}, {last + keeps, true}} {
			verdict, out, _ := run(t, programs[1].Program, given{frame: frame(ether(typeIPv4), went.answer().packet(nil, true)), now: c.now})
			if knows := verdict == goesOn && parse(out[14:]).tuple == asked.answer(); knows != c.knows {
				t.Errorf("protocol %d: an answer %d ns behind the last packet is known: %t", protocol, c.now-last, knows)
			}
		}
	}
}

// TestTranslatesBehindExtensions of IPv6, eight of them, and drops what is behind more: nobody knows whose it is.
func TestTranslatesBehindExtensions(t *testing.T) {
	programs := natted(t, hiding("fd09::1"))
	for n := range 12 {
		flow := tuple{version: 6, protocol: 17, source: addr("fd01::1"), destination: addr("fd02::1"), ports: [2]uint16{uint16(4000 + n), 53}}
		datagram := flow.packet(nil, true)[40:]
		headers, next := []byte(nil), byte(17)
		for range n {
			headers, next = frame(extension(next), headers), 60
		}
		ip := frame(ipv6(next, 0, len(headers)+len(datagram)), headers, datagram)
		copy(ip[8:], frame(flow.source.AsSlice(), flow.destination.AsSlice()))
		f := frame(ether(typeIPv6), ip)
		verdict, out, _ := run(t, programs[0].Program, given{frame: f, now: second})
		if n > 8 {
			if verdict != dropped {
				t.Errorf("behind %d extensions: verdict %d", n, int32(verdict))
			}
			continue
		}
		got := parse(out[14:]).tuple
		if flow.source = addr("fd09::1"); verdict != goesOn || got != flow {
			t.Errorf("behind %d extensions %x\nbecomes %x (%d)", n, f, out, int32(verdict))
		}
		if _, wrong := layer(out[14:], 14); len(wrong) != 1 || wrong[0] != 0 {
			t.Errorf("behind %d extensions the checksum is %v off in %x", n, wrong, out)
		}
	}
}
