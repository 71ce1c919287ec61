package watch

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
	"nfchain.dev/nfchain/internal/resource/steer"
)

// newNode of a version, whose probes came through if it is proven.
func newNode(version string, proven, failed bool) *node {
	n := &node{spec: process.Watched{Node: "f", OnFailure: process.Bypass, Version: version}, failed: failed}
	for range 2 {
		n.ways = append(n.ways, &way{trust: trust{proven: proven}, in: &port{steer: &steer.Port{}}, out: &port{}})
	}
	return n
}

// TestOwes: a function that was edited after it failed is not well before probes come through, if those
// of the one before did.
func TestOwes(t *testing.T) {
	for name, c := range map[string]struct{ proven, failed, owes bool }{
		"failed, and probes had come":   {true, true, true},
		"failed, and none had":          {false, true, false},
		"was well, and probes had come": {true, false, false},
	} {
		n := newNode("2", false, false)
		n.know(newNode("1", c.proven, c.failed))
		again := newNode("3", false, false)
		again.know(n)
		for edits, n := range []*node{n, again} {
			if got := n.well(nil); got == c.owes {
				t.Errorf("%s, edited %d times: well %v", name, edits+1, got)
			}
			for _, w := range n.ways {
				w.hear(w.ask(time.Unix(0, 0)), 0, time.Unix(0, 0))
			}
			if !n.well(nil) {
				t.Errorf("%s, edited %d times: not well when probes have come", name, edits+1)
			}
		}
	}
}
