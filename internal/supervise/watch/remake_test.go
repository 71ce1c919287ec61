package watch

import (
	"slices"
	"testing"
	"time"
)

// TestRemakes: what a function lacks is asked for after its first pause, and if that does not help less and less often; not while the chain is
// being changed, not by what was read of the ports long ago, and not for an interface that somebody set down.
func TestRemakes(t *testing.T) {
	alarm, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer alarm.close()
	n, began := newNode("1", true, false), time.Unix(100, 0)
	var asked []time.Duration
	now := began
	w := &Watcher{alarm: alarm, nodes: []*node{n}, config: Config{Remake: func(node string) {
		if node != n.spec.Node {
			t.Errorf("%q is to be made again", node)
		}
		asked = append(asked, now.Sub(began))
	}}}
	pass := func(until time.Duration, read bool) {
		for ; now.Before(began.Add(until)); now = now.Add(10 * time.Millisecond) {
			if read {
				w.opened = now
			}
			w.remake(n, now)
		}
	}
	n.fail(now, "no probe comes through")
	n.ways[0].in.down = true
	pass(time.Second, true)
	n.ways[0].in.down, n.ways[0].in.gone, n.remake = false, true, began.Add(1100*time.Millisecond)
	w.held = began.Add(2 * time.Second)
	pass(1900*time.Millisecond, true)
	w.opened = now
	pass(2100*time.Millisecond, false)
	if len(asked) != 0 || !w.opened.IsZero() {
		t.Fatalf("asked after %v, read at %v", asked, w.opened)
	}
	pass(100*time.Second, true)
	want := []time.Duration{2100, 3100, 5100, 9100, 17100, 33100, 63100, 93100}
	for i := range want {
		want[i] *= time.Millisecond
	}
	if !slices.Equal(asked, want) {
		t.Errorf("asked after %v, want %v", asked, want)
	}
	n.heal(now)
	n.fail(now, "no probe comes through")
	asked, began = nil, now
	pass(time.Second, true)
	if !slices.Equal(asked, []time.Duration{2 * firstPause}) { // it has failed again soon
		t.Errorf("after it was well: asked after %v", asked)
	}
}
