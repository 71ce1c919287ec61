package watch

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestDoubtsAreSaid of the functions at a port when something stays in the way there, once, and when it is there no more; what soon goes is not.
func TestDoubtsAreSaid(t *testing.T) {
	w := newLine(t, "a b")
	var said []string
	w.config.Say = func(node, text string) { said = append(said, node+": "+text) }
	p, wrong := w.nodes[1].ways[0].in, errors.New("somebody else has it")
	for i, c := range []struct {
		err    error
		after  time.Duration
		held   bool
		other  bool // something else is unsure
		unsure bool
		want   []string
	}{
		{wrong, 0, false, false, true, nil},
		{nil, doubted, false, true, true, nil}, // it is something else that is
		{wrong, 0, false, false, true, nil},
		{wrong, doubted, true, false, true, nil},
		{wrong, doubted, false, false, true, []string{"b: cannot be watched, or not be led past, at port <b: somebody else has it"}},
		{wrong, 2 * doubted, false, false, true, nil},
		{nil, 2 * doubted, false, false, false, []string{"b: what was in the way at port <b is not any more"}},
		{nil, 2 * doubted, false, false, false, nil},
	} {
		now := time.Now().Add(c.after)
		said, w.unsure, w.held = nil, c.other, now.Add(-time.Hour)
		if c.held {
			w.held = now.Add(time.Hour)
		}
		w.doubt(p, c.err)
		if w.ponder(now); !slices.Equal(said, c.want) || w.unsure != c.unsure {
			t.Errorf("step %d: said %q, want %q; unsure %t", i, said, c.want, w.unsure)
		}
	}
}
