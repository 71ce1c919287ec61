package watch

import (
	"testing"
	"time"
)

// TestResting: when every turn has come once, and each function joined, nothing else is looked at, once a beat, until there is
// something that speaks against it.
func TestResting(t *testing.T) {
	for name, c := range map[string]struct {
		names  string
		change func(w *Watcher)
		rests  bool
	}{
		"nothing":                {"a b c", func(*Watcher) {}, true},
		"of what is one-way":     {"a (b) c", func(*Watcher) {}, true},
		"of different addresses": {"a | b c", func(*Watcher) {}, true},
		"one failed":             {"a b c", func(w *Watcher) { w.nodes[1].failed = true }, false},
		"a probe is missing":     {"a b c", func(w *Watcher) { w.nodes[1].ways[1].trust.ask(w.beats) }, false},
		"packets flow":           {"a b c", func(w *Watcher) { w.active = w.beats.Add(9 * slow) }, false},
		"a program ended":        {"a b c", func(w *Watcher) { w.ended["a"] = hasEnded }, false},
		"a program is not ready": {"a b c", func(w *Watcher) {
			w.nodes[1].spec.Programs, w.unready = []string{"b"}, map[string]string{"b": "is ready no more"}
		}, false},
		"another's program is not ready": {"a b c", func(w *Watcher) {
			w.nodes[1].spec.Programs, w.unready = []string{"b"}, map[string]string{"x": "is ready no more"}
		}, true},
		"something could not be read":      {"a b c", func(w *Watcher) { w.unsure = true }, false},
		"it is time to read what there is": {"a b c", func(w *Watcher) { w.opened = w.beats.Add(-readsIdle) }, false},
	} {
		w := newLine(t, c.names)
		w.opened, w.ended, w.programs = w.beats, map[string]string{}, map[string]string{}
		at := func(beat int) time.Time { return w.beats.Add(time.Duration(beat)*slow + time.Millisecond) }
		look := func(beat int) {
			w.probed(at(beat), nil)
			w.wait(at(beat))
		}
		for beat := range turns {
			if w.resting(at(beat)) != nil {
				t.Errorf("%s: it rests at the first turn %d", name, beat)
			}
			look(beat)
			if w.resting(at(beat)) != nil {
				t.Errorf("%s: it rests twice at turn %d", name, beat)
			}
		}
		ways := w.resting(at(turns))
		if len(ways) != len(w.nodes) {
			t.Errorf("%s: %d ways are asked of %d functions", name, len(ways), len(w.nodes))
		}
		c.change(w)
		w.wait(at(turns)) // as whoever changes that has it looked at
		for beat := turns; beat < 2*turns; beat++ {
			if got := w.resting(at(beat)) != nil; got != c.rests {
				t.Errorf("%s, turn %d: rests %v", name, beat, got)
			}
			look(beat)
		}
		if got := w.resting(at(2*turns)) != nil; got != c.rests {
			t.Errorf("%s, in the end: rests %v", name, got)
		}
	}
	for name, change := range map[string]func(n *node){
		"one has never been heard of": func(n *node) { n.ways[3].proven = false }, "one is left for older flows": func(n *node) { n.leaving = true },
	} {
		w := newLine(t, "a b c")
		w.opened = w.beats
		rests := 0
		for beat := range 2 * turns {
			change(w.nodes[1])
			if now := w.beats.Add(time.Duration(beat) * slow); w.resting(now) != nil {
				rests++
			} else {
				w.probed(now, nil)
				w.wait(now)
			}
		}
		if rests > 0 {
			t.Errorf("%s: it rests", name)
		}
	}
}
