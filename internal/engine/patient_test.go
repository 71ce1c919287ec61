package engine

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

// impatient is an engine that is asked at once whether it is there, and has so long to say so.
func impatient(t *testing.T, answer, most time.Duration, answers map[string]http.HandlerFunc) Engine {
	t.Helper()
	e := standIn(t, answers).(patientNetworking)
	e.patience = patience{look: time.Millisecond, answer: answer, most: most}
	return e
}

// hangs until the end of the test.
func hangs(t *testing.T) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { <-t.Context().Done() }
}

// TestSilent: a call to an engine that says nothing any more ends, and says which engine it is and what to do.
func TestSilent(t *testing.T) {
	stopped := make(chan struct{})
	e := impatient(t, 20*time.Millisecond, time.Hour, map[string]http.HandlerFunc{
		"/_ping": func(http.ResponseWriter, *http.Request) {
			select {
			case <-stopped:
				<-t.Context().Done()
			default:
			}
		},
		"/containers/x/start": hangs(t),
	})
	close(stopped)
	_, err := e.Start(t.Context(), "x")
	wants(t, err, "start container x", e.Host(), "does not answer any more", "systemctl restart docker")
	if errors.Is(err, ErrNotThere) {
		t.Errorf("a container that could not be asked about is said not to be there: %v", err)
	}
}

// TestSlow: one that answers, and yet does not do what it was asked, is not waited for without an end; who has it fetch an image waits.
func TestSlow(t *testing.T) {
	e := impatient(t, time.Minute, time.Second, map[string]http.HandlerFunc{
		"/containers/x/start": hangs(t),
		"/images/create":      func(http.ResponseWriter, *http.Request) { time.Sleep(3 * time.Second) },
		"/box:1/json":         of(""),
	})
	_, err := e.Start(t.Context(), "x")
	wants(t, err, "start container x", "has not done so within", "systemctl restart docker")
	if _, err := e.Prepare(t.Context(), Wanted{Image: "box:1", Pull: "always"}, nil); err != nil {
		t.Errorf("an image that takes long: %v", err)
	}
}

// TestAtMost: where who asks waits no longer for an engine, the error says so, what was asked, and what to do; where that is over for another reason it
// does not.
func TestAtMost(t *testing.T) {
	e := impatient(t, time.Minute, time.Hour, map[string]http.HandlerFunc{"/containers/x/start": hangs(t)})
	ctx, stop := AtMost(t.Context(), 20*time.Millisecond)
	defer stop()
	_, err := e.Start(ctx, "x")
	wants(t, err, "start container x", "has not done so within 20ms", "systemctl restart docker")
	other, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if _, err := e.Start(other, "x"); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "systemctl") {
		t.Errorf("a time that is over: %v", err)
	}
}

// TestHungUp: one that ends while it is asked for something is told from one that refuses it.
func TestHungUp(t *testing.T) {
	e := impatient(t, time.Minute, time.Hour, map[string]http.HandlerFunc{
		"/containers/x/start": func(w http.ResponseWriter, _ *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.Close()
		},
		"/containers/y/start": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"message": "no space left on device"}`, 500)
		},
	})
	_, err := e.Start(t.Context(), "x")
	wants(t, err, "start container x", "it ended meanwhile", "systemctl start docker")
	if _, err = e.Start(t.Context(), "y"); err == nil || !strings.Contains(err.Error(), "no space left") || strings.Contains(err.Error(), "systemctl") {
		t.Errorf("an engine that refuses: %v", err)
	}
}

// TestNotAskedAgain: an engine that said nothing is not waited for again at once, by whoever opens it.
func TestNotAskedAgain(t *testing.T) {
	var s silences
	s.of = map[string]silence{}
	failed := errors.New("x")
	if err := s.was(Docker, "a"); err != nil {
		t.Errorf("one that was not asked: %v", err)
	}
	s.note(Docker, "a", failed)
	if err := s.was(Docker, "a"); !errors.Is(err, failed) {
		t.Errorf("one that said nothing: %v", err)
	}
	if err := s.was(Docker, "b"); err != nil {
		t.Errorf("one that listens elsewhere: %v", err)
	}
	s.of[Docker+" a"] = silence{time.Now().Add(-answersWithin), failed}
	if err := s.was(Docker, "a"); err != nil {
		t.Errorf("one that said nothing long ago: %v", err)
	}
}

// TestNobodyWaits: who does not want it any more gets its own error, and not one of the engine.
func TestNobodyWaits(t *testing.T) {
	e := impatient(t, time.Minute, time.Hour, map[string]http.HandlerFunc{"/containers/x/start": hangs(t)})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.Start(ctx, "x"); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "systemctl") {
		t.Error(err)
	}
}

func wants(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

// TestAfterwards: what is cleared up after a call is so though that is over, and not without end.
func TestAfterwards(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	clearing, stop := afterwards(ctx, time.Minute)
	defer stop()
	if until, is := clearing.Deadline(); clearing.Err() != nil || !is || time.Until(until) > time.Minute {
		t.Errorf("%v, until %v", clearing.Err(), until)
	}
}
