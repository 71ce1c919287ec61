package run

import (
	"slices"
	"testing"

	"nfchain.dev/nfchain/internal/plan"
	"nfchain.dev/nfchain/internal/resource/process"
)

// TestWhichFail names nodes once, in path order, and none that begins, is done, or is not watched.
func TestWhichFail(t *testing.T) {
	p := &plan.Plan{}
	for _, name := range []string{"client", "a", "b", "c", "d", "server"} {
		p.Nodes = append(p.Nodes, plan.Node{Name: name})
	}
	programs := []process.Status{
		{Node: "d", State: process.Waiting}, {Node: "c", State: process.Unready}, {Node: "b", State: process.Starting}, {Node: "client", State: process.Ended},
		{Node: "server", State: process.Running},
	}
	watched := []process.Health{{Node: "c", State: process.Failed}, {Node: "a", State: process.Failed}, {Node: "server", State: process.Healthy}}
	if got, want := failingOf(p, programs, watched), []string{"a", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("%v fail, want %v", got, want)
	}
	for _, s := range []process.Status{{State: process.Starting, Failures: 1}, {State: process.Starting, Late: true}} {
		if !fails(s) {
			t.Errorf("%+v fails", s)
		}
	}
}
