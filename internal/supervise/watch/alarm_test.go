package watch

import (
	"testing"
	"time"
)

// TestAlarm rings when it was set last, at once where that is asked for, and once for each time.
func TestAlarm(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	rang := make(chan time.Time)
	go func() {
		for {
			a.wait()
			rang <- time.Now()
		}
	}()
	began := time.Now()
	a.set(time.Hour)
	a.set(50 * time.Millisecond)
	if after := (<-rang).Sub(began); after < 50*time.Millisecond {
		t.Errorf("it rings after %v", after)
	}
	a.set(time.Hour)
	select {
	case at := <-rang:
		t.Errorf("it rings again after %v", at.Sub(began))
	case <-time.After(100 * time.Millisecond):
	}
	for _, after := range []time.Duration{0, -time.Second} {
		a.set(after)
		<-rang
	}
}
