package told

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestReadings: a file that cannot be read to its end is read by one alone, and others are read meanwhile.
func TestReadings(t *testing.T) {
	var r readings
	var begun atomic.Int32
	hung := make(chan struct{})
	how := func() outcome {
		begun.Add(1)
		<-hung
		return outcome{text: []byte("late")}
	}
	first := whose{"ns", 1, "/told"}
	for range 3 {
		if _, done := r.read(first, time.Millisecond, how); done {
			t.Error("read, though it hangs")
		}
	}
	if n := begun.Load(); n > 1 { // 0 where it has not begun yet
		t.Errorf("%d read it at a time", n)
	}
	at := func() outcome { return outcome{text: []byte("at once")} }
	if o, done := r.read(whose{"ns", 2, "/told"}, time.Minute, at); !done || string(o.text) != "at once" {
		t.Errorf("another's: %q, %v", o.text, done)
	}
	close(hung)
	if o, done := r.read(first, time.Minute, how); !done || string(o.text) != "late" {
		t.Errorf("when it hangs no more: %q, %v", o.text, done)
	}
	if o, done := r.read(first, time.Minute, at); !done || string(o.text) != "late" && string(o.text) != "at once" {
		t.Errorf("afterwards: %q, %v", o.text, done)
	}
	if r.mu.Lock(); len(r.of) > 0 {
		t.Errorf("%d go on", len(r.of))
	}
}
