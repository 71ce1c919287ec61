package steer_test

import (
	"fmt"
	"testing"
	"time"

	api "nfchain.dev/nfchain/api/v1alpha1"
	"nfchain.dev/nfchain/internal/resource"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// frontedBy are ports as fronted has them, where flows stay and what has no mark goes by another node.
func frontedBy(hook string, planned int, straight uint16, census api.Duration) []steer.Spec {
	all := fronted(hook, straight, true)
	all[0].Branch.Ways = []steer.BranchWay{way(planned, false), way(3, true)}
	all[3].Branch.Ways = []steer.BranchWay{way(planned, false), way(0, false)}
	if planned == 1 {
		all[0].Branch.Ways = append(all[0].Branch.Ways, way(2, false))
		all[3].Branch.Ways = append(all[3].Branch.Ways, way(2, false))
	}
	for _, i := range []int{0, 3} {
		all[i].To = all[i].Branch.Ways[0].Port
	}
	for i := range all {
		all[i].Stay = &steer.Stay{Flows: 1 << 14, Idle: api.Duration(time.Hour), Census: census}
	}
	return all
}

// different are the changes to ports that are not as specs say.
func (p *parter) different(t *testing.T, specs []steer.Spec) (changes []resource.Change) {
	t.Helper()
	found := p.read(t)
	for _, s := range specs {
		if found[s.Device] != s.Fingerprint() {
			changes = append(changes, resource.Change{Op: resource.Update, Key: s.Device, Spec: s})
		}
	}
	return changes
}

// TestFlowsStayBehindFronts: where rules at the ends let some flows go straight, and others go as branches lead, these stay on their path when
// branches and rules are others, though who turned ports was killed at any place, and while rules alone are edited; those that go straight do so
// on.
func TestFlowsStayBehindFronts(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		for killed := -1; killed < 3; killed++ {
			if killed >= 0 && hook != itsHook() {
				continue
			}
			t.Run(fmt.Sprint("killed when so many ports were turned: ", killed), func(t *testing.T) {
				p := newParter(t, frontedBy(hook, 1, 10, 0))
				straight, unmarked, marked := flows(0, 2), flows(10, 12), flows(12, 14)
				began := time.Now()
				old := func(what string) {
					t.Helper()
					p.comesBy(t, what, 0x20, 3, straight...)
					p.comesBy(t, what, 0, 1, unmarked...)
					p.comesBy(t, what, 0x20, 2, marked...)
				}
				old("before")
				census := api.Duration(max(4*time.Second, 8*time.Since(began)))
				before := steer.Soon(time.Duration(census))
				t.Cleanup(func() { steer.Soon(before) })
				at, all, specs := resource.At(p.Handle, p.Owner), wanted(parted...), frontedBy(hook, 2, 0, census)
				if killed >= 0 {
					if err := all.Killed(at, killed, p.different(t, specs)); err != nil {
						t.Fatal(err)
					}
					old("who turned ports was killed")
					p.comesBy(t, "a new flow then", 0, 1, flow{id: 50})
				}
				if err := all.Apply(at, p.different(t, specs)); err != nil {
					t.Fatal(err)
				}
				if older, err := steer.ForgetLost(at); err != nil || !older {
					t.Fatalf("no flow stays: %v", err)
				}
				old("in the census")
				time.Sleep(p.staying(t).Census)
				old("other branches and rules")
				p.comesBy(t, "new flows", 0, 2, flows(100, 102)...)
				p.comesBy(t, "a new flow that went straight before", 0, 2, flow{id: 5})
				if err := all.Apply(at, p.different(t, frontedBy(hook, 2, 200, census))); err != nil {
					t.Fatal(err)
				}
				old("other rules")
				p.comesBy(t, "new flows by other rules", 0, 3, flows(110, 112)...)
				p.comesBy(t, "those from before", 0, 2, flows(100, 102)...)
				if left := p.different(t, frontedBy(hook, 2, 200, census)); len(left) > 0 {
					t.Errorf("to be changed still: %v", left)
				}
				if s := p.staying(t); s.Flows < len(unmarked)+len(marked) || s.Moved+s.Unkept > 0 {
					t.Errorf("on older versions: %+v", s)
				}
				if err := steer.Unite(at); err != nil {
					t.Fatal(err)
				}
				p.comesBy(t, "when all go the newest", 0, 2, unmarked...)
				p.comesBy(t, "when all go the newest", 0x20, 3, straight...)
				if s, err := steer.StayingOn(at); s != nil || err != nil {
					t.Errorf("all go the newest path: %+v, %v", s, err)
				}
			})
		}
	})
}

// TestRulesChangeWhereFlowsStay at a port behind which a node was put in, by what stands before it there: flows stay at that and
// at others.
func TestRulesChangeWhereFlowsStay(t *testing.T) {
	onHooks(t, func(t *testing.T, hook string) {
		var census api.Duration
		ports := func(one int, usual string) []steer.Spec {
			all := frontedBy(hook, 1, 10, census)
			for i, to := range map[int]int{1: one, 2: 3} {
				all[i].To, all[i].Branch = parted[to], nil
			}
			others := []steer.Way{{Path: marked, Number: 9, Behind: true}, {Path: usual, Number: 4, Port: "out"}}
			all[2].Paths = &steer.Paths{Ways: others, Usual: marked, Opens: true, Flows: 1 << 14, Idle: api.Duration(time.Hour)}
			return all
		}
		p := newParter(t, ports(3, "two"))
		at, all := resource.At(p.Handle, p.Owner), wanted(parted...)
		all.Turn.New["two"] = true
		comes := func(what string, to int, some ...flow) {
			t.Helper()
			for _, f := range some {
				if at := p.sends(t, 1, 0, f.packet); at != to {
					t.Errorf("%s: %+v comes to %s, want %s", what, f, parted[at], parted[to])
				}
			}
		}
		old, began := flows(20, 24), time.Now()
		comes("before", 3, old...)
		census = api.Duration(max(4*time.Second, 8*time.Since(began)))
		if err := all.Apply(at, p.different(t, ports(2, "two"))); err != nil {
			t.Fatal(err)
		}
		comes("in the census", 3, old...)
		time.Sleep(p.staying(t).Census)
		comes("then", 3, old...)
		comes("new flows", 2, flows(50, 52)...)
		before := p.staying(t)
		if err := all.Apply(at, p.different(t, ports(2, "another"))); err != nil {
			t.Fatal(err)
		}
		comes("other rules", 3, old...)
		comes("other rules, new flows", 2, flows(52, 54)...)
		if now := p.staying(t); now.Ports != before.Ports || now.Flows != before.Flows || now.Ports != 2 {
			t.Errorf("there stayed %+v, and do %+v", before, now)
		}
		if left := p.different(t, ports(2, "another")); len(left) > 0 {
			t.Errorf("to be changed still: %v", left)
		}
	})
}
