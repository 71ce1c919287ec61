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
	by, areas := map[uint32]int{}, map[int]int{}
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
	}
	over.Store(true)
	cores.Wait()
	if len(areas) < 3 {
		t.Errorf("rules were written into areas %v: always the same", areas)
	}
	found, generations := 0, map[uint32]bool{}
	err := e.EachMember(func(generation uint32, path string, rule int) {
		n, known := by[generation]
		if want := n % 40; !known || path != pathNames[n%3] || rule != want {
			t.Errorf("a flow of generation %d is on %q by rule %d, want %q by %d", generation, path, rule, pathNames[n%3], want)
		}
		found++
		generations[generation] = true
	})
	if err != nil || len(generations) < 20 {
		t.Errorf("%d flows of %d generations of rules, error %v", found, len(generations), err)
	}
	t.Logf("%d flows of %d generations of rules, in areas %v", found, len(generations), areas)
}
