package told

import (
	"sync"
	"time"
)

// whose file is read: a process of a namespace.
type whose struct {
	ref  string
	pid  int
	file string
}

// outcome of reading a file.
type outcome struct {
	text []byte
	at   time.Time
	err  error
}

// readings that go on, of each file only one: a file system of the program's own may let one wait for as long as it likes, and whoever
// asks meanwhile waits for the same.
type readings struct {
	mu sync.Mutex
	of map[whose]*reading
}

// reading that goes on until it is over.
type reading struct {
	over chan struct{}
	outcome
}

// read a file, for at most so long; done tells whether it was.
func (r *readings) read(of whose, within time.Duration, how func() outcome) (o outcome, done bool) {
	late := time.NewTimer(within)
	defer late.Stop()
	one := r.begin(of, how)
	select {
	case <-one.over:
		return one.outcome, true
	case <-late.C:
		return outcome{}, false
	}
}

// begin to read a file, or go on where somebody has.
func (r *readings) begin(of whose, how func() outcome) *reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one, goesOn := r.of[of]; goesOn {
		return one
	}
	if r.of == nil {
		r.of = map[whose]*reading{}
	}
	one := &reading{over: make(chan struct{})}
	r.of[of] = one
	go func() {
		one.outcome = how()
		r.mu.Lock()
		delete(r.of, of)
		r.mu.Unlock()
		close(one.over)
	}()
	return one
}
