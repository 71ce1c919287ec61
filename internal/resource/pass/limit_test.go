package pass

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource"
)

// TestTimeOfAByte is that of its rate, to a part in 10 million.
func TestTimeOfAByte(t *testing.T) {
	for _, rate := range []uint64{LeastRate, 9999, 1e6, 1e9 + 7, 100e9, MostRate} {
		factor, shift := perByte(rate)
		if factor >= 1<<32 || shift > 32 {
			t.Errorf("%d: %d / 2^%d", rate, factor, shift)
		}
		want := new(big.Float).Quo(big.NewFloat(8*64e9), new(big.Float).SetUint64(rate))
		exact, _ := want.Float64()
		if got := math.Ldexp(float64(factor), -int(shift)); math.Abs(got/exact-1) > 1e-7 {
			t.Errorf("%d: %g ticks, want %g", rate, got, exact)
		}
	}
}

// passed offers packets one after the other, so many ns apart, and counts those that go on.
func passed(t *testing.T, l *Loaded, g given, n int, apart uint64) (through int) {
	t.Helper()
	for range n {
		if verdict, _, _ := run(t, l.Program, g); verdict == goesOn {
			through++
		}
		g.now += apart
	}
	return through
}

func limiting(t *testing.T, b Bucket) *Loaded {
	t.Helper()
	l := clocked(t, []Step{NewLimit(0, b)})
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// udp is a packet of a flow, of 1,000 bytes.
func udp(source uint16) given {
	return given{frame: frame(ether(typeIPv4), ipv4(17, 0, 0, nil, 966), ports(source, 9), make([]byte, 946))}
}

// TestLimitHoldsTheRate offers twice what may pass.
func TestLimitHoldsTheRate(t *testing.T) {
	for _, rate := range []uint64{1e6, 333e6, 10e9, 100e9} {
		const n, burst = 4000, 50_000
		l := limiting(t, Bucket{Rate: rate, Burst: burst})
		apart := 8000 * uint64(1e9) / rate / 2
		through := passed(t, l, udp(1), n, apart)
		// What the bucket held, what the time gave, and one packet more than there was for.
		most := float64(burst)/1000 + float64(n)*float64(apart)*float64(rate)/8e12
		if math.Abs(float64(through)-most) > 2 {
			t.Errorf("%d bit/s: %d packets of %d passed, want %.1f", rate, through, n, most)
		}
	}
}

// TestLimitAfterRest lets a burst pass, and no more however long the rest was.
func TestLimitAfterRest(t *testing.T) {
	l := limiting(t, Bucket{Rate: 1e6, Burst: 10_000})
	g := udp(1)
	for _, rest := range []uint64{0, 1e9, 365 * 24 * 3600e9} {
		g.now += rest
		if through := passed(t, l, g, 100, 0); through != 10 {
			t.Errorf("after %s %d packets passed, want 10", time.Duration(rest), through)
		}
	}
}

// TestLimitOfLargePackets lets those pass that are larger than the burst, at the rate.
func TestLimitOfLargePackets(t *testing.T) {
	l := limiting(t, Bucket{Rate: 8e6, Burst: 1})
	if through := passed(t, l, udp(1), 1000, 500_000); through != 500 {
		t.Errorf("%d packets of 1 ms each passed in 500 ms", through)
	}
}

// TestLimitOfMergedPackets charges what the kernel merged as what it is on a wire.
func TestLimitOfMergedPackets(t *testing.T) {
	l := limiting(t, Bucket{Rate: 8e6, Burst: 13_780})
	merged := udp(1)
	merged.segments, merged.of = 10, 95
	// 1,000 bytes and nine headers more, of 14, 20 and 8.
	if through := passed(t, l, merged, 100, 0); through != 10 {
		t.Errorf("%d packets passed of which 10 make the burst", through)
	}
	want := Tally{10 * 90, 1378 * 90}
	if got := counted(t, l).Slots[0]; got != want {
		t.Errorf("dropped %+v, want %+v", got, want)
	}
}

// TestLimitByOwner gives each its own bucket.
func TestLimitByOwner(t *testing.T) {
	address := func(at int, last byte) given {
		g := udp(1)
		g.frame[14+at] = last
		return g
	}
	fragment := given{frame: frame(ether(typeIPv4), ipv4(17, 0, 0x2000, nil, 966), ports(1, 9), make([]byte, 946))}
	other := given{frame: frame(ether(typeIPv4), ipv4(17, 0, 0x2000, nil, 966), ports(2, 9), make([]byte, 946))}
	// behind extensions of IPv6, as many as are looked through and one more; the transport stands right behind the last.
	behind := func(n int, source uint16) given {
		headers, next := []byte(nil), byte(17)
		for range n {
			headers, next = frame(extension(next), headers), 60
		}
		return given{frame: frame(ether(typeIPv6), ipv6(next, 0, 946), headers, ports(source, 9), make([]byte, 926-8*n))}
	}
	for name, c := range map[string]struct {
		b        Bucket
		one, two given
		same     bool
	}{
		"flow behind eight extensions": {Bucket{Per: Flow}, behind(8, 1), behind(8, 2), false},
		"flow behind nine extensions":  {Bucket{Per: Flow}, behind(9, 1), behind(9, 2), true},

		"chain":                      {Bucket{Per: Chain}, udp(1), udp(2), true},
		"flow":                       {Bucket{Per: Flow}, udp(1), udp(2), false},
		"fragments":                  {Bucket{Per: Flow}, fragment, other, true},
		"source, within a prefix":    {Bucket{Per: Source, Bits4: 24}, address(15, 1), address(15, 2), true},
		"source, of two prefixes":    {Bucket{Per: Source, Bits4: 31}, address(15, 1), address(15, 2), false},
		"source, other destinations": {Bucket{Per: Source, Bits4: 32}, address(19, 1), address(19, 2), true},
		"destination":                {Bucket{Per: Destination, Bits4: 32}, address(19, 1), address(19, 2), false},
	} {
		c.b.Rate, c.b.Burst = 1e6, 5000
		l := limiting(t, c.b)
		first := passed(t, l, c.one, 10, 0)
		second := passed(t, l, c.two, 10, 0)
		if want := map[bool]int{true: 0, false: 5}[c.same]; first != 5 || second != want {
			t.Errorf("%s: %d and %d packets passed, want 5 and %d", name, first, second, want)
		}
	}
}

// TestLimitByTheClock runs the program that chains have: what passes is no more than the
// bucket held and the time that went by gave, and no less than the bucket held.
func TestLimitByTheClock(t *testing.T) {
	l := loaded(t, []Step{NewLimit(0, Bucket{Rate: 8e6, Burst: 20_000})})
	begun := time.Now()
	through := passed(t, l, udp(1), 500, 0)
	most := 21 + int(time.Since(begun)/time.Millisecond)
	if through < 20 || through > most {
		t.Errorf("%d packets passed, and 20 to %d may", through, most)
	}
}

// TestLimitHoldsWhileItIsReplaced: flows find the buckets that they left, whatever else is in the pass, in whichever slot, and for
// however many flows; those of what comes are full.
func TestLimitHoldsWhileItIsReplaced(t *testing.T) {
	p := place(t)
	one := Bucket{Rate: LeastRate, Burst: 1, Per: Flow}
	both := []Step{NewLimit(3, one), NewLimit(4, one)}
	passes := func(source uint16) bool {
		g, verdict := udp(source), uint32(0)
		g.segments, g.of = 1000, 946 // whose headers are charged most of a minute
		at(t, p, "eth0", func(a attached) { verdict, _, _ = run(t, a.Program.Program, g) })
		return verdict == goesOn
	}
	spec := func(of string, flows uint32, steps ...Step) Spec {
		return Spec{Device: "eth0", Of: strings.Fields(of), Steps: steps, Flows: flows}
	}
	apply(t, p, resource.Create, spec("fair", LeastFlows, both[0]))
	if !passes(1) || passes(1) {
		t.Fatal("not one packet passes")
	}
	for i, s := range []Spec{
		spec("fair", LeastFlows, both[0]), spec("count fair", LeastFlows, NewCount(1), both[0]), spec("fair", 2*LeastFlows, both[0]),
		spec("fair other", 4*LeastFlows, both...), spec("fair", LeastFlows, NewLimit(7, one)), spec("other fair", 2*LeastFlows, both...),
	} {
		apply(t, p, resource.Update, s)
		if passes(1) || !passes(uint16(2+i)) {
			t.Errorf("behind change %d a flow that is over the limit passes, or one that is not does not", i)
		}
	}
	apply(t, p, resource.Update, spec("other", LeastFlows, both[0]))
	apply(t, p, resource.Update, spec("new", LeastFlows, both[0]))
	if !passes(1) {
		t.Error("a limit begins with the buckets of another")
	}
}

// TestBucketsMakeRoom for others, which is counted: of all that were made, those that are no more. The number goes on while others are put in beside the
// limit, and begins anew with another table.
func TestBucketsMakeRoom(t *testing.T) {
	p := place(t)
	const flows = 3 * LeastFlows
	fair, whole := NewLimit(3, Bucket{Rate: 1e9, Burst: 1e6, Per: Flow}), NewLimit(5, Bucket{Rate: 1e9, Burst: 1e6, Per: Source, Bits4: 24})
	spec := func(of string, flows uint32, steps ...Step) Spec {
		return Spec{Device: "eth0", Of: strings.Fields(of), Steps: steps, Flows: flows}
	}
	are := func() map[uint32]Buckets {
		all, err := BucketsAt(p, "eth0")
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	const few = 100 // what the kernel says of its own has buckets, too
	apply(t, p, resource.Create, spec("fair whole", LeastFlows, fair, whole))
	if b := are(); len(b) != 2 || b[3].Held > few || b[3].Most != LeastFlows || b[3].Evicted != 0 {
		t.Errorf("before any packet: %+v", b)
	}
	at(t, p, "eth0", func(a attached) {
		for source := range uint16(flows) {
			run(t, a.Program.Program, udp(source))
		}
	})
	b := are()
	if all := b[3].Held + b[3].Evicted + b[5].Held; b[5].Held > few || b[3].Held > LeastFlows || b[3].Held < LeastFlows/8 || all < flows || all > flows+few || b[3].Evicted != b[5].Evicted {
		t.Errorf("of %d flows and a prefix: %+v", flows, b)
	}
	apply(t, p, resource.Update, spec("fair count whole", LeastFlows, fair, NewCount(1), whole))
	if now := are(); len(now) != 2 || now[3].Evicted < b[3].Evicted || now[3].Evicted > b[3].Evicted+few {
		t.Errorf("beside another function: %+v, after %+v", now, b)
	}
	apply(t, p, resource.Update, spec("fair", 4*LeastFlows, fair))
	if now := are(); len(now) != 1 || now[3].Most != 4*LeastFlows || now[3].Evicted > few {
		t.Errorf("in a larger table: %+v", now)
	}
	apply(t, p, resource.Update, spec("count", 0, NewCount(1)))
	if now := are(); len(now) != 0 {
		t.Errorf("with no limit: %+v", now)
	}
	if all, err := BucketsAt(p, "nowhere"); len(all) != 0 || err != nil {
		t.Errorf("at no interface: %+v, %v", all, err)
	}
}

// TestLimitIsAnother: flows that were over a limit wait as long as the one that comes has it, and at most for its burst; where
// buckets are others' they begin with full ones. What a packet is charged takes many minutes at the lowest rate, and more than one
// at ten times that, so that the test is the same however long a machine takes to replace a pass.
func TestLimitIsAnother(t *testing.T) {
	const charged = 1000 + 23_999*42 // bytes of a packet, below
	slow, fast := Bucket{Rate: LeastRate, Burst: charged / 2}, Bucket{Rate: 1e9, Burst: 100 * charged}
	steep, flat := Bucket{Rate: 10 * LeastRate, Burst: 6 * charged}, Bucket{Rate: LeastRate, Burst: 6 * charged}
	for name, c := range map[string]struct {
		before, after Bucket
		per, is       Per
		flows         uint32
		through       int
	}{
		"a higher rate for each flow":                   {slow, fast, Flow, Flow, LeastFlows, 20},
		"a higher rate for each flow, of more":          {slow, fast, Flow, Flow, 2 * LeastFlows, 20},
		"a higher rate for all":                         {slow, fast, Chain, Chain, LeastFlows, 20},
		"a smaller burst for each flow":                 {flat, Bucket{Rate: LeastRate, Burst: 1}, Flow, Flow, LeastFlows, 1},
		"a lower rate for each flow":                    {steep, flat, Flow, Flow, LeastFlows, 1},
		"a lower rate for all":                          {steep, flat, Chain, Chain, LeastFlows, 1},
		"the same for each flow":                        {slow, slow, Flow, Flow, LeastFlows, 0},
		"the same for all":                              {slow, slow, Chain, Chain, LeastFlows, 0},
		"for each flow what was for all":                {slow, slow, Chain, Flow, LeastFlows, 1},
		"for all what was for each flow":                {slow, slow, Flow, Chain, LeastFlows, 1},
		"for each source what was for each destination": {slow, slow, Destination, Source, LeastFlows, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := place(t)
			spec := func(b Bucket, per Per, flows uint32) Spec {
				b.Per, b.Bits4 = per, 32
				s := Spec{Device: "eth0", Of: []string{"fair"}, Steps: []Step{NewLimit(3, b)}}
				if hasBuckets(s.Steps) {
					s.Flows = flows
				}
				return s
			}
			through := func() (n int) {
				g := udp(1)
				g.segments, g.of = 24_000, 946 // headers of 42 bytes each
				at(t, p, "eth0", func(a attached) {
					for range 20 {
						if verdict, _, _ := run(t, a.Program.Program, g); verdict == goesOn {
							n++
						}
					}
				})
				return n
			}
			apply(t, p, resource.Create, spec(c.before, c.per, LeastFlows))
			if n := through(); n == 0 || n > 7 {
				t.Fatalf("%d packets are within the limit", n)
			}
			apply(t, p, resource.Update, spec(c.after, c.is, c.flows))
			time.Sleep(20 * time.Millisecond)
			taken := c.is == Chain && c.through == 1 // by what the kernel says of its own
			if n := through(); n != c.through && !(taken && n == 0) {
				t.Errorf("of a flow that was over the limit %d packets pass, want %d", n, c.through)
			}
		})
	}
}
