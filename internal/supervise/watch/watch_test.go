package watch

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// TestHeld: what ends while nothing is taken for a failure is one when that is over, unless it runs
// again by then.
func TestHeld(t *testing.T) {
	for state, fails := range map[string]bool{process.Waiting: true, process.Ended: true, process.Running: false} {
		now := time.Now()
		n := &node{spec: process.Watched{Node: "f", Programs: []string{"f"}, OnFailure: process.Block}}
		w := &Watcher{config: Config{Say: func(string, string) {}}, programs: map[string]string{"f": state}, ended: map[string]bool{"f": true},
			nodes: []*node{n}, held: now.Add(time.Minute)}
		if w.act(now); n.failed {
			t.Errorf("%s: it has failed while it is held", state)
		}
		if w.act(now.Add(time.Minute)); n.failed != fails || len(w.ended) != 0 {
			t.Errorf("%s: failed %v, ended %v", state, n.failed, w.ended)
		}
	}
}
