package trace

import (
	"slices"
	"strings"
	"testing"

	bpf "nfchain.dev/nfchain/bpf/trace"
)

func TestTimesOf(t *testing.T) {
	if got := timesOf(nil); got != nil {
		t.Errorf("times of nothing: %+v", got)
	}
	if got, want := *timesOf([]uint64{7}), (Times{1, 7, 7, 7, 7}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var ns []uint64
	for i := range uint64(200) {
		ns = append(ns, 200-i)
	}
	if got, want := *timesOf(ns), (Times{200, 1, 100, 198, 200}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestReasonsAreTheKernels(t *testing.T) {
	n := &names{reasons: map[uint32]string{6: "NETFILTER_DROP"}}
	if a, b := n.reason(6), n.reason(999); a != "NETFILTER_DROP" || b != "reason 999" {
		t.Errorf("%q, %q", a, b)
	}
}

func TestFrameText(t *testing.T) {
	for want, c := range map[string]bpf.ProgramFrameCause{
		"XDP_ABORTED":    {Kind: frameException, Detail: 0},
		"XDP verdict 77": {Kind: frameException, Detail: 77},
		"XDP ring full":  {Kind: frameSending},
		"XDP sending failed (no such device or address)": {Kind: frameSending, Detail: -6},
		"XDP redirect failed (invalid argument)":         {Kind: frameRedirecting, Detail: -22},
	} {
		if got := frameText(c); got != want {
			t.Errorf("%+v is %q, want %q", c, got, want)
		}
	}
}

func TestCountersThatBeganAgain(t *testing.T) {
	if got, want := (Amount{5, 50}).since(Amount{3, 20}), (Amount{2, 30}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := (Amount{5, 50}).since(Amount{30, 200}), (Amount{5, 50}); got != want {
		t.Errorf("of an interface made anew: %+v, want %+v", got, want)
	}
}

func TestMoved(t *testing.T) {
	before := []RuleCount{{Rule: 1, Packets: 5, Bytes: 50}, {Rule: 2, Packets: 7}}
	after := []RuleCount{{Rule: 1, Packets: 8, Bytes: 80}, {Rule: 2, Packets: 7}, {Rule: 3, Packets: 1}}
	if got, want := moved(before, after), []RuleCount{{Rule: 1, Packets: 3, Bytes: 30}, {Rule: 3, Packets: 1}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestWhatASwitchTookIsACopy: in the wiring's namespace alone, and for that reason alone.
func TestWhatASwitchTookIsACopy(t *testing.T) {
	v := &view{taps: map[uint32]string{3: "m.tap"}, between: 7, names: &names{reasons: map[uint32]string{1: "OTHERHOST", 2: "NO_SOCKET"}}}
	for at, want := range map[[2]uint32]bool{{7, 1}: true, {7, 2}: false, {8, 1}: false, {3, 2}: true} {
		if got := v.copied(at[0], at[1]); got != want {
			t.Errorf("in namespace %d for reason %d: %v", at[0], at[1], got)
		}
	}
}

// TestWhatASocketHadGot is no drop when it is closed, unless it is ours or at an interface.
func TestWhatASocketHadGot(t *testing.T) {
	v := &view{names: &names{reasons: map[uint32]string{1: "QUEUE_PURGE", 2: "NO_SOCKET"}}}
	for c, want := range map[bpf.ProgramCause]bool{{Reason: 1}: true, {Reason: 1, Own: 1}: false, {Reason: 1, Ifindex: 3}: false, {Reason: 2}: false} {
		if got := v.took(c); got != want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestWhoTakesAVLAN: an interface of it does, and any one takes VLAN 0, which is a priority alone.
func TestWhoTakesAVLAN(t *testing.T) {
	h := Hop{Interfaces: []Interface{{Name: "eth0", vlans: []uint16{7, 5}}, {Name: "eth1"}}}
	for want, f := range map[string]Flow{"eth1": {Tagged: true, VLAN: 5}, "eth0 eth1": {Tagged: true, VLAN: 6}, "": {Tagged: true}} {
		if got := strings.Join(h.without(f), " "); got != want {
			t.Errorf("VLAN %d is not taken by %q, want %q", f.VLAN, got, want)
		}
	}
}

// sample is a chain in which a firewall dropped, XDP lost, a copy ended, and one packet
// ended outside.
func sample() (Report, seen) {
	r := Report{Chain: "edge", Wiring: "veth", DurationS: 1.25, Own: &Conservation{Sent: 100, Received: 60, Duplicates: 2, Refused: 1, Error: "message too long"}}
	r.Hops = []Hop{
		{Name: "client", OwnOut: Amount{100, 9200}, Out: Amount{103, 9500}, TimeOut: &Times{100, 1000, 2000, 3000, 4000}},
		{Name: "fw", OwnIn: Amount{100, 9200}, OwnOut: Amount{70, 6440}, In: Amount{105, 9700}, Out: Amount{71, 6500}, TimeIn: &Times{100, 3000, 4120, 6000, 9000},
			Interfaces: []Interface{{Name: "eth1", Driver: map[string]uint64{"rx_queue_0_xdp_drops": 3}, Queues: []Queue{{Kind: "htb", Backlog: 4}}}},
			Drops: []Drop{
				{Cause: "NETFILTER_DROP", Interface: "eth0", At: "nf_hook_slow", Own: Amount{30, 2760}, Others: Amount{2, 100}},
				{Cause: "PACKET_SOCK_ERROR", Own: Amount{9, 900}, Copy: true},
			},
			Rules: []RuleCount{{Rule: 1, Verdict: "drop", Comment: "no UDP", Packets: 32}, {Rule: 2, Verdict: "accept", Packets: 70}, {Rule: 3, Packets: 5}, {Packets: 1}},
			Steps: []StepCount{{Function: "mark", Did: "marked", Direction: "forward", Packets: 10}, {Function: "lose", Did: "dropped", Packets: 4}}},
		{Name: "server", OwnIn: Amount{60, 5520}, In: Amount{60, 5520}},
	}
	r.Elsewhere = []Drop{{Cause: "TTL", Own: Amount{1, 92}}}
	return r, seen{frames: []frames{{packets: 2}, {packets: 50, counted: true}}, uncounted: 4, missed: 5}
}

// TestConservation: copies are no losses, what XDP lost may explain the rest but no
// more than that, and what is left is said with what may hold it.
func TestConservation(t *testing.T) {
	r, s := sample()
	r.conserve(s)
	if want := (Conservation{Sent: 100, Received: 60, Duplicates: 2, Dropped: 31, XDP: 5, Unexplained: 4, Refused: 1, Error: "message too long"}); *r.Own != want {
		t.Errorf("got %+v, want %+v", *r.Own, want)
	}
	r.warn(s)
	for _, want := range []string{"4 drops are not counted", "5 events were missed", "4 packets are still in the queue htb of fw:eth1", "rx_queue_0_xdp_drops 3"} {
		if !strings.Contains(strings.Join(r.Warnings, "\n"), want) {
			t.Errorf("no warning of %q: %q", want, r.Warnings)
		}
	}
	r, s = sample()
	r.Hops[1].count(Counted{Losses: []Loss{{"on purpose", 3}, {"full", 1}}}, Counted{Losses: []Loss{{"on purpose", 6}, {"full", 1}}})
	r.conserve(s)
	if r.Own.Functions != 3 || r.Own.XDP != 5 || r.Own.Unexplained != 1 {
		t.Errorf("with a function that counts its drops: %+v", *r.Own)
	}
	r, s = sample()
	r.Own.Received = 69
	r.conserve(s)
	if r.Own.XDP != 0 || r.Own.Unexplained != 0 {
		t.Errorf("with nothing left to explain: %+v", *r.Own)
	}
	r, s = sample()
	r.Own.Received = 80
	r.conserve(s)
	if r.Own.XDP != 0 || r.Own.Unexplained != -11 {
		t.Errorf("with more than was sent: %+v", *r.Own)
	}
}

func TestText(t *testing.T) {
	r, s := sample()
	r.conserve(s)
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	const want = `chain edge, wiring veth, looked at for 1.25 s

HOP     IN   OUT  TIME TO IT  ALL IN  ALL OUT  COUNTED                                                        DROPPED                                                                                  DROPPED BY
client  -    100  2 µs        -       103
fw      100  70   4.12 µs     105     71       rule 2 matched 70; rule 3 matched 5; mark marked 10 (forward)  30 and 2 of others NETFILTER_DROP at eth0 in nf_hook_slow; 9 PACKET_SOCK_ERROR (copies)  lose dropped 4; rule 1 matched 32 (no UDP); its policy dropped 1
server  60   -    -           60      -

outside the chain: 1 TTL

100 sent = 60 received + 31 dropped + 5 lost by XDP + 4 unexplained; 2 came twice; 1 were not sent (message too long)
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	r.Own, r.Elsewhere = nil, nil
	r.Hops[1].Rules, r.Hops[1].Steps = nil, nil
	half := .5
	for i := range r.Hops {
		r.Hops[i].SoftirqS = &half
	}
	b.Reset()
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "HOP     ALL IN  ALL OUT  SOFTIRQ  DROPPED\nclient  -       103      500 ms\n") {
		t.Errorf("without packets of our own:\n%s", b.String())
	}
}

// TestDropsAreToldOnce: what a function without a namespace dropped each way has what its rules decided within it, and is beside the kernel's
// causes, not among them.
func TestDropsAreToldOnce(t *testing.T) {
	h := Hop{Name: WiringHop, Drops: []Drop{{Cause: "TC_INGRESS", Own: Amount{9, 900}}},
		Steps: []StepCount{{Function: "fw", Did: "dropped", Direction: "forward", Packets: 7}, {Function: "limit", Did: "dropped", Packets: 2}, {Function: "fw", Did: "dropped", Direction: "reverse", Packets: 1}},
		Rules: []RuleCount{{Function: "fw", Rule: 2, Verdict: "accept", Packets: 5}, {Function: "fw", Rule: 1, Verdict: "drop", Packets: 3}, {Function: "fw", Packets: 4}}}
	const want = "fw dropped 7 (forward), fw dropped 1 (reverse): rule 1 matched 3, its policy dropped 4; limit dropped 2"
	if row := (Report{Own: &Conservation{}, Hops: []Hop{h}}).row(h); row[len(row)-2] != "9 TC_INGRESS" || row[len(row)-1] != want {
		t.Errorf("%q, want %q", row, want)
	}
}

// TestReasonsAreOfWhatDropped: a rule that lets packets by is no reason for their end.
func TestReasonsAreOfWhatDropped(t *testing.T) {
	e := Explanation{Hops: []Step{{Name: "fw", Drops: []Drop{{Cause: "NETFILTER_DROP", Own: Amount{3, 30}}},
		Rules: []RuleCount{{Rule: 1, Verdict: "accept", Packets: 9}, {Rule: 2, Packets: 12}, {Rule: 3, Verdict: "drop", Packets: 3}}}}}
	e.explain()
	if len(e.Reasons) != 2 || e.Reasons[1] != "fw: rule 3 matched 3" {
		t.Errorf("%q", e.Reasons)
	}
}

// TestMergeKeepsPlacesApart.
func TestMergeKeepsPlacesApart(t *testing.T) {
	var all []Drop
	for _, d := range []Drop{
		{Cause: "A", Interface: "eth0", Own: Amount{1, 10}}, {Cause: "A", Interface: "eth0", Others: Amount{2, 20}},
		{Cause: "A", Interface: "eth1", Own: Amount{1, 10}}, {Cause: "A", Interface: "eth0", At: "f", Own: Amount{1, 10}},
	} {
		all = merge(all, d)
	}
	if len(all) != 3 || all[0].Own.Packets != 1 || all[0].Others.Packets != 2 {
		t.Errorf("%+v", all)
	}
}
