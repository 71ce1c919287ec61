package pass

import (
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cilium/ebpf"

	"nfchain.dev/nfchain/bpf/passnat"
)

// spoken is a connection of TCP over a NAT that takes connections to three servers by turns, and hides who opens them.
type spoken struct {
	*testing.T
	programs ways
	now      uint64
	asked    tuple
	served   tuple // as what it went on last
}

func speak(t *testing.T) *spoken {
	t.Helper()
	n := NAT{Slot: 7, Name: "n", Rules: []Translation{
		{Address: addr("10.0.0.80"), Targets: targets("10.2.0.1", "10.2.0.2", "10.2.0.3")}, {Source: true, Targets: targets("10.9.0.1")},
	}}
	return &spoken{T: t, programs: natted(t, n), now: second, asked: tuple{version: 4, protocol: 6, source: addr("10.1.0.1"), destination: addr("10.0.0.80"), ports: [2]uint16{4000, 80}}}
}

// anew has another connection spoken.
func (s *spoken) anew() { s.asked.ports[0]++ }

// says a packet of an end: 0 opened it.
func (s *spoken) says(end int, flags byte) (goes bool) {
	s.Helper()
	flow := [2]tuple{s.asked, s.served.answer()}[end]
	verdict, out, _ := run(s.T, s.programs[end].Program, given{frame: frame(ether(typeIPv4), flow.segment(flags, nil)), now: s.now})
	if verdict == goesOn && end == 0 {
		s.served = parse(out[14:]).tuple
	}
	if verdict == goesOn && end == 1 {
		if got := parse(out[14:]).tuple; got != s.asked.answer() {
			s.Fatalf("the answer goes on as %+v, want %+v", got, s.asked.answer())
		}
	}
	return verdict == goesOn
}

// speaks a few packets, one a second, the opener's in capitals: S, F, R and A are TCP's flags, and all but a capital S come
// with an A.
func (s *spoken) speaks(words string) {
	s.Helper()
	for _, word := range words {
		end, flags := 0, map[rune]byte{'S': syn, 'F': fin | ack, 'R': rst | ack, 'A': ack}[word]
		if lower := strings.ToUpper(string(word)); flags == 0 {
			end, flags = 1, map[string]byte{"S": syn | ack, "F": fin | ack, "R": rst | ack, "A": ack}[lower]
		}
		if !s.says(end, flags) {
			s.Fatalf("%c of %q does not go on", word, words)
		}
		s.now += second
	}
}

// TestConnectionsAreKept for as long as RFC 5382 REQ-5 and RFC 7857 section 2 have it, whatever came before.
func TestConnectionsAreKept(t *testing.T) {
	const established, transitory = 7440 + 1, 240 + 1 // the last packet is noted to a second
	s := speak(t)
	for words, keeps := range map[string]uint64{
		"A":          transitory, // it began elsewhere
		"S":          transitory,
		"SSA":        transitory,
		"SR":         transitory,
		"SF":         transitory,
		"Ss":         established,
		"SsA":        established,
		"SsAS":       established,
		"Aa":         established,
		"SsAF":       established,
		"SsAFaFAa":   established, // sent twice
		"SsAf":       established,
		"SsAFf":      transitory,
		"SsAFfA":     transitory,
		"SsAfaFa":    transitory,
		"Sr":         transitory,
		"SrA":        transitory,
		"SsAR":       transitory,
		"SsAr":       transitory,
		"SsARr":      transitory,
		"SsArA":      established, // that reset was no end's
		"SsARa":      established,
		"SsAFRa":     established,
		"SsARS":      transitory,
		"SsARSs":     established,
		"SsAFfR":     transitory,
		"SsAFfRA":    transitory,
		"SsAFfS":     transitory,
		"SsAFfSs":    established,
		"SrSs":       established,
		"Srs":        established, // that refusal was not of it
		"SrsA":       established,
		"SrSrsAa":    established,
		"SrSrsAFf":   transitory,
		"SrsR":       transitory,
		"SsAFfs":     established,
		"SsAFS":      transitory, // the next one
		"SsAFSsAa":   established,
		"SsAFSsAaf":  established,
		"SsAFSsAafF": transitory,
		"SsAfSsAa":   established,
		"SsAfSsAF":   established,
		"SsAfSr":     transitory,
	} {
		for _, late := range []uint64{0, 1} {
			s.anew()
			s.speaks(words)
			s.now += (keeps-1)*second + late
			if goes := s.says(1, ack); goes != (late == 0) {
				t.Errorf("after %s and %d s, and %d ns, a packet is of the connection: %t", words, keeps, late, goes)
			}
		}
	}
}

// TestConnectionsOpenAnew where both ends have closed them, and rules are asked again then; where one end may be there still,
// packets go to it.
func TestConnectionsOpenAnew(t *testing.T) {
	s := speak(t)
	for words, anew := range map[string]bool{
		"S": false, "SsA": false, "SsAF": false, "SsAf": false, "SsAFaF": false, "SsAFf": true, "SsAfF": true, "SsAFfA": true, "SsAFfR": true,
		"Sr": true, "SR": false, "SsAR": false, "SsAr": false, "SsArA": false,
	} {
		s.anew()
		s.speaks(words)
		before := s.served
		if s.speaks("S"); (s.served != before) != anew {
			t.Errorf("after %s, what went on as %+v goes on as %+v", words, before, s.served)
		}
		s.speaks("sAa")
	}
}

// TestTranslatesManyClosesLikeTheModel is about few connections of TCP, which are opened and closed in every order.
func TestTranslatesManyClosesLikeTheModel(t *testing.T) {
	n := everyKind()
	programs, m := natted(t, n), newTranslator(n)
	r := rand.New(rand.NewPCG(4, 6))
	known := [2][]tuple{{{version: 4, protocol: 6, source: addr("10.1.0.1"), destination: addr("10.0.0.80"), ports: [2]uint16{4000, 80}},
		{version: 6, protocol: 6, source: addr("fd01::1"), destination: addr("fd02::9"), ports: [2]uint16{4000, 80}}}}
	now, went := uint64(0), 0
	for range 4000 {
		way := r.IntN(2)
		if len(known[way]) == 0 {
			continue
		}
		now += r.Uint64() >> (22 + r.IntN(42))
		flow := known[way][max(0, len(known[way])-1-r.IntN(4))]
		flags := []byte{syn, syn, syn | ack, ack, ack, fin | ack, fin | ack, fin | ack, rst, rst | ack}[r.IntN(10)]
		f := frame(ether(map[byte]uint16{4: typeIPv4, 6: typeIPv6}[flow.version]), flow.segment(flags, nil))
		verdict, out, _ := run(t, programs[way].Program, given{frame: f, now: now})
		wantVerdict, want := m.run(f, now, way == 1)
		if verdict != wantVerdict || verdict == goesOn && !translatedTo(f, out, want) {
			t.Fatalf("way %d at %d ns: %+v, flags %d\nverdict %d\n%x\nby the model %d\n%x", way, now, flow, flags, int32(verdict), out, int32(wantVerdict), want)
		}
		if to := parse(out[14:]).tuple.answer(); verdict == goesOn && way == 0 {
			known[1] = append(known[1], to)
			went++
		}
	}
	if went < 500 {
		t.Errorf("%d packets went on", went)
	}
	tallies(t, programs, m)
}

// TestKeepsWhatEarlierVersionsKnow: these did not note how far a connection is, and wrote something else in that place. It is
// an established one then, until it is seen to end.
func TestKeepsWhatEarlierVersionsKnow(t *testing.T) {
	s := speak(t)
	table := s.programs[0].maps[natFlowsMap]
	for place := range uint32(64) {
		s.anew()
		s.speaks("Ss")
		mine := 0
		for key, e := range entries(t, table) {
			if port := bits.ReverseBytes16(s.asked.ports[0]); key.Ports[0] != port && key.Ports[1] != port {
				continue
			}
			mine++
			if e.Here&4 != 0 { // packets came
				e.Here = e.Here&^0xff | place<<2 | 2 | e.Here&opensBit
			}
			if err := table.Update(key, e, ebpf.UpdateExist); err != nil {
				t.Fatal(err)
			}
		}
		if mine != 2 {
			t.Fatalf("%d entries, want two", mine)
		}
		s.now += 7440 * second
		s.speaks("a")
		s.now += 7440 * second
		s.speaks("AFf")
		s.now += 240*second + 1
		if s.says(1, ack) {
			t.Fatalf("place %d: a connection that both ends have closed is known longer than it should be", place)
		}
	}
}

// TestEndsOnTwoCores puts an entry as another core does that has the last packet of the one end, when this core has that of the
// other: each knows its own end's phase, and has not told the other entry yet.
func TestEndsOnTwoCores(t *testing.T) {
	const phaseOpen, phaseEnds = 0, 3
	s := speak(t)
	for words, last := range map[string]rune{"SsAF": 'f', "SsAf": 'F'} {
		s.anew()
		s.speaks(words)
		table, ended := s.programs[0].maps[natFlowsMap], 0
		for key, e := range entries(t, table) {
			if e.Here>>3&7 == phaseEnds {
				ended++
				continue
			}
			if e.Here>>3&7 == phaseEnds+1 {
				e.Here = e.Here&^(7<<3) | phaseOpen<<3
				ended++
			}
			if err := table.Update(key, e, ebpf.UpdateExist); err != nil {
				t.Fatal(err)
			}
		}
		if ended != 2 {
			t.Fatalf("after %s, %d entries know of it, want two", words, ended)
		}
		s.speaks(string(last))
		over := 0
		for _, e := range entries(t, table) {
			if e.Here>>3&7 == phaseEnds+2 {
				over++
			}
		}
		if over != 2 {
			t.Errorf("after %s and %c at once, %d entries are over, want two", words, last, over)
		}
		for key := range entries(t, table) {
			if err := table.Delete(key); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// entries of a table of connections.
func entries(t *testing.T, table *ebpf.Map) map[passnat.ProgramFlow]passnat.ProgramNatFlow {
	t.Helper()
	var key passnat.ProgramFlow
	var e passnat.ProgramNatFlow
	all, each := map[passnat.ProgramFlow]passnat.ProgramNatFlow{}, table.Iterate()
	for each.Next(&key, &e) {
		all[key] = e
	}
	if err := each.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
