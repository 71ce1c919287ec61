package watch

import (
	"testing"
	"time"

	"nfchain.dev/nfchain/internal/resource/process"
)

// TestHeld: what ends while nothing is taken for a failure is one when that is over, unless it runs
// again by then. A program that is not started again, because it has done its work, has not failed.
func TestHeld(t *testing.T) {
	for name, c := range map[string]struct {
		states []string
		fails  bool
	}{
		"ended": {[]string{process.Waiting}, true}, "runs again": {[]string{process.Waiting, process.Running}, false}, "is done": {[]string{process.Ended}, false},
	} {
		now := time.Now()
		n := &node{spec: process.Watched{Node: "f", Programs: []string{"f"}, OnFailure: process.Block}}
		w := &Watcher{config: Config{Say: func(string, string) {}}, programs: map[string]string{}, ended: map[string]bool{},
			woken: make(chan struct{}, 1), nodes: []*node{n}, held: now.Add(time.Minute)}
		for _, s := range c.states {
			w.Note(process.Status{Node: "f", State: s})
		}
		if w.act(now); n.failed {
			t.Errorf("%s: it has failed while it is held", name)
		}
		if w.act(now.Add(time.Minute)); n.failed != c.fails || len(w.ended) != 0 {
			t.Errorf("%s: failed %v, ended %v", name, n.failed, w.ended)
		}
	}
}
