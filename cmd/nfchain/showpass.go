package main

import (
	"fmt"

	runs "nfchain.dev/nfchain/internal/run"
)

// did is what a step is for, as people read what it counted.
var did = map[string]string{"count": "counted", "mark": "marked", "dscp": "given the code point", "drop": "dropped", "limit": "dropped, over the limit", "rules": "dropped, by rules"}

// printPasses prints what functions at a node's interfaces did.
func (a *app) printPasses(n runs.NodeState) {
	for _, p := range n.Passes {
		a.printf("\n%s, by %s: %s came\n", n.Name, p.Interface, tallied(p.Came))
		for _, s := range p.Steps {
			a.printf("  %s: %s\n", did[s.Act], tallied(s.Tally))
		}
		for _, odd := range []struct {
			what string
			runs.Tally
		}{{"no IP, and untouched", p.Other}, {"malformed, and dropped", p.Malformed}, {"dropped, for the kernel had no memory to change it in", p.Unwritten}} {
			if odd.Packets > 0 {
				a.printf("  %s: %s\n", odd.what, tallied(odd.Tally))
			}
		}
	}
}

func tallied(t runs.Tally) string { return fmt.Sprintf("%d packets, %d bytes", t.Packets, t.Bytes) }
