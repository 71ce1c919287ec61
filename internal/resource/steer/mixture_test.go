package steer_test

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"nfchain.dev/nfchain/internal/resource/steer"
)

// numberedChoice gives all flows of UDP a path by a rule, whose place tells which of these rules counted.
func numberedChoice(n int) steer.Choice {
	c := manyRules(n % 40)
	for i := range c.Rules {
		c.Rules[i].Protocol = "tcp"
	}
	c.Rules = append(c.Rules, steer.Rule{Name: "udp", Protocol: "udp", Path: pathNames[n%3]})
	c.Drop = true
	return c
}

// TestNoFlowMeetsAMixture of rules: each is given a path by those of one generation, whole, while these are replaced all the
// time, in areas that are used again and again.
func TestNoFlowMeetsAMixture(t *testing.T) {
	e := entering(t, numberedChoice(0), steer.FirstEnd)
	var over atomic.Bool
	var flows atomic.Uint32
	var cores sync.WaitGroup
	for range 2 {
		cores.Add(1)
		go func() {
			defer cores.Done()
			_, frame := ofRule(manyRules(1), 0)
			for !over.Load() {
				binary.BigEndian.PutUint32(frame[14+12:], 10<<24|flows.Add(1))
				if verdict, _, err := e.Program.Test(frame); err != nil || verdict != redirected {
					t.Errorf("a flow has verdict %d, error %v", verdict, err)
					return
				}
			}
		}()
	}
	by, areas, met := map[uint32]int{}, map[int]int{}, map[uint32]bool{}
	holds := func() {
		t.Helper()
		err := e.EachMember(func(generation uint32, path string, rule int) {
			n, known := by[generation]
			if !known || path != pathNames[n%3] || rule != n%40 {
				t.Errorf("a flow of generation %d is on %q by rule %d, want %q by %d", generation, path, rule, pathNames[n%3], n%40)
			}
			met[generation] = true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 400 {
		if err := e.Choose(numberedChoice(n)); err != nil {
			t.Fatal(err)
		}
		area, generation, err := e.Counting()
		if err != nil {
			t.Fatal(err)
		}
		by[generation] = n
		areas[area]++
		if n%40 == 39 {
			holds()
		}
	}
	over.Store(true)
	cores.Wait()
	holds()
	if len(areas) < 3 || len(met) < 10 {
		t.Errorf("rules were written into areas %v, and flows met %d of 400 generations of them", areas, len(met))
	}
	t.Logf("%d generations of rules were met, in areas %v", len(met), areas)
}
