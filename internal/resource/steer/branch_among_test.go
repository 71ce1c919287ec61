package steer_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/label"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// dealtWays are ports with a node behind each: the first sends packets to the replicas of one function, or past them
// to the last, and so do the replicas.
var dealtWays = []string{"tell", "one", "two", "three", "out"}

const (
	tells, joins = 100, 104
	dealtNumber  = 200
)

// sharesWays is what the ports do that face replicas of these numbers, from 1 to 3.
func sharesWays(hook string, numbers ...int) []steer.Spec {
	web := steer.Among{Of: "web", Flows: 1 << 14, Idle: api.Duration(time.Hour)}
	for _, n := range numbers {
		web.Replicas = append(web.Replicas, replica(n, dealtWays))
	}
	one, out := steer.BranchWay{Node: "web", Number: dealtNumber}, steer.BranchWay{Node: "out", Number: joins, Port: "out", Joint: true}
	tell := steer.BranchWay{Node: "tell", Number: tells, Port: "tell"}
	all := []steer.Spec{
		{Device: "tell", To: "out", Branch: &steer.Branch{Node: "tell", Number: tells, Ways: []steer.BranchWay{out, one}}},
		{Device: "out", To: "tell", Branch: &steer.Branch{Node: "out", Number: joins, Back: true, Ways: []steer.BranchWay{tell, one}}},
	}
	for i := range all {
		all[i].Branch.Among = []steer.Among{web}
	}
	for _, port := range dealtWays[1:4] {
		all = append(all, steer.Spec{Device: port, To: "out", Branch: &steer.Branch{Node: "web", Number: dealtNumber, Ways: []steer.BranchWay{out}}})
	}
	for i := range all {
		all[i].Hook, all[i].Branch.Flows = hook, 1<<14
	}
	return all
}

// newSharer has such ports, whose first node marks packets for the function.
func newSharer(t testing.TB, hook string, numbers ...int) *parter {
	p := &parter{dealer: &dealer{forwarder: newForwarderOf(t, dealtWays)}}
	for i := range dealtWays {
		p.wires = append(p.wires, p.wire(t, i))
	}
	p.replicas = p.wires
	p.to(t, steer.Kind{}, sharesWays(hook, numbers...))
	p.labels(t, label.Rule{Mark: 1, Mask: 0xf, Node: "web", Label: dealtNumber})
	return p
}

// to have ports do what specs say.
func (p *parter) to(t testing.TB, k steer.Kind, specs []steer.Spec) {
	t.Helper()
	var changes []resource.Change
	for _, s := range specs {
		changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
	}
	if err := k.Apply(resource.At(p.Handle, p.Owner), changes); err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		if found := p.read(t)[s.Device]; !k.Leave && found != s.Fingerprint() {
			t.Errorf("%s reads back %q, want %q", s.Device, found, s.Fingerprint())
		}
	}
}

// sit tells of each flow which replica it goes to with its mark: on and back again, with what is about it.
func (p *parter) sit(t testing.TB, all []flow) map[flow]int {
	t.Helper()
	at := map[flow]int{}
	for i, f := range all {
		back := f
		back.back = true
		at[f] = p.sends(t, 0, 1, f.packet)
		if on := p.sends(t, at[f], 0, f.packet); on != 4 {
			t.Fatalf("from %s on to %s", dealtWays[at[f]], dealtWays[on])
		}
		packets := map[string]func(uint32) []byte{"an answer": back.packet, "an error": f.complaint}
		if i%4 == 0 {
			packets["the same again"] = f.packet
		}
		for name, packet := range packets {
			if to := p.sends(t, 4, 0, packet); to != at[f] {
				t.Errorf("%+v is at %s, and %s goes back to %s", f, dealtWays[at[f]], name, dealtWays[to])
			}
		}
		if again := p.sends(t, 0, 0x21, f.packet); again != at[f] {
			t.Errorf("%+v goes to %s and then to %s", f, dealtWays[at[f]], dealtWays[again])
		}
	}
	return at
}

// TestWaysLeadToReplicas: a flow that a label sends to a function with replicas is with one of them, there and back, while
// replicas and ways come and go; and what has no label goes past them all.
func TestWaysLeadToReplicas(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p, first := newSharer(t, hook, 1, 2), flows(0, 12)
		at := p.sit(t, first)
		if n := by(at); n[1] == 0 || n[2] == 0 || n[3] > 0 {
			t.Fatalf("flows by replica: %v", n)
		}
		still := func(when string) {
			t.Helper()
			if now := p.sit(t, first); !maps.Equal(at, now) {
				t.Errorf("%s flows moved from %v to %v", when, at, now)
			}
		}
		for name, packet := range map[string]func(uint32) []byte{
			"arp": func(n uint32) []byte { return frame(broadcast, []byte{8, 6}, 60, n) }, "cut off": func(n uint32) []byte { return frame(stranger, []byte{8, 0}, 60, n) },
			"a fragment": func(n uint32) []byte { return fragment(flow{id: 3}.packet(n)) },
		} {
			if to := p.sends(t, 0, 0, packet); to != 4 {
				t.Errorf("%s without a label goes to %s", name, dealtWays[to])
			}
			if to, again := p.sends(t, 0, 1, packet), p.sends(t, 0, 1, packet); to != again || to != 1 && to != 2 {
				t.Errorf("%s with a label goes to %s, and then to %s", name, dealtWays[to], dealtWays[again])
			}
		}
		past := flow{id: 400}
		if to := p.sends(t, 0, 0, past.packet); to != 4 {
			t.Errorf("without a mark it comes to %s", dealtWays[to])
		}
		past.back = true
		if to := p.sends(t, 4, 0, past.packet); to != 0 {
			t.Errorf("what went past the replicas goes back to %s", dealtWays[to])
		}
		unanswered := map[flow]int{}
		for _, f := range flows(300, 312) {
			unanswered[f] = p.sends(t, 0, 1, f.packet)
			p.sends(t, unanswered[f], 0, f.packet)
		}
		p.to(t, steer.Kind{}, sharesWays(hook, 1, 2, 3))
		for f, replica := range unanswered {
			f.back = true
			if to := p.sends(t, 4, 0, f.packet); to != replica {
				t.Errorf("%+v is at %s, and its first answer, when one came, goes back to %s", f, dealtWays[replica], dealtWays[to])
			}
		}
		still("when one came,")
		if n := by(p.sit(t, flows(100, 112))); n[3] == 0 {
			t.Errorf("new flows by replica: %v", n)
		}
		fewer, left := sharesWays(hook, 1, 3), sharesWays(hook, 1, -2, 3)
		for _, specs := range [][]steer.Spec{fewer[:2], left[:2]} { // and other ways, by other programs
			for i := range specs {
				specs[i].Branch.Ways = append(slices.Clone(specs[i].Branch.Ways), steer.BranchWay{Node: "else", Number: 300, Port: "three"})
			}
		}
		for _, k := range []steer.Kind{{Leave: true}, {Leave: true, Relabelled: true}} {
			p.to(t, k, left)
			still("while one is leaving,")
		}
		if n := by(p.sit(t, flows(200, 212))); n[2] > 0 {
			t.Errorf("one that is leaving has new flows: %v", n)
		}
		known := func() *steer.Flows {
			all, err := steer.FlowsOf(resource.At(p.Handle, p.Owner), fewer)
			if err != nil || all["web"] == nil {
				t.Fatal(all, err)
			}
			return all["web"]
		}
		if k := known(); !slices.Equal(k.Leaving, []int{2}) || staying(k) < by(at)[2] || k.Moved != 0 || k.Unkept != 0 {
			t.Errorf("while one is leaving: %+v", k)
		}
		p.to(t, steer.Kind{}, fewer)
		for f, n := range p.sit(t, first) {
			if was := at[f]; n == 2 || was != 2 && n != was {
				t.Errorf("%+v moved from %d to %d, when 2 was gone", f, was, n)
			}
		}
		if k := known(); len(k.Leaving) > 0 || k.Moved < uint64(by(at)[2]) {
			t.Errorf("when it was gone: %+v, want %d moved", k, by(at)[2])
		}
	})
}

// TestOneWayBackToReplicas: where answers go back one way, to a function with replicas, each goes to the one that its flow is with.
func TestOneWayBackToReplicas(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p, specs := newSharer(t, hook, 1, 2), sharesWays(hook, 1, 2)
		specs[1].To, specs[1].Branch.Ways = "", specs[1].Branch.Ways[1:]
		p.to(t, steer.Kind{}, specs)
		if n := by(p.sit(t, flows(0, 8))); n[1] == 0 || n[2] == 0 {
			t.Errorf("flows by replica: %v", n)
		}
	})
}

// TestReplicasOfWaysFail: their flows go to others, and those that no way leads to any more are forgotten.
func TestReplicasOfWaysFail(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		specs := sharesWays(hook, 1, 2)
		p, first := newSharer(t, hook, 1, 2), flows(0, 8)
		at := p.sit(t, first)
		set := func(failing steer.Numbers) {
			t.Helper()
			for _, name := range []string{"tell", "out"} {
				p.port(t, name, func(port *steer.Port) error {
					if _, is := port.Shared("web"); !is || !port.Parts() {
						t.Errorf("%s leads to no replicas, or ways do not part", name)
					}
					return port.SetFailing("web", failing, steer.SharesWithout(failing, specs[0].Branch.Among[0].Replicas))
				})
			}
			if is, err := steer.Diverted(resource.At(p.Handle, p.Owner)); err != nil || is != (failing != 0) {
				t.Errorf("of replicas %b that fail: diverted %v, error %v", failing, is, err)
			}
		}
		set(steer.Number(1))
		if n := by(p.sit(t, first)); n[1] > 0 {
			t.Errorf("one that fails has flows: %v", n)
		}
		more := sharesWays(hook, 1, 2) // another program, which knows that it fails
		for i := range more[:2] {
			more[i].Branch.Ways = append(slices.Clone(more[i].Branch.Ways), steer.BranchWay{Node: "else", Number: 300, Port: "three"})
		}
		p.to(t, steer.Kind{}, more)
		if n := by(p.sit(t, flows(50, 58))); n[1] > 0 {
			t.Errorf("behind another program one that fails has flows: %v", n)
		}
		set(0)
		if n := by(p.sit(t, flows(100, 116))); n[1] == 0 || by(at)[1] == 0 {
			t.Errorf("one that is well again has no flows: %v", n)
		}
		none := sharesWays(hook)
		for i := range none[:2] {
			none[i].Branch.Ways, none[i].Branch.Among = none[i].Branch.Ways[:1:1], nil
		}
		p.to(t, steer.Kind{Leave: true}, none)
		if to := p.sends(t, 0, 1, first[0].packet); to != 1 && to != 2 {
			t.Errorf("a label from before leads to %s", dealtWays[to])
		}
		p.to(t, steer.Kind{Leave: true, Relabelled: true}, none)
		if to := p.sends(t, 0, 1, first[0].packet); to != 4 {
			t.Errorf("a label of no way any more leads to %s", dealtWays[to])
		}
		p.port(t, "tell", func(port *steer.Port) error {
			if _, is := port.Shared("web"); is {
				t.Error("there is a seat for a function that no way leads to")
			}
			return nil
		})
	})
}

// TestWaysComeToReplicas and go again: ports lead to the same ones by another program, and flows stay with theirs.
func TestWaysComeToReplicas(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		p, all := newSharer(t, hook, 1, 2), flows(0, 8)
		at := p.sit(t, all)
		specs := sharesWays(hook, 1, 2)
		straight := slices.Clone(specs[:2])
		for i, s := range straight {
			straight[i] = steer.Spec{Device: s.Device, Among: &s.Branch.Among[0], Hook: hook}
		}
		p.to(t, steer.Kind{Leave: true}, straight)
		for f, replica := range at {
			back := f
			back.back = true
			if to := p.sends(t, 0, 0, f.packet); to != replica {
				t.Errorf("straight on, %+v moved from %d to %d", f, replica, to)
			}
			if to := p.sends(t, 4, 0, back.packet); to != replica {
				t.Errorf("straight back, %+v moved from %d to %d", f, replica, to)
			}
		}
		p.to(t, steer.Kind{}, specs)
		if now := p.sit(t, all); !maps.Equal(at, now) {
			t.Errorf("by labels again, flows moved from %v to %v", at, now)
		}
	})
}
