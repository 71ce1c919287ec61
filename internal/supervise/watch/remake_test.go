package watch

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestRemakes: what a function lacks is asked for after its first pause, and if that does not help less and less often; not while the chain is
// being changed, not by what was read of the ports long ago, not while somebody makes it, and not for an interface that somebody set down. Nobody is woken
// in vain meanwhile, and it is said when it is there again.
func TestRemakes(t *testing.T) {
	alarm, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer alarm.close()
	n, began := newNode("1", true, false), time.Unix(100, 0)
	var asked []time.Duration
	var said []string
	now, answers := began, true
	w := &Watcher{alarm: alarm, nodes: []*node{n}, beats: began}
	w.config = Config{
		Remake: func(node string) {
			if node != n.spec.Node {
				t.Errorf("%q is to be made again", node)
			}
			if asked = append(asked, now.Sub(began)); answers {
				w.remade(n, nil, now)
			}
		},
		Say: func(_, text string) { said = append(said, text) },
	}
	pass := func(until time.Duration, read bool) {
		t.Helper()
		for ; now.Before(began.Add(until)); now = now.Add(10 * time.Millisecond) {
			if read {
				w.opened = now
			}
			n.due = now.Add(slow)
			before := len(asked)
			if w.remake(n, now); w.opened.IsZero() || len(asked) > before {
				continue // it is looked again at once
			}
			if wait := w.wait(now); wait < 5*time.Millisecond {
				t.Fatalf("after %v it is looked again in %v", now.Sub(began), wait)
			}
		}
	}
	n.fail(now, "no probe comes through")
	n.ways[0].in.down = true
	pass(time.Second, true)
	n.ways[0].in.down, n.ways[0].in.gone, n.lack.next = false, true, began.Add(1100*time.Millisecond)
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
	if len(said) > 0 {
		t.Errorf("it was said that %q", said)
	}
	n.ways[0].in.gone = false
	pass(now.Sub(began)+50*time.Millisecond, true)
	if !slices.Equal(said, []string{"was given what it lacked"}) {
		t.Errorf("it was said that %q", said)
	}
	n.heal(now)
	n.fail(now, "no probe comes through")
	n.ways[0].in.gone, asked, began, answers = true, nil, now, false
	pass(10*time.Second, true)
	if !slices.Equal(asked, []time.Duration{2 * firstPause}) { // it has failed again soon
		t.Errorf("after it was well: asked after %v", asked)
	}
	if w.Remade(n.spec.Node, errors.New("there is no room")); len(said) != 2 || said[1] != "could not be given what it lacks: there is no room" {
		t.Errorf("it was said that %q", said)
	}
}
