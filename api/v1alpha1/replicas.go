package v1alpha1

import (
	"fmt"
	"slices"
	"strings"
)

// MostReplicas that a function can have.
const MostReplicas = 64

func (c Catalogue) checkReplicas(n int, wiring string) string {
	switch {
	case n <= 1 || wiring == anyWiring || slices.Contains(c.Replicating, wiring):
		return ""
	case wiring == "":
		return "a function that stands alone cannot have replicas above one"
	}
	return fmt.Sprintf("wiring %s cannot do replicas above one; use wiring: %s", wiring, strings.Join(c.Replicating, " or "))
}

// mostWeight is how many times as many flows one replica can get as another.
const mostWeight = 1000

// checkWeights wants one for each replica.
func checkWeights(fn Function, at place) []FieldProblem {
	var f findings
	if n := max(fn.Replicas, 1); len(fn.Weights) > 0 && len(fn.Weights) != n && !at.lost("replicas") && !at.lost("weights") {
		f.addf("weights", "%d for a function with replicas: %d; write one for each replica, or leave weights out", len(fn.Weights), n)
	}
	some := false
	for i, w := range fn.Weights {
		if w < 0 || w > mostWeight {
			f.addf(item("weights", i), "%d is not between 0 and %d", w, mostWeight)
		}
		some = some || w != 0
	}
	if len(fn.Weights) > 0 && !some {
		f.addf("weights", "are all 0, and new flows have to go somewhere; give one replica more")
	}
	return f
}

// checkOnFailure wants replicas that could take over, where they are to.
func checkOnFailure(fn Function, at place) []FieldProblem {
	var f findings
	if fn.OnFailure == "replica" && fn.Replicas < 2 && !at.lost("replicas") {
		f.addf("onFailure", "there is no other replica that could take over; write replicas: 2 or more, or use bypass or block")
	}
	return f
}

// NodeNames are what the nodes of a function are called.
func (f Function) NodeNames() []string {
	if f.Replicas < 2 {
		return []string{f.Name}
	}
	names := make([]string, min(f.Replicas, MostReplicas))
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", f.Name, i+1)
	}
	return names
}
