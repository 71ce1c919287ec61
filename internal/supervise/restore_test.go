package supervise

import (
	"context"
	"errors"
	"testing"
)

// TestTogether: containers that end while others are brought back are brought back together, by one run more, and who asks is told of
// its own alone. A run goes on though who asked for it does not wait.
func TestTogether(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	broken := errors.New("is broken")
	r := newRestorer(t.Context(), func(context.Context) (map[string]error, error) {
		begun <- true
		<-goOn
		return map[string]error{"b": broken}, nil
	})
	impatient, stop := context.WithCancel(t.Context())
	told := make(chan error)
	go func() { told <- r.restore(impatient, "a") }()
	<-begun
	stop()
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Errorf("who does not wait: %v", err)
	}
	next := r.ask()
	for range 100 {
		if r.ask() != next {
			t.Fatal("two that ended meanwhile are not brought back together")
		}
	}
	goOn <- true
	<-begun
	goOn <- true
	<-next.done
	for name, want := range map[string]error{"a": nil, "b": broken} {
		go func() { told <- r.restore(t.Context(), name) }()
		<-begun
		goOn <- true
		if err := <-told; !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
